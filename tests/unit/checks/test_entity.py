"""ENTITY: what nobody gave it is a suspicion, told without ever telling the value."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from math import log
from random import Random

import pytest

from monitor.checks import judge_trial
from monitor.checks.entity import CHECK, LEAST_NAMES, MOST_SPANS, NAMES_LEVEL, most_names
from monitor.history import JudgeSettings
from monitor.model import (
    Calibration,
    Entity,
    Fact,
    Failure,
    FailureKind,
    Measurement,
    Message,
    Needle,
    Outcome,
    Signal,
    Status,
    Tool,
    VerdictClass,
)
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.verdicts import CONSEQUENCES, decide
from tests.bench import personal
from tests.bench.checks.entity import pattern
from tests.builders import NOW, Bench, a_trial, an_exchange

MAIL = "m.okafor@quartz-freight.co.uk"
ANSWER = f"You can write to {MAIL} today."


def judged(answer: str | None = ANSWER, *, exchange=None, measured=None, **past) -> list[Signal]:
    """Judge an answer as the real instrument reads it, unless a reading is given."""
    bench = Bench()
    exchange = exchange or an_exchange("Whom do I write to?", answer)
    if measured is None and exchange.response is not None:
        measured = Measurement(entities=pattern().entities(exchange.response.written()))
    readings = {} if measured is None else {0: measured}
    history = replace(bench.history, measured=readings, **past)
    return list(judge_trial(a_trial(exchange), history, [CHECK]))


def calibration(mean: float) -> Calibration:
    return Calibration(
        id="c",
        target="glm",
        model="glm-5.3",
        made_at=NOW - timedelta(days=1),
        made_by="ann",
        reason="first",
        subject="s",
        checks_version="1",
        tolerance=0.1,
        names_per_answer=mean,
    )


def names(count: int) -> tuple[str, Measurement]:
    """Return an answer of so many names, and what was read off it."""
    people = [f"Person{chr(65 + n // 26)}{chr(97 + n % 26)}" for n in range(count)]
    text = " ".join(people)
    found = [Entity(kind="PERSON", start=9 * n, end=9 * n + 8, strong=False) for n in range(count)]
    return text, Measurement(entities=tuple(found))


def test_a_value_that_nobody_gave_is_suspect_and_never_bad() -> None:
    [signal] = judged()
    assert (signal.status, signal.variant) == (Status.FAIL, "novel")
    start = ANSWER.index(MAIL)
    assert signal.spans == ((start, start + len(MAIL)),)
    assert signal.score == 0.0
    consequence = CONSEQUENCES[signal.code, signal.variant]
    assert consequence.verdict_class is VerdictClass.SUSPECT
    exchange = an_exchange("Whom?", ANSWER)
    verdict = decide(a_trial(exchange), [signal], verdict_id="v", now=NOW, checks_version="1")
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.SUSPECT)


def test_the_explanation_tells_kind_place_length_and_a_keyed_hash() -> None:
    [signal] = judged()
    place = ANSWER.index(MAIL)
    words = f"1 that nobody gave it: EMAIL_ADDRESS at {place}, {len(MAIL)} characters, #"
    assert signal.explanation.startswith(words)
    [again] = judged(f"It is {MAIL.upper()}.")
    [other] = judged("It is x.okafor@quartz-freight.co.uk.")
    hashes = [each.explanation.rpartition("#")[2] for each in (signal, again, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(hashes[0]) == 12


@pytest.mark.parametrize("kind", personal.KINDS)
def test_no_value_of_any_kind_leaves_the_check(kind: str, caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        for text, start, end in personal.sentences(Random(4), kind, 6):
            signals = judged(text)
            told = repr(signals) + caplog.text
            value = text[start:end]
            assert value not in told
            assert not [
                value[i : i + 12] for i in range(len(value) - 11) if value[i : i + 12] in told
            ]


def test_more_than_three_are_counted_not_listed() -> None:
    rng = Random(6)
    [signal] = judged(" ".join(personal.email(rng) for _ in range(70)))
    assert signal.explanation.count("#") == 3
    assert "more" in signal.explanation
    assert len(signal.spans) == MOST_SPANS


def test_the_same_value_twice_is_one() -> None:
    [signal] = judged(f"{MAIL}, {MAIL.upper()}")
    assert signal.explanation.startswith("1 that nobody gave it")


def prompted(**fields):
    exchange = an_exchange("Whom do I write to?", ANSWER)
    return replace(exchange, request=replace(exchange.request, **fields))


GIVEN = {
    "the prompt": an_exchange(f"Is it {MAIL}?", ANSWER),
    "a system message": prompted(messages=(Message(role="system", content=MAIL),)),
    "an earlier turn": prompted(
        messages=(
            Message(role="user", content="Who?"),
            Message(role="assistant", content=f"M. Okafor, {MAIL}"),
            Message(role="user", content="Again?"),
        )
    ),
    "a tool": prompted(tools=(Tool(name="mail", description=f"to {MAIL}", parameters="{}"),)),
    "a schema": prompted(json_schema=f'{{"const": "{MAIL}"}}'),
    "an expected answer": an_exchange("?", ANSWER, answers=(Fact(name="it", any_of=(MAIL,)),)),
    "a needle": an_exchange("?", ANSWER, needles=(Needle(place="head", text=MAIL),)),
    "an order": an_exchange("?", ANSWER, obey=Fact(name="it", any_of=(MAIL,))),
    "the nonce": an_exchange("?", ANSWER, nonce=MAIL),
}


@pytest.mark.parametrize("where", GIVEN)
def test_what_was_given_is_no_suspicion(where: str) -> None:
    [signal] = judged(exchange=GIVEN[where])
    assert signal.status is Status.PASS


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": f"Say {MAIL}."},
        {"references": (f"Write to {MAIL}.",)},
        {"expectations": (AnyOf(strings=(MAIL,)),)},
    ],
)
def test_what_a_golden_prompt_holds_is_no_suspicion(fields) -> None:
    base = {"prompt": "Whom?", "expectations": (AnyOf(strings=("x",)),)}
    golden = GoldenPrompt(suite="s", id="i", language="en", max_output_tokens=9, **(base | fields))
    exchange = an_exchange("Whom?", ANSWER, golden="s/i")
    assert judged(exchange=exchange, golden={"s/i": golden})[0].status is Status.PASS
    other = replace(golden, **base, references=())
    assert judged(exchange=exchange, golden={"s/i": other})[0].status is Status.FAIL


def test_an_allowed_value_is_no_suspicion() -> None:
    allowed = JudgeSettings(allowed=(MAIL.upper(),))
    assert judged(settings=allowed)[0].status is Status.PASS


def test_our_own_markers_are_foreigns_business() -> None:
    bench = Bench()
    marker = bench.mint("tenant-a", trial="trial-0")
    answer = f"token: {marker}"
    entity = Entity(kind="API_KEY", start=7, end=len(answer))
    exchange = an_exchange("Whom?", answer)
    history = replace(bench.history, measured={0: Measurement(entities=(entity,))})
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    assert signal.status is Status.PASS


def test_names_are_counted_and_say_nothing_without_a_calibration() -> None:
    answer, measured = names(40)
    first, second = judged(answer, measured=measured)
    assert (first.status, first.score) == (Status.PASS, 40.0)
    assert (second.status, second.score) == (Status.SKIP, None)
    assert second.explanation.startswith("40 names and places, and no calibration")


@pytest.mark.parametrize(
    ("count", "mean", "fails"), [(40, 1.0, True), (3, 1.0, False), (40, 9.0, False)]
)
def test_far_more_names_than_usual_are_shown(count: int, mean: float, fails: bool) -> None:
    answer, measured = names(count)
    first, *others = judged(answer, measured=measured, calibration=calibration(mean))
    assert (first.status, first.score) == (Status.PASS, float(count))
    assert [each.variant for each in others] == ["names"] * fails
    assert all("Person" not in each.explanation for each in others)


def test_names_that_were_given_are_not_counted() -> None:
    answer, measured = names(40)
    exchange = an_exchange(f"Sort: {answer}", answer)
    [signal] = judged(exchange=exchange, measured=measured, calibration=calibration(0.1))
    assert signal.score == 0.0


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0, 4.0, 20.0])
def test_more_names_than_the_most_are_as_rare_as_stated(mean: float) -> None:
    most, effective = most_names(mean), max(mean, LEAST_NAMES)
    tail = (most + 1) * log(effective / (1 + effective))
    assert tail < log(NAMES_LEVEL)
    rng = Random(1)
    beyond = 0
    for _ in range(100_000):
        drawn = int(log(rng.random()) / log(effective / (1 + effective)))
        beyond += drawn > most
    assert beyond <= 30


@pytest.mark.parametrize(
    ("measured", "status", "words"),
    [
        (None, Status.SKIP, "not configured, or nothing was written"),
        (Measurement(similarity=0.5), Status.SKIP, "not configured, or nothing was written"),
        (Measurement(skipped={"ENTITY": "not wanted"}), Status.SKIP, "not wanted"),
        (Measurement(broken={"ENTITY": "OSError"}), Status.ERROR, "OSError"),
        (Measurement(entities=()), Status.PASS, "nothing strong that nobody gave it"),
    ],
)
def test_what_was_not_measured_is_not_passed(measured, status, words) -> None:
    exchange = an_exchange("Whom?", ANSWER)
    history = replace(Bench().history, measured={} if measured is None else {0: measured})
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    assert (signal.status, signal.explanation) == (status, words)


def test_a_cut_answer_is_judged_too() -> None:
    cut = Failure(kind=FailureKind.CUT_STREAM, detail="cut")
    [signal] = judged(exchange=an_exchange("Whom?", ANSWER, failure=cut))
    assert signal.variant == "novel"


def test_without_an_answer_there_is_nothing_to_judge() -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, detail="none")
    [signal] = judged(exchange=an_exchange("Whom?", None, failure=failure, http_status=None))
    assert signal.status is Status.SKIP


def test_a_reading_that_lies_beyond_the_answer_does_no_harm() -> None:
    measured = Measurement(entities=(Entity(kind="US_SSN", start=10_000, end=10_011),))
    [signal] = judged(measured=measured)
    assert signal.status is Status.PASS
