"""prefix: requests with one long beginning and different endings, one by one and together.

The shared beginning ends at the edge of a cache block, one token before it, or one after it, where
caches go wrong. Where the target counts tokens it is cut exactly, less what the chat template puts
in front, which nobody counts for us; elsewhere it is cut by characters and may be a fifth shorter.

The first request plants markers and a made-up customer's record in an ending longer than the
others', so that a tail that is kept too long shows as foreign text. The last ending is also asked,
before all others, after a beginning of its own: what is right there and wrong after the shared
beginning is the cache's doing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import DENSE_CHARACTERS_PER_TOKEN, cut_to
from monitor.model import Exchange, Expectation, Part, Request
from monitor.probes.asking import (
    CHARACTERS_PER_TOKEN,
    ROWS,
    SAMPLE_CODE,
    a_lookup,
    code_and_task,
    expected_tokens,
    planted_by,
    salted,
)
from monitor.probes.base import (
    Draft,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TenantView,
    TrialPlan,
    stratum,
)
from monitor.probes.planting import RECORD_TOKENS, plant_record
from monitor.tasks import Task, lookup

FOLLOWERS = 2
OFFSETS = (-1, 0, 1)
SALT_TOKENS = 8
# A prefill of more than this may hold up everybody else on a server.
HARSH_TOKENS = 8192

Block = Literal[16, 32, 64, 128]
Mode = Literal["one_by_one", "together", "salted"]


class Params(ProbeParams):
    """How many groups a pass sends, for which block sizes, how, and how long a beginning is.

    ``records``: the first ending of a group also holds a made-up customer's record.
    """

    pairs: int = Field(default=1, ge=1, le=64)
    blocks: tuple[Block, ...] = Field(default=(64,), min_length=1, max_length=4)
    modes: tuple[Mode, ...] = Field(default=("one_by_one",), min_length=1, max_length=3)
    tokens: int = Field(default=192, ge=128, le=65_536)
    records: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One trial: who asks first and who follows, after how long a beginning, and how."""

    donor: TenantView
    follower: TenantView
    tokens: int
    mode: str
    has_record: bool


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial for each block size and mode, within one tenant and across two in turn."""
    plans: list[TrialPlan | Impossible] = []
    tenants = target.tenants
    start = rng.randrange(len(tenants))
    for block, mode in list(product(params.blocks, params.modes)) * params.pairs:
        number = len(plans)
        donor = tenants[(start + number // 2) % len(tenants)]
        # Across two tenants first: only there a kept tail is a leak. Not in step with the modes, so
        # that each is asked both ways.
        across = (number + number // len(params.modes) + 1) % 2
        follower = tenants[(start + number // 2 + across) % len(tenants)]
        tokens = _odd_multiple(block, params.tokens) + rng.choice(OFFSETS)
        setting = Setting(
            donor=donor, follower=follower, tokens=tokens, mode=mode, has_record=params.records
        )
        plans.append(_plan_one(target, block, setting))
    return plans


def _odd_multiple(block: int, tokens: int) -> int:
    """Return about ``tokens`` as a multiple of ``block`` but of no larger block."""
    times = max(1, tokens // block)
    return block * (times if times % 2 else times + 1)


def _plan_one(target: TargetView, block: int, setting: Setting) -> TrialPlan:
    tokens = _price(target, setting)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=stratum(
            length=f"block{block}",
            concurrency=FOLLOWERS if setting.mode == "together" else 1,
            cache="salted" if setting.mode == "salted" else "warm",
            tenants="one" if setting.donor is setting.follower else "pair",
        ),
        purpose="a shared beginning does not bring another request's ending with it",
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        gentle=setting.tokens <= HARSH_TOKENS,
        arguments={"setting": setting},
    )


def _price(target: TargetView, setting: Setting) -> int:
    """Return what all requests take: the beginning as often as it is sent, and each ending.

    A beginning that is cut by characters may come out longer than it would be if counted.
    """
    tasks = [_donors_task(Random(0), lambda: SAMPLE_CODE)]
    tasks += [a_lookup(Random(0), lambda: SAMPLE_CODE)] * (FOLLOWERS + 1)
    endings = [code_and_task(SAMPLE_CODE, target, task)[0].text() for task in tasks]
    beginning = round(setting.tokens * DENSE_CHARACTERS_PER_TOKEN / CHARACTERS_PER_TOKEN)
    salts = SALT_TOKENS * len(tasks) if setting.mode == "salted" else 0
    record = RECORD_TOKENS if setting.has_record else 0
    return sum(beginning + expected_tokens(ending) for ending in endings) + salts + record


def _donors_task(rng: Random, mint: Callable[[], str]) -> Task:
    """Return a lookup in a list twice as long as the others'."""
    return lookup(rng, tuple(mint() for _ in range(2 * ROWS)))


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask the control, then the donor, then those who follow with the same beginning."""
    setting: Setting = plan.arguments["setting"]
    salts = setting.mode == "salted"
    beginning = await _beginning(setting, session)
    control, ending = await _control(setting, session)
    donor = session.open(Part.DONOR, setting.donor)
    task = _donors_task(session.rng, planted_by(donor))
    if setting.has_record:
        task = replace(task, question=f"{plant_record(donor)}\n{task.question}")
    await _send(donor, _after(beginning, task, donor.mint(), session), session, salts=salts)
    followers = [session.open(Part.MEMBER, setting.follower) for _ in range(FOLLOWERS)]
    asked = [
        _after(beginning, a_lookup(session.rng, planted_by(draft)), draft.mint(), session)
        for draft in followers[:-1]
    ]
    request, expectation = _after(beginning, ending.task, ending.nonce, session)
    compared = replace(expectation, reference=control.index, comparison="warm")
    asked.append((request, compared))
    sending: list[Awaitable[Exchange]] = [
        _send(draft, each, session, salts=salts)
        for draft, each in zip(followers, asked, strict=True)
    ]
    if setting.mode == "together":
        await asyncio.gather(*sending)
    else:
        for each in sending:
            await each


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """A task and a code that are asked twice, after different beginnings."""

    task: Task
    nonce: str


async def _control(setting: Setting, session: Session) -> tuple[Exchange, _Ending]:
    """Ask the last ending after a beginning of its own, which no cache knows."""
    draft = session.open(Part.CONTROL, setting.follower)
    task = a_lookup(session.rng, planted_by(draft))
    ending = _Ending(task=task, nonce=draft.mint())
    own = await _beginning(setting, session)
    request, expectation = _after(own, task, ending.nonce, session)
    return await draft.ask(request, expectation), ending


async def _beginning(setting: Setting, session: Session) -> str:
    """Return a beginning of the wanted length; its first line keeps it cold at first."""

    async def count(text: str) -> int | None:
        return await session.count_tokens(text, setting.donor)

    opening = f"Logbook {session.rng.randrange(10**9):09d}."
    text, _ = await cut_to(setting.tokens, opening, count)
    return text


def _after(beginning: str, task: Task, nonce: str, session: Session) -> tuple[Request, Expectation]:
    return code_and_task(nonce, session.target, task, system=beginning)


async def _send(
    draft: Draft, asked: tuple[Request, Expectation], session: Session, *, salts: bool
) -> Exchange:
    request, expectation = asked
    if salts:
        request = salted(request, session.target, session.rng)
    return await draft.ask(request, expectation)


PROBE = Probe(
    name="prefix",
    shape="prefix",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"records": False},
        "standard": {"blocks": (16, 32, 64, 128), "modes": ("one_by_one", "together")},
        "deep": {
            "pairs": 3,
            "blocks": (16, 32, 64, 128),
            "modes": ("one_by_one", "together", "salted"),
        },
    },
)
