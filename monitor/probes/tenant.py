"""tenant: donors plant markers in ordinary requests, victims never mention them; interleaved.

Donors plant in their system prompt and in what the user says, in turn, and at one length and twice
that. A victim has a system prompt of its own that names its desk; asked for that name, it shows
whose system prompt it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Exchange, Fact, Part
from monitor.probes.asking import SAMPLE_CODE, code_and_task, expected_tokens
from monitor.probes.base import (
    Draft,
    Feature,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TrialPlan,
    stratum,
)
from monitor.tasks import Task, addition, own_name

_PLANTED = "The name of this desk is {code}."
# So often a donor's text says it: once in so many sentences.
_EVERY = 4


class Params(ProbeParams):
    """How many donor-victim rounds, and how long a donor's text is (in sentences)."""

    rounds: int = Field(default=2, ge=1, le=32)
    donor_sentences: int = Field(default=16, ge=4, le=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """How one donor and one victim are asked."""

    sentences: int
    planted_by_user: bool
    names_itself: bool
    stream: bool


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a donor-victim pair; impossible with a single tenant."""
    pairs = [(d, v) for d in target.donors() for v in target.victims() if d.name != v.name]
    rounds = [_round(number, params, target) for number in range(params.rounds)]
    transport = "both" if any(each.stream for each in rounds) else "plain"
    label = stratum(length="pages", transport=transport, tenants="pair")
    if not pairs:
        return [
            Impossible(
                probe=PROBE.name,
                stratum=label,
                reason="needs two tenants: a leak between tenants cannot be proven with one",
            )
        ]
    donor, victim = rng.choice(pairs)
    tokens = sum(_price(each, target) for each in rounds)
    return [
        TrialPlan(
            probe=PROBE.name,
            shape=PROBE.shape,
            stratum=label,
            purpose="no tenant's answer carries what another tenant planted",
            price=Price(refused_tokens=tokens, answered_tokens=tokens),
            arguments={"donor": donor, "victim": victim, "rounds": rounds},
        )
    ]


def _round(number: int, params: Params, target: TargetView) -> Round:
    return Round(
        # Each of the four pairs of length and place comes within four rounds.
        sentences=params.donor_sentences * (1 + number % 2),
        planted_by_user=number % 4 in (1, 2),
        names_itself=number % 2 == 0 and Feature.SYSTEM_ROLE not in target.lacks,
        stream=number % 2 == 1 and Feature.STREAM not in target.lacks,
    )


def _price(each: Round, target: TargetView) -> int:
    return sum(
        expected_tokens(
            code_and_task(SAMPLE_CODE, target, task, system=system)[0].text(), answer_tokens
        )
        for task, system, answer_tokens in (
            (addition(Random(0)), _donors_text(SAMPLE_CODE, each.sentences), 22),
            (_victims_task(each, SAMPLE_CODE), _victims_text(each, SAMPLE_CODE), 34),
        )
    )


async def run(plan: TrialPlan, session: Session) -> None:
    """Let donor and victim take turns; every answer is searched for the other's markers."""
    for each in plan.arguments["rounds"]:
        await _donate(session.open(Part.DONOR, plan.arguments["donor"]), session, each)
        await _answer(session.open(Part.VICTIM, plan.arguments["victim"]), session, each)


async def _donate(draft: Draft, session: Session, each: Round) -> Exchange:
    text = _donors_text(draft.mint(planted=True), each.sentences)
    task = addition(session.rng)
    system = text
    if each.planted_by_user:
        task, system = replace(task, question=f"{text}\n{task.question}"), ""
    return await draft.ask(
        *code_and_task(draft.mint(), session.target, task, system=system, stream=each.stream)
    )


async def _answer(draft: Draft, session: Session, each: Round) -> Exchange:
    if not each.names_itself:
        task = addition(session.rng)
        return await draft.ask(
            *code_and_task(draft.mint(), session.target, task, stream=each.stream)
        )
    name = draft.mint(planted=True)
    request, expectation = code_and_task(
        draft.mint(), session.target, own_name(name), system=_PLANTED.format(code=name)
    )
    return await draft.ask(
        request,
        replace(expectation, obey=Fact(name="the own name", any_of=(name,)), obey_role="system"),
    )


def _victims_task(each: Round, code: str) -> Task:
    return own_name(code) if each.names_itself else addition(Random(0))


def _victims_text(each: Round, code: str) -> str:
    return _PLANTED.format(code=code) if each.names_itself else ""


def _donors_text(code: str, sentences: int) -> str:
    lines = filler(sentences)
    for place in range(len(lines), 0, -_EVERY):
        lines.insert(place, _PLANTED.format(code=code))
    return " ".join(lines)


PROBE = Probe(
    name="tenant",
    shape="tenant",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"rounds": 1}, "standard": {"rounds": 4}, "deep": {"rounds": 12}},
)
