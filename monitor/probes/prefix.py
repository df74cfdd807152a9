"""prefix: two requests with one long beginning and different endings, one after the other."""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.longtext import filler
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
_SENTENCE_CHARACTERS = 44


class Params(ProbeParams):
    """How many pairs a pass sends, and how long the shared beginning is (in sentences)."""

    pairs: int = Field(default=1, ge=1, le=64)
    sentences: int = Field(default=24, ge=4, le=4000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a pair of requests; two tenants share the beginning if there are two."""
    tenants = "pair" if len(target.tenants) > 1 else "one"
    output = max(OUTPUT_TOKENS, target.min_output_tokens)
    tokens = 2 * estimate_tokens(params.sentences * _SENTENCE_CHARACTERS + 400, output)
    start = rng.randrange(len(target.tenants))
    return [
        TrialPlan(
            probe=PROBE.name,
            shape=PROBE.shape,
            stratum=stratum(length="pages", cache="warm", tenants=tenants),
            purpose="a shared beginning does not bring another request's ending with it",
            price=Price(refused_tokens=tokens, answered_tokens=tokens),
            arguments={"sentences": params.sentences, "start": start + number},
        )
        for number in range(params.pairs)
    ]


async def run(plan: TrialPlan, session: Session) -> None:
    """Send the pair, strictly one after the other."""
    tenants = session.target.tenants
    # A salt of the trial's own keeps the beginning cold for the first request.
    salt = f"Logbook {session.rng.randrange(10**9):09d}."
    beginning = " ".join([salt, *filler(plan.arguments["sentences"])])
    for number in range(2):
        tenant = tenants[(plan.arguments["start"] + number) % len(tenants)]
        await _ask(tenant, beginning, session)


async def _ask(tenant: TenantView, beginning: str, session: Session) -> None:
    draft = session.open(Part.MEMBER, tenant)
    nonce = draft.mint()
    codes = tuple(draft.mint(planted=True) for _ in range(ROWS))
    task = lookup(session.rng, codes)
    request = Request(
        messages=(
            Message(role="system", content=beginning),
            Message(role="user", content=ask_to_repeat(nonce, task.question)),
        ),
        max_output_tokens=max(OUTPUT_TOKENS, session.target.min_output_tokens),
    )
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    await draft.ask(request, expectation)


PROBE = Probe(
    name="prefix",
    shape="prefix",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"pairs": 1}, "standard": {"pairs": 3}, "deep": {"pairs": 12}},
)
