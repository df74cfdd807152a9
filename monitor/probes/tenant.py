"""tenant: donors plant markers in ordinary requests, victims never mention them; interleaved."""

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
from monitor.tasks import addition, ask_to_repeat

OUTPUT_TOKENS = 64
_STRATUM = stratum(length="pages", tenants="pair")
_SENTENCE_CHARACTERS = 44


class Params(ProbeParams):
    """How many donor-victim rounds, and how long a donor's text is (in sentences)."""

    rounds: int = Field(default=2, ge=1, le=32)
    donor_sentences: int = Field(default=16, ge=4, le=2000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a donor-victim pair; impossible with a single tenant."""
    pairs = [(d, v) for d in target.donors() for v in target.victims() if d.name != v.name]
    if not pairs:
        return [
            Impossible(
                probe=PROBE.name,
                stratum=_STRATUM,
                reason="needs two tenants: a leak between tenants cannot be proven with one",
            )
        ]
    donor, victim = rng.choice(pairs)
    characters = params.rounds * (params.donor_sentences * _SENTENCE_CHARACTERS + 500)
    tokens = estimate_tokens(characters, 2 * params.rounds * OUTPUT_TOKENS)
    return [
        TrialPlan(
            probe=PROBE.name,
            shape=PROBE.shape,
            stratum=_STRATUM,
            purpose="no tenant's answer carries what another tenant planted",
            price=Price(refused_tokens=tokens, answered_tokens=tokens),
            arguments={"donor": donor, "victim": victim, "params": params},
        )
    ]


async def run(plan: TrialPlan, session: Session) -> None:
    """Let donor and victim take turns; every answer is searched for the other's markers."""
    params = plan.arguments["params"]
    for number in range(params.rounds):
        stream = number % 2 == 1
        await _donate(plan.arguments["donor"], session, params.donor_sentences, stream=stream)
        await _answer(plan.arguments["victim"], session, stream=stream)


async def _donate(tenant: TenantView, session: Session, sentences: int, *, stream: bool) -> None:
    draft = session.open(Part.DONOR, tenant)
    nonce, planted = draft.mint(), draft.mint(planted=True)
    lines = filler(sentences)
    for place in range(len(lines), 0, -4):
        lines.insert(place, f"The access phrase of this account is {planted}.")
    task = addition(session.rng)
    request = Request(
        messages=(
            Message(role="system", content=" ".join(lines)),
            Message(role="user", content=ask_to_repeat(nonce, task.question)),
        ),
        max_output_tokens=max(OUTPUT_TOKENS, session.target.min_output_tokens),
        stream=stream,
    )
    expectation = Expectation(nonce=nonce, answers=task.answers, answer_task=task.kind)
    await draft.ask(request, expectation)


async def _answer(tenant: TenantView, session: Session, *, stream: bool) -> None:
    draft = session.open(Part.VICTIM, tenant)
    nonce = draft.mint()
    task = addition(session.rng)
    request = Request(
        messages=(Message(role="user", content=ask_to_repeat(nonce, task.question)),),
        max_output_tokens=max(OUTPUT_TOKENS, session.target.min_output_tokens),
        stream=stream,
    )
    expectation = Expectation(nonce=nonce, answers=task.answers, answer_task=task.kind)
    await draft.ask(request, expectation)


PROBE = Probe(
    name="tenant",
    shape="tenant",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"rounds": 1}, "standard": {"rounds": 4}, "deep": {"rounds": 12}},
)
