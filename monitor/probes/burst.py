"""burst: distinct prompts at the same moment, each with its own nonce, kind of task and answer.

A few of the members are first asked one after the other: the sequential run. It has fresh prompts
of the same kinds and sizes, for the very same prompts would be in the cache by the time of the
burst, and the burst would no longer be what users send.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from random import Random

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Exchange, Expectation, Part, Request
from monitor.probes.asking import (
    SAMPLE_CODE,
    TASK_KINDS,
    code_and_task,
    expected_tokens,
    planted_by,
)
from monitor.probes.base import (
    Draft,
    Feature,
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
from monitor.probes.calling import call_request, draw_call
from monitor.probes.planting import RECORD_TOKENS, plant_record

# Members of this many and more may fill a production server's batch.
HARSH_SIZE = 16
# The longer half of the members gets this much to read beside its task: three times the rest.
LONG_SENTENCES = 24
CODE_EVERY = 6
# So many members have a counterpart in the sequential run: one of each kind, and one of each size.
MOST_CONTROLS = 4
# A call and two tools in the prompt, in tokens (measured: 435 and less).
CALL_TOKENS = 440


class Params(ProbeParams):
    """How many members are sent at once, for each size in turn, and how many rounds of that.

    ``records``: the longer members also read a made-up customer's record.
    """

    bursts: int = Field(default=1, ge=1, le=64)
    sizes: tuple[int, ...] = Field(default=(2,), min_length=1, max_length=16)
    records: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of a burst. ``kind`` counts through the kinds of task; the one after the last calls."""

    tenant: TenantView
    kind: int
    long: bool
    stream: bool
    has_record: bool

    @property
    def calls(self) -> bool:
        """True if the member is to call a tool."""
        return self.kind == len(TASK_KINDS)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a burst; members take the tenants in turn."""
    rounds = range(params.bursts)
    return [
        _plan_one(target, size, rng, records=params.records)
        for _ in rounds
        for size in params.sizes
    ]


def _plan_one(
    target: TargetView, size: int, rng: Random, *, records: bool
) -> TrialPlan | Impossible:
    tenants = "pair" if len(target.tenants) > 1 else "one"
    streams = Feature.STREAM not in target.lacks
    label = stratum(
        length="mixed",
        concurrency=size,
        transport="both" if streams else "plain",
        tenants=tenants,
    )
    if not 2 <= size <= 64:  # noqa: PLR2004 - a burst is two or more; more than 64 is a load test
        reason = f"a burst has 2 to 64 members, not {size}"
        return Impossible(probe=PROBE.name, stratum=label, reason=reason)
    members = _members(target, size, rng, records=records)
    tokens = sum(_price(member, target) for member in [*members, *members[: _controls(size)]])
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=label,
        purpose="prompts sent together are answered as they are one after the other",
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        gentle=size < HARSH_SIZE,
        arguments={"members": members},
    )


def _members(target: TargetView, size: int, rng: Random, *, records: bool) -> list[Member]:
    kinds = len(TASK_KINDS) + (Feature.TOOLS not in target.lacks)
    tenant, kind = rng.randrange(len(target.tenants)), rng.randrange(kinds)
    # Short, long, long, short: so that no tenant of two has all the long ones.
    long = [(number + number // 2) % 2 == 1 for number in range(size)]
    return [
        Member(
            tenant=target.tenants[(tenant + number) % len(target.tenants)],
            kind=(kind + number) % kinds,
            long=long[number],
            stream=number % 3 == 1,
            has_record=long[number] and records,
        )
        for number in range(size)
    ]


def _controls(size: int) -> int:
    return min(size, MOST_CONTROLS)


def _price(member: Member, target: TargetView) -> int:
    system = _reading(SAMPLE_CODE) if member.long else ""
    record = RECORD_TOKENS if member.has_record else 0
    if member.calls:
        return CALL_TOKENS + expected_tokens(system, 0) + record
    task = TASK_KINDS[member.kind](Random(0), lambda: SAMPLE_CODE)
    request, _ = code_and_task(SAMPLE_CODE, target, task, system=system)
    return expected_tokens(request.text()) + record


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask a few one after the other, then send all members at once."""
    members: list[Member] = plan.arguments["members"]
    alone = [
        (await _ask(member, session, Part.CONTROL)).index
        for member in members[: _controls(len(members))]
    ]
    references = [*alone, *([None] * (len(members) - len(alone)))]
    drafts = [session.open(Part.MEMBER, member.tenant) for member in members]
    # Everything is written before anything is sent, so that the members really meet.
    asked = [_write(member, draft, session) for member, draft in zip(members, drafts, strict=True)]
    await asyncio.gather(
        *(
            draft.ask(request, _compared(expectation, reference))
            for draft, (request, expectation), reference in zip(
                drafts, asked, references, strict=True
            )
        )
    )


async def _ask(member: Member, session: Session, part: Part) -> Exchange:
    draft = session.open(part, member.tenant)
    return await draft.ask(*_write(member, draft, session))


def _write(member: Member, draft: Draft, session: Session) -> tuple[Request, Expectation]:
    rng, target = session.rng, session.target
    system = ""
    if member.long:
        record = str(plant_record(draft)) if member.has_record else ""
        system = _reading(draft.mint(planted=True), record)
    if member.calls:
        call = draw_call(draft, rng)
        request = call_request(call, target, system=system, stream=member.stream)
        return request, call.expectation
    nonce, task = draft.mint(), TASK_KINDS[member.kind](rng, planted_by(draft))
    return code_and_task(nonce, target, task, system=system, stream=member.stream)


def _compared(expectation: Expectation, reference: int | None) -> Expectation:
    if reference is None:
        return expectation
    return replace(expectation, reference=reference, comparison="concurrent")


def _reading(code: str, record: str = "") -> str:
    """Return something to read beside the task, with a code in its first line and all along.

    Whatever part of it shows up elsewhere says whose it is, and no cache knows its beginning. In
    its middle stands a customer's record, if one is given.
    """
    lines = filler(LONG_SENTENCES)
    for place in range(LONG_SENTENCES - CODE_EVERY, 0, -CODE_EVERY):
        lines.insert(place, f"Logbook {code} goes on.")
    if record:
        lines.insert(len(lines) // 2, record)
    return " ".join([f"Logbook {code} begins.", *lines])


PROBE = Probe(
    name="burst",
    shape="burst",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"records": False},
        # Not in order: faults of batching need not grow with the batch.
        "standard": {"sizes": (2, 16, 3, 32, 8, 2)},
        "deep": {"sizes": (2, 16, 3, 32, 8), "bursts": 3},
    },
)
