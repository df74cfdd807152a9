"""tenant: donors plant markers in ordinary requests, victims never mention them; interleaved."""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.longtext import SENTENCE_CHARACTERS, filler
from monitor.model import Part
from monitor.probes.asking import TASK_CHARACTERS, ask_with_code, output_tokens
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
from monitor.tasks import addition

_STRATUM = stratum(length="pages", tenants="pair")


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
    planted = params.donor_sentences * SENTENCE_CHARACTERS * 3 // 2
    characters = params.rounds * (planted + 2 * TASK_CHARACTERS)
    tokens = estimate_tokens(characters, 2 * params.rounds * output_tokens(target))
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
    planted = draft.mint(planted=True)
    lines = filler(sentences)
    for place in range(len(lines), 0, -4):
        lines.insert(place, f"The access phrase of this account is {planted}.")
    task = addition(session.rng)
    await ask_with_code(draft, session.target, task, system=" ".join(lines), stream=stream)


async def _answer(tenant: TenantView, session: Session, *, stream: bool) -> None:
    draft = session.open(Part.VICTIM, tenant)
    await ask_with_code(draft, session.target, addition(session.rng), stream=stream)


PROBE = Probe(
    name="tenant",
    shape="tenant",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"rounds": 1}, "standard": {"rounds": 4}, "deep": {"rounds": 12}},
)
