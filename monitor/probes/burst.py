"""burst: distinct prompts at the same moment, each with its own nonce, task and answer space."""

from __future__ import annotations

import asyncio
from random import Random

from pydantic import Field

from monitor.model import Expectation, Message, Part, Request
from monitor.probes.base import (
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TenantView,
    TrialPlan,
    estimate_tokens,
    stratum,
)
from monitor.tasks import ask_to_repeat, lookup

OUTPUT_TOKENS = 72
ROWS = 3
_MEMBER_CHARACTERS = 360


class Params(ProbeParams):
    """How many bursts a pass sends, and how many members each has."""

    bursts: int = Field(default=1, ge=1, le=64)
    members: int = Field(default=2, ge=2, le=32)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a burst; members take the tenants in turn."""
    tenants = "pair" if len(target.tenants) > 1 else "one"
    output = max(OUTPUT_TOKENS, target.min_output_tokens)
    tokens = params.members * estimate_tokens(_MEMBER_CHARACTERS, output)
    start = rng.randrange(len(target.tenants))
    return [
        TrialPlan(
            probe=PROBE.name,
            shape=PROBE.shape,
            stratum=stratum(concurrency=params.members, tenants=tenants),
            purpose="prompts sent together do not answer each other",
            price=Price(refused_tokens=tokens, answered_tokens=tokens),
            arguments={"members": params.members, "start": start + number},
        )
        for number in range(params.bursts)
    ]


async def run(plan: TrialPlan, session: Session) -> None:
    """Send all members at once."""
    tenants = session.target.tenants
    start, members = plan.arguments["start"], plan.arguments["members"]
    await asyncio.gather(
        *(_member(tenants[(start + number) % len(tenants)], session) for number in range(members))
    )


async def _member(tenant: TenantView, session: Session) -> None:
    draft = session.open(Part.MEMBER, tenant)
    nonce = draft.mint()
    codes = tuple(draft.mint(planted=True) for _ in range(ROWS))
    task = lookup(session.rng, codes)
    request = Request(
        messages=(Message(role="user", content=ask_to_repeat(nonce, task.question)),),
        max_output_tokens=max(OUTPUT_TOKENS, session.target.min_output_tokens),
    )
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    await draft.ask(request, expectation)


PROBE = Probe(
    name="burst",
    shape="burst",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"bursts": 1}, "standard": {"bursts": 4}, "deep": {"bursts": 12}},
)
