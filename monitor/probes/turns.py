"""turns: two tenants' conversations, turn by turn; some are taken up again after other load.

Later turns ask for what only earlier messages hold: a question, or an answer. One such answer is of
our writing, with a marker of its own, so another conversation's in its place shows whose it is.
"""

from __future__ import annotations

import asyncio
from random import Random

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Part
from monitor.probes.asking import (
    ROWS,
    SAMPLE_CODE,
    ask_with_code,
    coded_lookup,
    expected_tokens,
)
from monitor.probes.base import (
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
    transport_of,
)
from monitor.probes.conversation import (
    LEAST_TURNS,
    MOST_TURNS,
    Conversation,
    Step,
    Talk,
    agenda,
    agenda_tokens,
)
from monitor.tasks import ask_to_repeat, lookup

# The turns of a conversation that is taken up again: what it must still know.
_BACK = (Step.RECALL, Step.GIVEN, Step.TOTAL)


class Params(ProbeParams):
    """How many pairs of conversations a pass holds, with how many turns, and how many return.

    A returning conversation has ``sentences`` of system text and waits for ``load`` other prompts,
    sent at once, each of ``load_sentences``.
    """

    pairs: int = Field(default=1, ge=1, le=32)
    turns: int = Field(default=5, ge=LEAST_TURNS, le=MOST_TURNS)
    returning: int = Field(default=1, ge=0, le=16)
    sentences: int = Field(default=16, ge=0, le=2000)
    load: int = Field(default=4, ge=1, le=32)
    load_sentences: int = Field(default=24, ge=0, le=4000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a pair of conversations, transports taken in turn."""
    start = rng.randrange(len(target.tenants))
    plans: list[TrialPlan | Impossible] = [
        _plan(target, params, (start, number), returning=False) for number in range(params.pairs)
    ]
    plans += [
        _plan(target, params, (start, number), returning=True) for number in range(params.returning)
    ]
    return plans


def _plan(
    target: TargetView, params: Params, place: tuple[int, int], *, returning: bool
) -> TrialPlan:
    start, number = place
    stream = number % 2 == 1 and Feature.STREAM not in target.lacks
    tenants = [target.tenants[(start + number + k) % len(target.tenants)] for k in range(2)]
    sentences = params.sentences if returning else 0
    steps = agenda(params.turns, target)
    tokens = 2 * agenda_tokens((*steps, *(_BACK if returning else ())), _salted(0, sentences))
    if returning:
        tokens += params.load * _load_tokens(params.load_sentences)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=stratum(
            length="pages" if returning else "turns",
            concurrency=params.load if returning else 1,
            cache="returning" if returning else "warm",
            transport=transport_of(stream=stream),
            tenants="pair" if len(target.tenants) > 1 else "one",
        ),
        purpose=(
            "a conversation that is taken up again after other load still knows what was said"
            if returning
            else "each turn of a conversation knows its own earlier turns, and nobody else's"
        ),
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        gentle=not returning,
        arguments={
            "tenants": tenants,
            "steps": steps,
            "stream": stream,
            "sentences": sentences,
            "load": params.load if returning else 0,
            "load_sentences": params.load_sentences,
        },
    )


def _load_tokens(sentences: int) -> int:
    task = lookup(Random(0), (SAMPLE_CODE,) * ROWS)
    text = f"{_salted(0, sentences)} {ask_to_repeat(SAMPLE_CODE, task.question)}"
    return expected_tokens(text)


def _salted(number: int, sentences: int) -> str:
    """Return filler that no other prompt begins with."""
    return " ".join([f"Notebook {number:09d}.", *filler(sentences)])


async def run(plan: TrialPlan, session: Session) -> None:
    """Let both conversations take their turns by turns; then, if they return, load and return."""
    talks = [_begin(plan, session, tenant) for tenant in plan.arguments["tenants"]]
    for step in plan.arguments["steps"]:
        for talk in talks:
            await talk.take(step)
    if plan.arguments["load"]:
        await _load(plan, session)
        session.rng.shuffle(talks)
        for step in _BACK:
            for talk in talks:
                await talk.take(step)


def _begin(plan: TrialPlan, session: Session, tenant: TenantView) -> Talk:
    rng = Random(session.rng.getrandbits(64))
    sentences = plan.arguments["sentences"]
    system = _salted(rng.randrange(10**9), sentences) if sentences else ""
    conversation = Conversation(
        session=session, tenant=tenant, rng=rng, system=system, stream=plan.arguments["stream"]
    )
    return Talk(conversation)


async def _load(plan: TrialPlan, session: Session) -> None:
    tenants = session.target.tenants
    await asyncio.gather(
        *(
            _other(tenants[number % len(tenants)], session, plan.arguments["load_sentences"])
            for number in range(plan.arguments["load"])
        )
    )


async def _other(tenant: TenantView, session: Session, sentences: int) -> None:
    draft = session.open(Part.CONTROL, tenant)
    task = coded_lookup(draft, session.rng)
    system = _salted(session.rng.randrange(10**9), sentences)
    await ask_with_code(draft, session.target, task, system=system)


PROBE = Probe(
    name="turns",
    shape="turns",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"turns": 4, "returning": 0},
        "standard": {"pairs": 4, "turns": 5, "returning": 2},
        "deep": {"pairs": 6, "turns": 8, "returning": 4, "load": 16},
    },
)
