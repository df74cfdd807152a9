"""canary: a fresh nonce to repeat and a small task of its own, one exchange at a time."""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.model import Expectation, Message, Part, Request
from monitor.probes.base import (
    Draft,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TrialPlan,
    estimate_tokens,
    stratum,
    transport_of,
)
from monitor.tasks import Task, addition, ask_to_repeat, lookup

ROWS = 3
OUTPUT_TOKENS = 72
_TYPICAL_CHARACTERS = 320


class Params(ProbeParams):
    """How many canaries a pass sends; every other one streams."""

    count: int = Field(default=4, ge=1, le=64)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a canary, tenants and transports taken in turn."""
    plans: list[TrialPlan | Impossible] = []
    for number in range(params.count):
        tenant = target.tenants[number % len(target.tenants)]
        stream = number % 2 == 1
        tokens = estimate_tokens(_TYPICAL_CHARACTERS, _output_tokens(target))
        plans.append(
            TrialPlan(
                probe=PROBE.name,
                shape=PROBE.shape,
                stratum=stratum(transport=transport_of(stream)),
                purpose="a fresh code comes back, and its own task is answered",
                price=Price(refused_tokens=tokens, answered_tokens=tokens),
                arguments={"tenant": tenant, "stream": stream, "task": number // 2 % 2},
            )
        )
    return plans


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask one tenant to repeat a nonce and to do one task."""
    tenant, stream = plan.arguments["tenant"], plan.arguments["stream"]
    draft = session.open(Part.CONTROL, tenant)
    nonce = draft.mint()
    task = _task(plan, session, draft)
    request = Request(
        messages=(Message(role="user", content=ask_to_repeat(nonce, task.question)),),
        max_output_tokens=_output_tokens(session.target),
        stream=stream,
    )
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    await draft.ask(request, expectation)


def _task(plan: TrialPlan, session: Session, draft: Draft) -> Task:
    if plan.arguments["task"]:
        return addition(session.rng)
    codes = tuple(draft.mint(planted=True) for _ in range(ROWS))
    return lookup(session.rng, codes)


def _output_tokens(target: TargetView) -> int:
    return max(OUTPUT_TOKENS, target.min_output_tokens)


PROBE = Probe(
    name="canary",
    shape="canary",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"count": 4}, "standard": {"count": 8}, "deep": {"count": 24}},
)
