"""The sink never waits: what is queued, sent, lost and counted, and how it ends."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from monitor.conventions.telemetry import TelemetryKind, TelemetryResult
from monitor.telemetry.records import EventRecord, Measurement, SpanRecord
from monitor.telemetry.sink import BATCH, METRICS_SECONDS, Exporter, Limits, TelemetrySink
from tests.fakes.collector import collecting
from tests.unit.daemon.installed import ManualClock
from tests.unit.store.samples import trial, verdict
from tests.unit.telemetry.telling import describing, exporter

ALL = frozenset(TelemetryKind)
SPANS, EVENTS, METRICS = TelemetryKind.SPANS, TelemetryKind.EVENTS, TelemetryKind.METRICS
SENT, FAILED, DROPPED = TelemetryResult.SENT, TelemetryResult.FAILED, TelemetryResult.DROPPED
QUICK = Limits(send_seconds=0.01)
Counts = Counter[tuple[TelemetryKind, TelemetryResult]]


class Taken:
    """An exporter that keeps what it is given, refuses, or waits until it is let go on."""

    trouble = "HTTP 503"

    def __init__(self) -> None:
        self.takes = True
        self.spans: list[SpanRecord] = []
        self.events: list[EventRecord] = []
        self.measured: list[Measurement] = []
        self.reports = 0
        self.closed = 0
        self.largest = 0
        self.go_on = threading.Event()
        self.go_on.set()
        self.entered = threading.Event()

    def send_spans(self, records: Sequence[SpanRecord]) -> bool:
        self.entered.set()
        self.go_on.wait(30)
        self.largest = max(self.largest, len(records))
        self.spans += records if self.takes else ()
        return self.takes

    def send_events(self, records: Sequence[EventRecord]) -> bool:
        self.events += records if self.takes else ()
        return self.takes

    def measure(self, measurements: Sequence[Measurement]) -> None:
        self.measured += measurements

    def send_metrics(self) -> bool:
        self.reports += 1
        return self.takes

    def close(self) -> None:
        self.closed += 1
        self.go_on.set()


def sink_over(
    taken: Exporter,
    counts: Counts,
    *,
    kinds: frozenset[TelemetryKind] = ALL,
    clock: ManualClock | None = None,
    limits: Limits | None = None,
) -> TelemetrySink:
    sink = TelemetrySink(
        taken,
        describing(),
        kinds=kinds,
        clock=clock or ManualClock(),
        count=lambda kind, result, number: counts.update({(kind, result): number}),
        limits=limits,
    )
    sink.start()
    return sink


def test_what_waits_is_sent_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    taken, counts = Taken(), Counts()
    caplog.set_level(logging.INFO, logger="monitor.telemetry")
    sink = sink_over(taken, counts)
    for number in range(4):
        sink.deliver(trial(number), verdict(number))
    sink.close()
    assert (len(taken.spans), len(taken.events)) == (12, 4)
    assert [each.attributes["davylamp.trial"] for each in taken.events] == [
        f"trial-glm-{number}" for number in range(4)
    ]
    assert counts == {(SPANS, SENT): 12, (EVENTS, SENT): 4, (METRICS, SENT): 1}
    sink.close()
    assert taken.closed == 1
    assert not caplog.records


def test_a_verdict_is_measured_at_once() -> None:
    taken, counts = Taken(), Counts()
    taken.go_on.clear()
    sink = sink_over(taken, counts)
    sink.deliver(trial(), verdict())
    assert len(taken.measured) == 8
    taken.go_on.set()
    sink.close()


@pytest.mark.parametrize("kind", list(TelemetryKind))
def test_only_what_is_wanted_is_told(kind: TelemetryKind) -> None:
    taken, counts = Taken(), Counts()
    sink = sink_over(taken, counts, kinds=frozenset({kind}))
    sink.deliver(trial(), verdict())
    sink.close()
    assert bool(taken.spans) == (kind is SPANS)
    assert bool(taken.events) == (kind is EVENTS)
    assert bool(taken.measured) == bool(taken.reports) == (kind is METRICS)
    assert {found for found, _ in counts} == {kind}


def test_what_does_not_fit_is_lost_and_counted_while_the_collector_hangs() -> None:
    taken, counts = Taken(), Counts()
    taken.go_on.clear()
    sink = sink_over(taken, counts, limits=replace(QUICK, most_waiting=8))
    sink.deliver(trial(0), verdict(0))
    assert taken.entered.wait(30)
    for number in range(1, 6):
        sink.deliver(trial(number), verdict(number))
    assert counts == {(SPANS, DROPPED): 9, (EVENTS, DROPPED): 3}
    taken.go_on.set()
    sink.close()
    assert counts[SPANS, SENT] == 9
    assert counts[EVENTS, SENT] == 3


def test_a_collector_that_hangs_does_not_keep_the_end_waiting() -> None:
    taken, counts = Taken(), Counts()
    taken.go_on.clear()
    sink = sink_over(taken, counts, limits=replace(QUICK, close_seconds=0.05))
    sink.deliver(trial(0), verdict(0))
    assert taken.entered.wait(30)
    sink.deliver(trial(1), verdict(1))
    sink.close()
    assert counts == {(SPANS, DROPPED): 3, (EVENTS, DROPPED): 1}
    assert taken.closed == 1
    sink.deliver(trial(2), verdict(2))
    assert counts[SPANS, DROPPED] == 6


def test_a_full_batch_does_not_wait_and_batches_stay_small() -> None:
    taken, counts = Taken(), Counts()
    sink = sink_over(taken, counts, limits=Limits(send_seconds=60.0))
    for number in range(BATCH // 2):
        sink.deliver(trial(number), verdict(number))
    assert taken.entered.wait(30)
    sink.close()
    assert counts[SPANS, SENT] == 3 * (BATCH // 2)
    assert taken.largest <= BATCH


def test_metrics_are_reported_once_a_minute() -> None:
    clock, reported = ManualClock(), threading.Event()

    class Reporting(Taken):
        def send_metrics(self) -> bool:
            reported.set()
            return super().send_metrics()

    taken = Reporting()
    sink = sink_over(taken, Counts(), clock=clock, limits=QUICK)
    clock.move(METRICS_SECONDS - 1)
    assert not reported.wait(0.1)
    clock.move(1)
    assert reported.wait(30)
    sink.close()
    assert taken.reports == 2


def test_that_a_collector_goes_and_comes_back_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken, counts = Taken(), Counts()
    taken.takes = False
    with caplog.at_level(logging.INFO, logger="monitor.telemetry"):
        sink = sink_over(taken, counts, kinds=frozenset({SPANS}), limits=QUICK)
        for number in range(3):
            taken.entered.clear()
            sink.deliver(trial(number), verdict(number))
            assert taken.entered.wait(30)
        taken.takes = True
        sink.deliver(trial(4), verdict(4))
        sink.close()
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("the collector takes no spans: HTTP 503")
    assert said[1:] == ["the collector takes spans again"]
    assert counts[SPANS, SENT] + counts[SPANS, FAILED] == 12


def test_that_the_thread_ends_by_an_error_is_said(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: ended.set())

    class Breaking(Taken):
        def send_spans(self, records: Sequence[SpanRecord]) -> bool:
            raise RuntimeError(str(len(records)))

    counts = Counts()
    sink = sink_over(Breaking(), counts, limits=QUICK)
    sink.deliver(trial(0), verdict(0))
    assert ended.wait(30)
    sink.deliver(trial(1), verdict(1))
    (said,) = (each for each in caplog.records if each.name == "monitor.telemetry.sink")
    assert said.levelname == "ERROR"
    assert said.getMessage().startswith("nothing is sent to the collector any more")
    sink.close()
    assert counts == {(SPANS, DROPPED): 3, (EVENTS, DROPPED): 1}


def test_over_a_real_collector_that_comes_back_nothing_delivered_later_is_lost() -> None:
    counts = Counts()
    with collecting() as collector:
        collector.status = 500
        sink = sink_over(exporter(collector), counts, limits=QUICK)
        sink.deliver(trial(0), verdict(0))
        collector.until(lambda: len(collector.paths) >= 2)
        collector.status = 200
        sink.deliver(trial(1), verdict(1))
        sink.close()
        assert len(collector.spans) == 3
        (metric,) = (
            m for n, m in collector.metrics.items() if n == "gen_ai.client.inference.duration"
        )
        (point,) = metric.histogram.data_points
        assert point.count == 4, "metrics are made good"
    assert counts[SPANS, FAILED] == counts[SPANS, SENT] == 3
