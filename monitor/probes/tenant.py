"""tenant: donors plant markers in ordinary requests, victims never mention them; interleaved.

Donors plant a code and a made-up customer's record in their system prompt and in what the user
says, in turn, and at one length and twice that. A victim has a system prompt of its own that names
its desk, or a customer of its own; asked for the name or the customer's address, it shows whose
system prompt it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Exchange, Part
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
from monitor.probes.planting import RECORD_TOKENS, plant_record
from monitor.tasks import Task, addition, own_customer, own_name

Asked = Literal["name", "customer", "sum"]
_PLANTED = "The name of this desk is {code}."
# So often a donor's text says it: once in so many sentences.
_EVERY = 4
# What victims are asked in turn: a sum needs no system prompt, the others have one of their own.
_ASKED: tuple[Asked, ...] = ("name", "sum", "customer", "sum")
# As long as a planted address.
_SAMPLE_ADDRESS = "babbab.babbab0000@example.com"


class Params(ProbeParams):
    """How many donor-victim rounds, and how long a donor's text is (in sentences)."""

    rounds: int = Field(default=2, ge=1, le=32)
    donor_sentences: int = Field(default=16, ge=4, le=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """How one donor and one victim are asked."""

    sentences: int
    planted_by_user: bool
    asked: Asked
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
        asked="sum" if Feature.SYSTEM_ROLE in target.lacks else _ASKED[number % len(_ASKED)],
        stream=number % 2 == 1 and Feature.STREAM not in target.lacks,
    )


def _price(each: Round, target: TargetView) -> int:
    records = RECORD_TOKENS * (2 if each.asked == "customer" else 1)
    return records + sum(
        expected_tokens(
            code_and_task(SAMPLE_CODE, target, task, system=system)[0].text(), answer_tokens
        )
        for task, system, answer_tokens in (
            (addition(Random(0)), _donors_text(SAMPLE_CODE, "", each.sentences), 22),
            (*_victims_texts(each), 34),
        )
    )


def _victims_texts(each: Round) -> tuple[Task, str]:
    """Return a victim's task and system prompt, without what a record holds."""
    match each.asked:
        case "name":
            return own_name(SAMPLE_CODE), _PLANTED.format(code=SAMPLE_CODE)
        case "customer":
            return own_customer(_SAMPLE_ADDRESS), ""
        case "sum":
            return addition(Random(0)), ""


async def run(plan: TrialPlan, session: Session) -> None:
    """Let donor and victim take turns; every answer is searched for what the other planted."""
    for each in plan.arguments["rounds"]:
        await _donate(session.open(Part.DONOR, plan.arguments["donor"]), session, each)
        await _answer(session.open(Part.VICTIM, plan.arguments["victim"]), session, each)


async def _donate(draft: Draft, session: Session, each: Round) -> Exchange:
    record = str(plant_record(draft))
    text = _donors_text(draft.mint(planted=True), record, each.sentences)
    task = addition(session.rng)
    system = text
    if each.planted_by_user:
        task, system = replace(task, question=f"{text}\n{task.question}"), ""
    return await draft.ask(
        *code_and_task(draft.mint(), session.target, task, system=system, stream=each.stream)
    )


async def _answer(draft: Draft, session: Session, each: Round) -> Exchange:
    if each.asked == "sum":
        task = addition(session.rng)
        return await draft.ask(
            *code_and_task(draft.mint(), session.target, task, stream=each.stream)
        )
    task, system = _of_its_own(draft, each.asked)
    request, expectation = code_and_task(draft.mint(), session.target, task, system=system)
    return await draft.ask(request, replace(expectation, obey=task.answers[0], obey_role="system"))


def _of_its_own(draft: Draft, asked: Asked) -> tuple[Task, str]:
    """Return the question for something that the victim's own system prompt says, and that."""
    if asked == "customer":
        record = plant_record(draft)
        return own_customer(record.email), str(record)
    name = draft.mint(planted=True)
    return own_name(name), _PLANTED.format(code=name)


def _donors_text(code: str, record: str, sentences: int) -> str:
    """Return a text with a code all along and a customer's record in its middle."""
    lines = filler(sentences)
    for place in range(len(lines), 0, -_EVERY):
        lines.insert(place, _PLANTED.format(code=code))
    if record:
        lines.insert(len(lines) // 2, record)
    return " ".join(lines)


PROBE = Probe(
    name="tenant",
    shape="tenant",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"rounds": 1, "donor_sentences": 8},
        "standard": {"rounds": 4},
        "deep": {"rounds": 12},
    },
)
