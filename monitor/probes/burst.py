"""burst: distinct prompts at the same moment, each with its own nonce, task and answer space."""

from __future__ import annotations

import asyncio
from random import Random

from pydantic import Field

from monitor.model import Part
from monitor.probes.asking import TASK_CHARACTERS, ask_with_code, coded_lookup, output_tokens
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


class Params(ProbeParams):
    """How many bursts a pass sends, and how many members each has."""

    bursts: int = Field(default=1, ge=1, le=64)
    members: int = Field(default=2, ge=2, le=32)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a burst; members take the tenants in turn."""
    tenants = "pair" if len(target.tenants) > 1 else "one"
    tokens = params.members * estimate_tokens(TASK_CHARACTERS, output_tokens(target))
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
    await ask_with_code(draft, session.target, coded_lookup(draft, session.rng))


PROBE = Probe(
    name="burst",
    shape="burst",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"bursts": 1}, "standard": {"bursts": 4}, "deep": {"bursts": 12}},
)
