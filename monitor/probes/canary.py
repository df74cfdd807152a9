"""canary: a fresh nonce to repeat and a small task of its own, one exchange at a time."""

from __future__ import annotations

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
    TrialPlan,
    estimate_tokens,
    stratum,
    tenant_in_turn,
    transport_of,
)
from monitor.tasks import addition


class Params(ProbeParams):
    """How many canaries a pass sends; every other one streams."""

    count: int = Field(default=4, ge=1, le=64)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a canary, tenants and transports taken in turn."""
    plans: list[TrialPlan | Impossible] = []
    for number in range(params.count):
        tenant = tenant_in_turn(target.tenants, number)
        stream = number % 2 == 1
        tokens = estimate_tokens(TASK_CHARACTERS, output_tokens(target))
        plans.append(
            TrialPlan(
                probe=PROBE.name,
                shape=PROBE.shape,
                stratum=stratum(transport=transport_of(stream=stream)),
                purpose="a fresh code comes back, and its own task is answered",
                price=Price(refused_tokens=tokens, answered_tokens=tokens),
                arguments={"tenant": tenant, "stream": stream, "task": number // 2 % 2},
            )
        )
    return plans


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask one tenant to repeat a nonce and to do one task."""
    draft = session.open(Part.CONTROL, plan.arguments["tenant"])
    add = plan.arguments["task"] == 1
    task = addition(session.rng) if add else coded_lookup(draft, session.rng)
    await ask_with_code(draft, session.target, task, stream=plan.arguments["stream"])


PROBE = Probe(
    name="canary",
    shape="canary",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"count": 4}, "standard": {"count": 8}, "deep": {"count": 24}},
)
