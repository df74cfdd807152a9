"""The log speaks of what is not good, and is quiet otherwise."""

from __future__ import annotations

import json
import logging

import pytest

from monitor.model import Outcome, VerdictClass
from monitor.sinks import LogSink
from tests.unit.store.samples import good, trial, verdict


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def text_sink() -> LogSink:
    return LogSink(logging.getLogger("davylamp.verdicts"))


def test_good_verdicts_say_nothing(lines: pytest.LogCaptureFixture) -> None:
    sink = text_sink()
    for number in range(5):
        sink.deliver(trial(number), good(number))
    assert lines.messages == []


def test_a_bad_verdict_is_one_line_with_codes_and_ids(lines: pytest.LogCaptureFixture) -> None:
    text_sink().deliver(trial(1), verdict(1, finding="F-12345678"))
    expected = (
        "event=verdict at=2026-11-02T12:30:18.250+00:00 target=glm probe=canary "
        "stratum=short/c1/cold/plain/pair outcome=bad class=LEAK "
        'reason="the answer carries another tenant\'s text, proven" '
        "signals=FOREIGN:other_tenant finding=F-12345678 trial=trial-glm-1 verdict=verdict-glm-1"
    )
    assert lines.messages == [expected]
    assert lines.records[0].levelno == logging.ERROR


def test_json_holds_the_same(lines: pytest.LogCaptureFixture) -> None:
    LogSink(logging.getLogger("davylamp.verdicts"), as_json=True).deliver(trial(1), verdict(1))
    said = json.loads(lines.messages[0])
    assert (said["class"], said["outcome"], said["trial"]) == ("LEAK", "bad", "trial-glm-1")


def test_the_return_to_good_is_said_once_for_each_stream(lines: pytest.LogCaptureFixture) -> None:
    sink = text_sink()
    sink.deliver(trial(1), verdict(1))
    sink.deliver(trial(2), good(2, stratum="another"))
    sink.deliver(trial(3), good(3))
    sink.deliver(trial(4), good(4))
    assert len(lines.messages) == 2
    assert "was=bad/LEAK" in lines.messages[1]
    assert lines.records[1].levelno == logging.INFO


def test_what_could_not_be_judged_is_loud(lines: pytest.LogCaptureFixture) -> None:
    sink = text_sink()
    sink.deliver(trial(1), good(1, outcome=Outcome.ERROR))
    sink.deliver(trial(2), good(2, outcome=Outcome.INVALID))
    sink.deliver(trial(3), good(3, verdict_class=VerdictClass.SUSPECT))
    assert [record.levelno for record in lines.records] == [
        logging.WARNING,
        logging.WARNING,
        logging.INFO,
    ]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_cannot_be_forged(lines: pytest.LogCaptureFixture, *, as_json: bool) -> None:
    sink = LogSink(logging.getLogger("davylamp.verdicts"), as_json=as_json)
    sink.deliver(trial(1), verdict(1, stratum='x\nevent=verdict class=none "\u2028\ud800'))
    assert len(lines.messages[0].splitlines()) == 1
    lines.messages[0].encode()
