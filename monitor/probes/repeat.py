"""repeat: the very same prompt again, at once or after others; the cold answer is the reference.

Three prompts are asked twice each, A A B B C C (*at once*) or A B C A B C (*later*), and then once
more with a salt that keeps every cache out: the control that tells "wrong when warm" from "the
model cannot". Three different prompts, because errors on one and the same prompt are not
independent: a model at a near tie may well give one answer cold and another warm, every time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Expectation, Part, Request
from monitor.probes.asking import (
    SAMPLE_CODE,
    a_lookup,
    code_and_task,
    expected_tokens,
    planted_by,
    salted,
)
from monitor.probes.base import (
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

PROMPTS = 3
# What stands before the question, in sentences of about ten tokens: pages of 16 to 128 tokens
# stay partly empty, are several, are many.
SENTENCES = {"short": 0, "pages": 30, "long": 120}
_AROUND = "Logbook {number:09d}."

Length = Literal["short", "pages", "long"]
Order = Literal["at_once", "later"]


class Params(ProbeParams):
    """Which lengths and orders a pass repeats."""

    rounds: int = Field(default=1, ge=1, le=32)
    lengths: tuple[Length, ...] = Field(default=("pages",), min_length=1, max_length=3)
    orders: tuple[Order, ...] = Field(default=("later",), min_length=1, max_length=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One trial: how long its prompts are, in which order they return, and who asks."""

    length: str
    order: str
    tenant: TenantView


@dataclass(slots=True, kw_only=True)
class _Prompt:
    """A prompt on its way through the trial, and the exchange that was asked it first."""

    request: Request
    expectation: Expectation
    cold: int = -1


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial for each length and order, tenants taken in turn.

    A prompt is never sent by two tenants: its markers are one tenant's, and found in an answer to
    a third they must say whose they are.
    """
    start = rng.randrange(len(target.tenants))
    settings = [
        Setting(length=length, order=order, tenant=target.tenants[number % len(target.tenants)])
        for number, (length, order) in enumerate(
            list(product(params.lengths, params.orders)) * params.rounds, start
        )
    ]
    return [_plan_one(target, setting) for setting in settings]


def _label(setting: Setting) -> str:
    cache = "warm" if setting.order == "at_once" else "warm-later"
    return stratum(length=setting.length, cache=cache)


def _plan_one(target: TargetView, setting: Setting) -> TrialPlan:
    task = a_lookup(Random(0), lambda: SAMPLE_CODE)
    system = _before(Random(0), setting.length)
    request, _ = code_and_task(SAMPLE_CODE, target, task, system=system)
    tokens = 3 * PROMPTS * (expected_tokens(request.text()) + 2)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=_label(setting),
        purpose="the same prompt is answered the same when the cache has seen it",
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        arguments={"setting": setting},
    )


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask three prompts twice each in the order that is set, then each with a salt."""
    setting: Setting = plan.arguments["setting"]
    if setting.order == "at_once":
        prompts = []
        for _ in range(PROMPTS):
            prompt = await _first(setting, session)
            await _again(prompt, setting.tenant, session)
            prompts.append(prompt)
    else:
        prompts = [await _first(setting, session) for _ in range(PROMPTS)]
        for prompt in prompts:
            await _again(prompt, setting.tenant, session)
    for prompt in prompts:
        await _salted(prompt, setting.tenant, session)


async def _first(setting: Setting, session: Session) -> _Prompt:
    draft = session.open(Part.MEMBER, setting.tenant)
    task = a_lookup(session.rng, planted_by(draft))
    system = _before(session.rng, setting.length)
    request, expectation = code_and_task(draft.mint(), session.target, task, system=system)
    exchange = await draft.ask(request, expectation)
    return _Prompt(request=request, expectation=expectation, cold=exchange.index)


async def _again(prompt: _Prompt, tenant: TenantView, session: Session) -> None:
    """Send the very same text: its markers stand in the request, so they are nobody else's."""
    expectation = replace(prompt.expectation, reference=prompt.cold, comparison="warm")
    await session.open(Part.MEMBER, tenant).ask(prompt.request, expectation)


async def _salted(prompt: _Prompt, tenant: TenantView, session: Session) -> None:
    expectation = replace(prompt.expectation, reference=prompt.cold, comparison="salted")
    request = salted(prompt.request, session.target, session.rng)
    await session.open(Part.CONTROL, tenant).ask(request, expectation)


def _before(rng: Random, length: str) -> str:
    """Return what stands before the question.

    Its first line is like no other's, so that what is asked first is cold from its first page on.
    """
    first = _AROUND.format(number=rng.randrange(10**9))
    return " ".join([first, *filler(SENTENCES[length])])


PROBE = Probe(
    name="repeat",
    shape="repeat",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"lengths": ("short",), "orders": ("at_once",)},
        "standard": {
            "lengths": ("short", "pages"),
            "orders": ("at_once", "later"),
        },
        "deep": {
            "rounds": 2,
            "lengths": ("short", "pages", "long"),
            "orders": ("at_once", "later"),
        },
    },
)
