"""Reported answers: what is found without having asked, and what is never claimed."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor import scanning
from monitor.checks import CHECKS, judge_trial
from monitor.findings import Decision, Findings
from monitor.history import JudgeSettings
from monitor.model import Outcome, VerdictClass
from monitor.reports.findings import decided_line
from monitor.reports.scan import scan_lines, scan_report
from monitor.scanning import (
    OVERLAP_CHARACTERS,
    Reported,
    ScannedTarget,
    Scanner,
    source_name,
    windows,
)
from monitor.scoring import NoScorer
from tests.builders import NOW, Bench
from tests.unit.test_findings import MemoryFindings

SECRET = "the very secret words of a customer"  # noqa: S105 - planted, to look for


class StillClock:
    """A clock that stands."""

    def now(self):
        return NOW

    def monotonic(self):
        return 0.0

    async def sleep(self, seconds):
        raise AssertionError(seconds)


class Kept:
    """A sink that keeps what it was told."""

    def __init__(self) -> None:
        self.told = []

    def deliver(self, trial, verdict) -> None:
        self.told.append((trial, verdict))

    def close(self) -> None:
        pass


class Desk:
    """A scanner over a registry of its own."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.findings = Findings(MemoryFindings(), NOW)
        self.sink = Kept()
        self.scanner = Scanner(
            clock=StillClock(),
            registry=self.bench.registry,
            findings=self.findings,
            sinks=[self.sink],
            scorer=NoScorer(),
        )

    def scan(self, answer: str, *, source: str = "ticket 4711", terms=(), **fields):
        target = ScannedTarget(
            name="glm", model="glm-5.3", judging=JudgeSettings(sensitive_terms=terms)
        )
        scanned = self.scanner.scan(Reported(answer=answer, **fields), target, source)
        return scan_report(asyncio.run(scanned))


def codes(report) -> set[tuple[str, str]]:
    return {(found.code, found.variant) for found in report.found}


def test_a_live_marker_in_a_reported_answer_is_a_leak_with_its_owner_and_a_finding() -> None:
    desk = Desk()
    marker = desk.bench.mint("donor-a", exchange=3)
    report = desk.scan(f"Your order is ready. {SECRET} {marker}")
    assert report.verdict_class == VerdictClass.LEAK.label
    [found] = [each for each in report.found if each.code == "FOREIGN"]
    assert (found.owner_tenant, found.owner_exchange) == ("donor-a", 3)
    [finding] = desk.findings.list_open()
    assert (finding.id, finding.shape, finding.stratum) == (report.finding, "scan", "ticket-4711")
    assert SECRET not in report.model_dump_json() + "\n".join(scan_lines(report))


def test_an_expired_marker_is_still_known() -> None:
    desk = Desk()
    marker = desk.bench.mint("donor-a")
    assert desk.bench.registry.expire(NOW + timedelta(days=1000))
    assert desk.scan(f"It says {marker}.").verdict_class == VerdictClass.LEAK.label


def test_the_tenants_own_marker_is_no_leak_of_another() -> None:
    desk = Desk()
    marker = desk.bench.mint("victim-b")
    other = desk.scan(f"It says {marker}.", prompt="Which code?", tenant="victim-b")
    assert other.verdict_class == VerdictClass.CROSSED.label
    # Without the prompt it may be the right answer to it.
    unknown = desk.scan(f"It says {marker}.", tenant="victim-b")
    assert not unknown.is_bad
    assert not unknown.is_sure


def test_a_marker_that_the_prompt_holds_is_nothing() -> None:
    desk = Desk()
    marker = desk.bench.mint("donor-a")
    report = desk.scan(f"It says {marker}.", prompt=f"Repeat {marker}.")
    assert report.outcome == Outcome.GOOD
    assert desk.findings.list_open() == ()


def test_one_source_is_one_finding_and_another_source_another() -> None:
    desk = Desk()
    loop = "the boats came in and " * 40
    damaged = "\ufffd" * 40
    for source in ("ticket 1", "ticket 1", "ticket 2"):
        desk.scan(damaged, source=source)
    assert {(f.stratum, f.count) for f in desk.findings.list_open()} == {
        ("ticket-1", 2),
        ("ticket-2", 1),
    }
    # A loop alone is a mistake of a weak model: it is bad, and opens nothing.
    report = desk.scan(loop, source="ticket 3")
    assert ("REPEAT", "tail_loop") in codes(report)
    assert report.finding is None


@pytest.mark.parametrize("answer", ["It is Paris.<|im_end|>", "Paris สวัสดี привет 안녕하세요 ცა"])
def test_without_the_prompt_it_is_not_known_what_was_asked_for(answer) -> None:
    report = Desk().scan(answer)
    assert report.unsure
    assert not report.is_bad
    assert not report.is_sure
    with_prompt = Desk().scan(answer, prompt="What is the capital of France?")
    assert with_prompt.verdict_class == VerdictClass.CORRUPT.label
    assert with_prompt.is_sure
    asked_for = Desk().scan(answer, prompt=f"Repeat exactly: {answer}")
    assert not asked_for.is_bad


def test_nothing_is_said_of_what_an_answer_lacks() -> None:
    desk = Desk()
    report = desk.scan("No.")
    told = {signal.code for _, verdict in desk.sink.told for signal in verdict.signals}
    assert not told & {"NONCE", "FACT", "EMPTY", "FINISH", "USAGE_IN", "TOPIC"}
    assert report.outcome == Outcome.GOOD


def test_what_is_not_configured_is_said_and_nothing_found_is_not_called_good() -> None:
    report = Desk().scan("No.")
    assert any(each.startswith("ENTITY:") for each in report.not_looked_for)
    text = "\n".join(scan_lines(report))
    assert text.startswith("NOTHING FOUND")
    assert "NOT SOUGHT ENTITY: " in text
    assert "GOOD" not in text


def test_a_second_leak_is_not_hidden_behind_another_sources() -> None:
    desk = Desk()
    for source in ("ticket 1", "ticket 2"):
        desk.scan(f"It says {desk.bench.mint('donor-a')}.", source=source)
    desk.scan("\ufffd" * 40, source="ticket 3")
    assert {(f.stratum, f.verdict_class) for f in desk.findings.list_open()} == {
        ("ticket-1", VerdictClass.LEAK),
        ("ticket-2", VerdictClass.LEAK),
        ("ticket-3", VerdictClass.CORRUPT),
    }
    resolved = desk.findings.resolve(desk.findings.list_open()[0].id, "me", "known", NOW)
    assert "probed" not in decided_line(resolved, Decision.RESOLVE)


def test_two_owners_are_two_lines_however_alike() -> None:
    desk = Desk()
    markers = [desk.bench.mint("donor-a", exchange=number) for number in (1, 2)]
    text = "\n".join(scan_lines(desk.scan(f"It says {markers[0]}. And then {markers[1]}.")))
    assert "exchange 1 of" in text
    assert "exchange 2 of" in text


def test_what_every_window_of_a_long_answer_says_is_said_once() -> None:
    report = Desk().scan("a" * 600_000, prompt="Say a.")
    assert len(report.found) > 1
    assert sum("REPEAT" in line for line in scan_lines(report)) == 1


def test_scans_are_stored_and_count_in_no_sli() -> None:
    desk = Desk()
    desk.scan("No.")
    [(trial, verdict)] = desk.sink.told
    assert not trial.scheduled
    assert not verdict.scheduled
    assert verdict.source == "scan"


@given(st.integers(0, 900_000), st.integers(1, OVERLAP_CHARACTERS))
def test_whatever_is_short_stands_whole_in_a_window(start, length) -> None:
    text = "x" * start + "y" * length + "x" * 1000
    assert any("y" * length in window for window in windows(text))


def test_a_marker_far_down_in_a_long_answer_is_found() -> None:
    desk = Desk()
    marker = desk.bench.mint("donor-a")
    filler = "The morning train left the old station on time. "
    report = desk.scan(filler * 30_000 + marker + filler * 10)
    assert report.verdict_class == VerdictClass.LEAK.label


@given(st.text(max_size=80))
def test_a_source_of_any_text_is_a_name(text) -> None:
    name = source_name(text)
    assert name
    assert len(name) <= 48
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.text(max_size=300))
def test_any_answer_is_scanned_and_never_quoted(text) -> None:
    report = Desk().scan(f"{text} {SECRET}")
    assert SECRET not in json.dumps(report.model_dump(mode="json"))
    assert report.outcome in {outcome.value for outcome in Outcome}


def test_the_checks_of_presence_are_the_ones_that_scan() -> None:
    scanned = {check.code for check in CHECKS if check.needs.value == "some_text"}
    assert scanned >= {"FOREIGN", "SPECIAL", "CHARSET", "REPEAT"}


def test_the_daemons_loop_is_free_while_checks_look(monkeypatch: pytest.MonkeyPatch) -> None:
    # Twenty million characters take a minute, and the daemon gives a sign of life every second.
    asked = asyncio.run(_is_loop_free(monkeypatch))
    assert asked == ["checks began", "loop ran", "checks ended"]


async def _is_loop_free(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    loop, began, ran = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def judged(trial, history, checks):
        if any(check.measured for check in checks):
            return judge_trial(trial, history, checks)
        said.append("checks began")
        loop.call_soon_threadsafe(began.set)
        ran.wait(timeout=10)
        said.append("checks ended")
        return judge_trial(trial, history, checks)

    async def look() -> None:
        await began.wait()
        said.append("loop ran")
        ran.set()

    monkeypatch.setattr(scanning, "judge_trial", judged)
    target = ScannedTarget(name="glm", model="glm-5.3")
    await asyncio.gather(Desk().scanner.scan(Reported(answer="Hello."), target, "me"), look())
    return said
