"""JUDGE: what a reading of the judge comes to."""

from __future__ import annotations

from random import Random

import pytest

from monitor.checks.judge import CHECK
from monitor.history import History
from monitor.model import Measurement, Outcome, Status, VerdictClass
from monitor.verdicts import decide
from tests.builders import NOW, Bench, a_trial, an_exchange

BENCH = Bench()


def signal(measured: dict[int, Measurement]):
    exchange = an_exchange(golden="facts/capital-france")
    history = History(registry=BENCH.registry, measured=measured)
    [found] = CHECK.judge(a_trial(exchange), exchange, history)
    return found


@pytest.mark.parametrize(
    ("reading", "status", "words"),
    [
        (None, Status.SKIP, "no judge is configured"),
        (Measurement(), Status.SKIP, "no judge is configured"),
        (Measurement(judged_right=True), Status.PASS, "right"),
        (Measurement(judged_right=False), Status.FAIL, "wrong"),
        (Measurement(skipped={"JUDGE": "not drawn"}), Status.SKIP, "not drawn"),
        (Measurement(skipped={"TOPIC": "short"}), Status.SKIP, "no judge is configured"),
        (Measurement(broken={"JUDGE": "the judge failed"}), Status.ERROR, "the judge failed"),
        (Measurement(broken={"TOPIC": "crashed"}, judged_right=True), Status.PASS, "right"),
    ],
)
def test_each_reading_has_its_status(
    reading: Measurement | None, status: Status, words: str
) -> None:
    found = signal({0: reading} if reading else {})
    assert found.status is status
    assert words in found.explanation
    assert found.variant == ("wrong" if status is Status.FAIL else "")


@pytest.mark.parametrize(
    ("reading", "outcome"),
    [
        (Measurement(judged_right=False), Outcome.BAD),
        (Measurement(broken={"JUDGE": "the judge failed"}), Outcome.INVALID),
    ],
)
def test_a_wrong_answer_is_tolerated_and_a_broken_judge_makes_invalid(reading, outcome) -> None:
    trial = a_trial(an_exchange(golden="facts/capital-france"))
    verdict = decide(trial, [signal({0: reading})], verdict_id="v", now=NOW, checks_version="1")
    assert verdict.outcome is outcome
    assert verdict.verdict_class is (
        VerdictClass.WRONG if outcome is Outcome.BAD else VerdictClass.NONE
    )
    assert not verdict.exchanges[0].hard


def test_its_specimens_show_that_it_is_not_blind() -> None:
    for specimen in CHECK.specimens(Random(1)):
        exchange = specimen.trial.exchanges[specimen.exchange]
        [found] = CHECK.judge(specimen.trial, exchange, specimen.history)
        assert (found.status is Status.FAIL, found.variant) == (
            bool(specimen.variant),
            specimen.variant,
        )
