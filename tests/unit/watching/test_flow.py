"""Streams as they are kept and read again, to the last digit, and verdicts of those that moved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from monitor.checks import CHECKS_VERSION
from monitor.config import Config
from monitor.configured import golden_prompts, live_target
from monitor.detect.watch import Tier, Watch
from monitor.errors import StoreError, UsageError
from monitor.findings import Decision, Findings
from monitor.judge import Said, labelled_items
from monitor.model import Lane, Outcome, Signal, Status, Trial, Verdict, VerdictClass
from monitor.prompts import GoldenPrompt
from monitor.reports.findings import decided_line
from monitor.store import open_store
from monitor.store.rows import DetectorStateRow
from monitor.streams import StreamKey, item_score
from monitor.watching import Ending, Standing, Watching, WatchingSink, read, watching_over
from tests.builders import NOW, a_signal, an_exchange
from tests.unit.daemon.installed import TARGET, ManualClock, config_of
from tests.unit.test_findings import MemoryFindings
from tests.unit.watching.building import PLAN, judged, key_of, verdict_of

HARD, TOLERATED, TREND = (key_of(lane) for lane in (Lane.HARD, Lane.TOLERATED, Lane.TREND))
FACTS = StreamKey(target="glm", lane=Lane.FACTS, probe="golden")
GOLDEN = {("golden", "short/c1/cold/plain/one"): 288.0}


class MemoryStore:
    """A store that keeps states of streams, each as it was last put, and nothing else."""

    def __init__(self) -> None:
        self.states: dict[tuple[str, ...], DetectorStateRow] = {}
        self.full = False
        self.puts: list[list[DetectorStateRow]] = []
        self.writer = self.reader = self.audit = self
        self.links: list[tuple[str, ...]] = []

    def put(self, rows: list[DetectorStateRow], *, droppable: bool) -> bool:
        assert rows
        assert droppable
        self.puts.append(rows)
        for row in [] if self.full else rows:
            place = (row.target, row.probe, row.stratum, row.detector)
            assert place not in self.states or self.states[place].version < row.version
            self.states[place] = row
        return not self.full

    def append(self, action: str, subject: str, **kept: Any) -> None:
        if self.full:
            raise StoreError("no room")
        self.put(kept["rows"], droppable=True)
        self.links.append((action, subject, kept["actor"], kept["details"]["why"]))

    def private(self, text: str) -> str:
        return f"hash of {len(text)}"

    def detector_states(self, targets: list[str]) -> tuple[DetectorStateRow, ...]:
        return tuple(row for row in self.states.values() if row.target in targets)


@cache
def _golden() -> dict[str, GoldenPrompt]:
    return golden_prompts()


class Opened:
    """What watches over a store, the sink in front, and what it told of."""

    def __init__(self, store: Any, config: Config, plan: Mapping[tuple[str, str], float]) -> None:
        clock, golden = ManualClock(), _golden()
        targets = {t.name: live_target(config, t, golden, clock) for t in config.targets}
        self.metrics = CollectorRegistry()
        self.findings = Findings(MemoryFindings(), NOW)
        self.watching: Watching = watching_over(config, targets, store, clock, self.metrics)
        self.told: list[Verdict] = []
        self.sink = WatchingSink(self.watching, self.findings, [self])
        for name in targets:
            self.watching.plan(name, plan)

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        assert (trial.id, trial.exchanges) == ("", ())
        self.told.append(verdict)

    def close(self) -> None: ...

    def standing(self, key: StreamKey = HARD) -> Standing:
        return next(s for s in self.watching.standings({key.target}) if s.key == key)

    def watches(self) -> dict[StreamKey, Watch]:
        return {each.key: each.watch for each in self.watching.standings({"glm"})}

    def sample(self, name: str, key: StreamKey = HARD, **labels: str) -> float | None:
        own = {"probe": key.probe, "stratum": key.stratum, "lane": key.lane.value}
        return self.metrics.get_sample_value(
            f"davylamp_{name}", {"env": "default", "target": "glm"} | own | labels
        )


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def reopen(tmp_path: Path, store: MemoryStore) -> Callable[..., Opened]:
    """Return what opens the streams of one store anew, as a restart does."""
    config = config_of(tmp_path)
    return lambda plan=PLAN: Opened(store, config, plan)


Reopen = Callable[..., Opened]


def feed(opened: Opened, trials: list[str], *, start: int = 0, **fields: object) -> None:
    for number, letters in enumerate(trials, start):
        opened.sink.deliver(*judged(letters, number=number, **fields))


def moved(number: int, *, status: Status = Status.FAIL) -> tuple[Trial, Verdict]:
    """Return a golden answer whose facts moved, or did not."""
    trial, _ = judged("g", number=number, probe="golden")
    variant = "facts_moved" if status is Status.FAIL else ""
    signals: list[Signal] = [a_signal("FINGER", status, variant)]
    return trial, verdict_of(trial, "g", signals, number)


def _scored(one: Opened) -> dict[StreamKey, Watch]:
    return {key: watch for key, watch in one.watches().items() if watch.asked}


TRIALS = ["g", "t", "h", "e", "gt", "g", "t", "g", "h", "t", "g"]


def test_restarts_amid_evidence_change_nothing_to_the_last_digit(
    reopen: Reopen, tmp_path: Path
) -> None:
    for number, letters in enumerate(TRIALS):
        often = reopen()
        feed(often, [letters], start=number)
    at_once = Opened(MemoryStore(), config_of(tmp_path), PLAN)
    feed(at_once, TRIALS)
    assert often.watches() == at_once.watches()
    assert reopen().watches() == at_once.watches()


def test_a_real_store_keeps_what_a_killed_process_had_acknowledged(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    with open_store(tmp_path / "store") as real:
        one = Opened(real, config, PLAN)
        feed(one, ["t"] * 7)
        real.flush()
        # Nothing is closed: this is what another process would find.
        rows = real.reader.detector_states(["glm"])
        killed = {each.key: each for each in read(rows, CHECKS_VERSION)[0]}
        assert {key: each.watch for key, each in killed.items()} == _scored(one)
        feed(one, ["g", "h"], start=7)
        before = one.watches()
    with open_store(tmp_path / "store") as real:
        two = Opened(real, config, PLAN)
        assert two.watches() == before
        assert two.sample("alarm_active", TOLERATED, tier="page") == 1
        assert two.standing(TOLERATED).alarmed_at == one.standing(TOLERATED).alarmed_at


def test_an_alarm_stays_over_a_restart_until_enough_was_clean(reopen: Reopen) -> None:
    feed(reopen(), ["t"] * 7)
    two = reopen()
    assert two.sample("alarm_active", TOLERATED, tier="page") == 1
    assert two.sample("alarm_active", TOLERATED, tier="ticket") == 0
    assert two.sample("alarms_total", TOLERATED, tier="page") == 1
    feed(two, ["g"] * two.standing(TOLERATED).watch.clean_needed, start=7)
    assert two.sample("alarm_active", TOLERATED, tier="page") == 0
    three = reopen()
    assert three.sample("alarm_active", TOLERATED, tier="page") == 0
    assert three.sample("alarms_total", TOLERATED, tier="page") == 1


def test_an_alarm_of_what_nobody_watches_any_more_is_over_loudly_and_kept(
    tmp_path: Path, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    feed(Opened(store, config_of(tmp_path), PLAN), ["t"] * 7)
    lax = config_of(tmp_path, targets=[deepcopy(TARGET) | {"tolerance": 0.6}])
    two = Opened(store, lax, PLAN)
    assert two.sample("alarm_active", TOLERATED, tier="page") == 0
    feed(two, ["g", "g"], start=7)
    place = "glm canary short/c1/cold/plain/one tolerated"
    said = [each for each in caplog.records if f"the alarm of {place} is over" in each.message]
    assert [each.levelname for each in said] == ["WARNING"]
    kept, _ = read(store.states.values(), CHECKS_VERSION)
    (row,) = (each for each in kept if each.key == TOLERATED)
    assert (row.watch.alarm, row.alarmed_at) == (None, None)


def test_every_planned_stream_has_its_series_at_0(reopen: Reopen) -> None:
    one = reopen()
    for key in (HARD, TOLERATED):
        assert one.sample("alarm_active", key, tier="page") == 0
        assert one.sample("slo_evidence_threshold", key, tier="page") > 1
    assert one.sample("alarm_active", TREND, tier="ticket") == 0
    assert one.sample("alarm_active", TREND, tier="page") is None
    assert one.sample("slo_evidence") == 0
    assert one.sample("stream_valid_ratio") is None
    feed(one, ["g", "g", "g", "e"])
    assert one.sample("stream_valid_ratio") == 0.75
    assert one.sample("slo_evidence") == one.standing().watch.value > 0


def test_what_cannot_be_watched_is_counted(reopen: Reopen) -> None:
    one = reopen()
    feed(one, ["h"] * 9, probe="burst")
    labels = {"env": "default", "target": "glm", "lane": "hard", "reason": "not_planned"}
    assert one.metrics.get_sample_value("davylamp_streams_not_watched", labels) == 1
    labels["reason"] = "tolerance"
    assert one.metrics.get_sample_value("davylamp_streams_not_watched", labels) == 0


def test_a_stream_that_was_taken_from_the_configuration_alarms_no_more(reopen: Reopen) -> None:
    feed(reopen(), ["t"] * 7)
    two = reopen({("tenant", "s"): 24.0})
    assert two.standing(TOLERATED).watch.alarm
    assert two.sample("alarm_active", TOLERATED, tier="page") is None
    two.watching.plan("glm", PLAN)
    assert two.sample("alarm_active", TOLERATED, tier="page") == 1
    # It was asked since the start: that the budget does not pay for it any more ends no alarm.
    two.watching.plan("glm", {("tenant", "s"): 24.0})
    assert two.sample("alarm_active", TOLERATED, tier="page") == 1


def test_damaged_states_begin_anew_and_loudly(
    reopen: Reopen, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    feed(reopen(), ["h", "h"])
    (place,) = [place for place in store.states if place[-1] == "hard"]
    store.states[place] = replace(store.states[place], state="{}", version=99)
    two = reopen()
    refused = {"env": "default"}
    assert two.metrics.get_sample_value("davylamp_detector_states_refused_total", refused) == 1
    assert "the evidence of glm canary short/c1/cold/plain/one hard begins anew" in caplog.text
    assert two.standing().watch.scored == 0
    feed(two, ["h"], start=2)
    assert reopen().standing().version == 100
    assert reopen().standing().watch.scored == 1


def test_facts_that_moved_are_a_verdict_and_one_finding(reopen: Reopen) -> None:
    one = reopen(GOLDEN)
    for number in range(30):
        one.sink.deliver(*moved(number))
        if one.told:
            break
    (verdict,) = one.told
    assert (verdict.source, verdict.verdict_class) == ("stream", VerdictClass.DRIFT)
    assert (verdict.outcome, verdict.trial, verdict.probe) == (Outcome.BAD, "", "golden")
    assert verdict.decided_at == one.standing(FACTS).alarmed_at
    (finding,) = one.findings.list_open()
    assert (finding.id, finding.shape) == (verdict.finding, "facts")
    assert one.sample("alarm_active", FACTS, tier="ticket") == 1


def test_an_alarm_that_is_over_leaves_its_finding_open(reopen: Reopen) -> None:
    one = reopen(GOLDEN)
    for number in range(30):
        one.sink.deliver(*moved(number))
    for number in range(30, 80):
        one.sink.deliver(*moved(number, status=Status.PASS))
    assert one.standing(FACTS).watch.alarm is None
    (finding,) = one.findings.list_open()
    assert finding.count == len(one.told)
    closed = one.findings.resolve(finding.id, "ann", "another model, on purpose", NOW)
    # Nothing waited for this: no shape is probed again.
    assert decided_line(closed, Decision.RESOLVE) == f"{finding.id} is resolved"


def test_answers_that_get_worse_are_a_trend_and_page_by_their_tolerance(reopen: Reopen) -> None:
    one = reopen()
    feed(one, ["t"] * 7)
    assert [verdict.shape for verdict in one.told] == ["trend"]
    assert [finding.shape for finding in one.findings.list_open()] == ["trend"]
    assert one.sample("alarm_active", TOLERATED, tier="page") == 1


def test_what_could_not_be_told_is_told_with_the_next_trial(reopen: Reopen) -> None:
    def refuse(verdict: Verdict) -> None:
        raise StoreError(verdict.id)

    one, told, moving = reopen(), [], [judged("t", number=number) for number in range(9)]
    with pytest.raises(StoreError):
        list(starmap(one.watching.take, [(*each, refuse) for each in moving]))
    one.watching.take(*judged("g", number=10), told.append)
    assert [verdict.shape for verdict in told] == ["trend"]


def test_an_alarm_that_a_person_ends_is_over_and_kept_or_goes_on(
    reopen: Reopen, store: MemoryStore
) -> None:
    one = reopen()
    feed(one, ["t"] * 7)
    ending = Ending(target="glm", who="ann", why="a known fault", lane=Lane.TOLERATED)
    store.full = True
    with pytest.raises(StoreError):
        one.watching.end(ending)
    assert one.standing(TOLERATED).watch.alarm
    store.full = False
    assert one.watching.end(ending) == TOLERATED
    assert one.standing(TOLERATED).watch.alarm is None
    assert one.sample("alarm_active", TOLERATED, tier="page") == 0
    assert reopen().standing(TOLERATED).watch == one.standing(TOLERATED).watch
    place = "glm canary short/c1/cold/plain/one tolerated"
    assert store.links == [("end_alarm", place, "ann", "hash of 13")]
    assert one.findings.list_open(), "a person closes that too"
    feed(one, ["t"] * 7, start=7)
    assert one.standing(TOLERATED).watch.alarm, "a fault that goes on is raised again"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "several alarms, say which by --probe, --stratum and --lane: glm canary"),
        ({"lane": Lane.HARD}, "no such alarm"),
        ({"probe": "golden"}, "no such alarm"),
        ({"stratum": "long"}, "no such alarm"),
        ({"lane": Lane.TREND, "why": " "}, "say who ends the alarm and why"),
        ({"lane": Lane.TREND, "who": ""}, "say who ends the alarm and why"),
    ],
)
def test_only_one_alarm_is_ended_for_a_reason(
    reopen: Reopen, store: MemoryStore, asked: dict[str, Any], said: str
) -> None:
    one = reopen()
    feed(one, ["t"] * 7)
    ending = {"target": "glm", "who": "ann", "why": "known"} | asked
    with pytest.raises(UsageError, match=said):
        one.watching.end(Ending(**ending))
    assert one.standing(TOLERATED).watch.alarm
    assert store.links == []


class Refusing:
    """A sink that has no room for the first verdict it is given."""

    def __init__(self) -> None:
        self.asked: list[Verdict] = []

    def deliver(self, _trial: Trial, verdict: Verdict) -> None:
        self.asked.append(verdict)
        if len(self.asked) == 1:
            raise StoreError(verdict.id)

    def close(self) -> None: ...


def test_a_sink_that_fails_has_no_verdict_filed_or_told_twice(reopen: Reopen) -> None:
    one, refusing = reopen(), Refusing()
    sink = WatchingSink(one.watching, one.findings, [one, refusing])
    with pytest.raises(StoreError):
        list(starmap(sink.deliver, [judged("t", number=number) for number in range(9)]))
    sink.deliver(*judged("g", number=10))
    (verdict,) = one.told
    assert refusing.asked == [verdict, verdict]
    (finding,) = one.findings.list_open()
    assert (finding.id, finding.count) == (verdict.finding, 1)


def test_a_judge_that_contradicts_its_labels_is_a_ticket_and_no_verdict(tmp_path: Path) -> None:
    judge = deepcopy(TARGET) | {"name": "judge", "model": "another", "probes": "quick"}
    settings = {"targets": [TARGET, judge], "checks": {"judge": {"target": "judge"}}}
    store = MemoryStore()
    one = Opened(store, config_of(tmp_path, **settings), GOLDEN)
    item = labelled_items()[0]
    for _ in range(40):
        score = item_score("judge", item, Said.WRONG if item.right else Said.RIGHT)
        one.watching.take_item(score)
    assert one.standing(score.key).watch.alarm.tier is Tier.TICKET
    assert (one.told, store.puts) == ([], [])  # nobody waited for the disk
    one.sink.close()
    assert [row.detector for row in store.states.values()] == ["judge"]


def test_what_has_no_room_is_kept_later(reopen: Reopen, store: MemoryStore) -> None:
    one = reopen()
    feed(one, ["h"])
    store.full = True
    feed(one, ["h", "g"], start=1)
    assert reopen().standing().watch.scored == 1
    store.full = False
    one.sink.close()
    assert reopen().standing().watch.scored == 3
    many = len(store.puts)
    one.sink.close()
    assert len(store.puts) == many


def test_a_new_start_makes_the_next_exchange_the_first(reopen: Reopen) -> None:
    one = reopen()
    feed(one, ["ggg", "ggg"])
    assert reopen().standing(TREND).sent == 6
    one.watching.started("glm")
    feed(one, ["g"], start=2)
    assert one.standing(TREND).sent == 1
    feed(reopen(), ["g"], start=3)
    assert reopen().standing(TREND).sent == 2


def test_no_answer_is_in_what_is_kept_or_said(
    reopen: Reopen, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        one = reopen()
        for number in range(8):
            trial, verdict = judged("h", number=number)
            secret = an_exchange(prompt="planted-question", answer="planted-answer")
            one.sink.deliver(replace(trial, exchanges=(secret,)), verdict)
    assert store.states
    assert one.told
    assert "planted" not in repr((store.states, one.told)) + caplog.text
