"""What is said of streams: alarms first, K of N, bounds, and what nobody watches."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.detect.binomial import upper_bound
from monitor.detect.sequence import confidence_sequence
from monitor.model import Lane
from monitor.reports.evidence import EvidenceReport, StreamReport, evidence_lines, evidence_report
from monitor.watching import Book, Refused, scores_of
from monitor.watching.kept import row_of
from tests.builders import NOW
from tests.unit.watching.building import Y0, a_book, a_fleet, held_to, judged, key_of
from tests.unit.watching.test_book import feed


def report_of(book: Book) -> EvidenceReport:
    return evidence_report("glm", book.standings({"glm"}), (), at=NOW, live=True)


def stream(report: EvidenceReport, lane: Lane, probe: str = "canary") -> StreamReport:
    return next(s for s in report.streams if (s.lane, s.probe) == (lane.value, probe))


def test_an_alarm_comes_first_and_exits_1() -> None:
    book = a_book()
    feed(book, ["g"] * 50 + ["t"] * 7 + ["g"])
    report = report_of(book)
    assert report.exit_code == 1
    worst = report.streams[0]
    assert (worst.lane, worst.state, worst.alarm.tier) == ("tolerated", "alarm", "page")
    assert worst.alarm.began_at == NOW + timedelta(minutes=50)
    assert worst.alarm.began_at < worst.alarm.raised_at
    assert (worst.alarm.clean, worst.alarm.failed_since) == (1, 2)
    assert EvidenceReport.model_validate_json(report.model_dump_json()) == report
    lines = evidence_lines(report)
    assert lines[0] == "PAGE        canary short/c1/cold/plain/one tolerated"
    assert "began about 2026-11-02 12:50:00 UTC" in lines[1]
    assert lines[-1] == (
        "glm: 5 streams, 2 with an alarm, 0 quiet, 3 with few scores, 0 not watched"
    )


def test_k_of_n_and_the_bounds_of_a_stream_that_failed() -> None:
    book = a_book()
    feed(book, ["t"] + ["g"] * 59 + ["t"])
    found = stream(report_of(book), Lane.TOLERATED)
    assert [(w.failed, w.of) for w in found.windows] == [(1, 10), (1, 60)]
    assert (found.scored, found.failed, found.unseen_at_most) == (61, 2, None)
    assert (found.rate_at_least, found.rate_at_most) == confidence_sequence(2, 61)
    assert (found.state, found.y0, found.held_by) == ("quiet", 0.1, "default")
    assert [each.tier for each in found.thresholds] == ["ticket", "page"]
    assert found.in_a_row


def test_where_nothing_failed_it_is_said_what_still_could() -> None:
    book = a_book()
    feed(book, ["g"] * 40)
    report = report_of(book)
    found = stream(report, Lane.HARD)
    assert found.unseen_at_most == upper_bound(0, 40)
    # 40 clean answers say nothing of one failure in a thousand.
    assert found.state == "few"
    assert stream(report, Lane.TOLERATED).state == "quiet"
    assert report.exit_code == 0
    said = "\n".join(evidence_lines(report))
    assert "nothing failed in 40: at most 7.22%" in said


def test_before_any_score_nobody_can_tell() -> None:
    report = report_of(a_book())
    assert report.exit_code == 3
    assert {each.state for each in report.streams} == {"few"}
    assert stream(report, Lane.HARD).unseen_at_most is None


def test_what_nobody_watches_says_why() -> None:
    book = Book(a_fleet("glm"), held_to(Y0 | {Lane.TOLERATED: None}))
    feed(book, ["g"])
    report = report_of(book)
    assert stream(report, Lane.TOLERATED).not_watched == "tolerance"
    assert "more than half of its answers may fail" in "\n".join(evidence_lines(report))


def test_errors_are_no_scores_and_are_shown() -> None:
    book = a_book()
    feed(book, ["e"] * 3 + ["g"])
    found = stream(report_of(book), Lane.HARD)
    assert (found.errors, found.scored, found.valid_ratio) == (3, 1, 0.25)
    assert "25% of the last trials gave a score" in "\n".join(evidence_lines(report_of(book)))


def test_a_trend_of_some_ages_names_them() -> None:
    book = a_book()
    for number in range(200):
        trial, verdict = judged("t" if number % 20 == 19 else "g", number=number)
        age = 900 if number % 20 == 19 else number % 20
        book.take(scores_of(trial, verdict, age=age), verdict.decided_at)
    trend = stream(report_of(book), Lane.TREND, "")
    assert trend.alarm
    assert trend.alarm.first_age == 800
    assert "exchanges number 801 to 1600 after a start" in "\n".join(
        evidence_lines(report_of(book))
    )


def test_what_cannot_be_read_is_named_and_unsure() -> None:
    book = a_book()
    feed(book, ["g"])
    hard, others = key_of(Lane.HARD), book.standings({"glm"})
    (lost,) = [each for each in others if each.key == hard]
    refused = [Refused(row=row_of(lost, "1", NOW), why="no JSON")]
    report = evidence_report("glm", others, refused, at=NOW, live=False)
    assert report.exit_code == 3
    assert report.refused == ["canary short/c1/cold/plain/one hard"]
    said = "\n".join(evidence_lines(report))
    assert "it begins anew" in said
    assert "no daemon runs" in said


@pytest.mark.parametrize("trials", [[], ["g"], ["h"] * 9, ["e"] * 5])
def test_every_report_can_be_printed_and_read_again(trials: list[str]) -> None:
    book = a_book()
    feed(book, trials)
    report = report_of(book)
    assert EvidenceReport.model_validate_json(report.model_dump_json()) == report
    assert all(line.isprintable() for line in evidence_lines(report))
