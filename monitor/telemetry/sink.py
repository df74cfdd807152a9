"""The sink that tells an OpenTelemetry collector, and never waits for it.

What is to be told is described at once, without text, and waits in a bounded queue for a thread
that sends it. What does not fit, and what the collector did not take, is lost and counted: the
store has all of it, and a collector that is away must cost neither probing nor memory. Metrics
are sums over the life of the process, so that a report that is lost is made good by the next.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from monitor.clock import Clock
from monitor.conventions.telemetry import TelemetryKind, TelemetryResult
from monitor.model import Trial, Verdict
from monitor.telemetry.describing import Describing
from monitor.telemetry.records import EventRecord, Measurement, SpanRecord, Told

log = logging.getLogger(__name__)

Count = Callable[[TelemetryKind, TelemetryResult, int], None]

BATCH = 500
METRICS_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many spans and events may wait, how often they are sent, and how long at the end."""

    most_waiting: int = 10_000
    send_seconds: float = 5.0
    close_seconds: float = 5.0


class Exporter(Protocol):
    """Whoever sends; see ``OtlpExporter``."""

    @property
    def trouble(self) -> str:
        """Why the last was not taken."""

    def send_spans(self, records: Sequence[SpanRecord]) -> bool:
        """Send spans; true if they were taken."""

    def send_events(self, records: Sequence[EventRecord]) -> bool:
        """Send events; true if they were taken."""

    def measure(self, measurements: Sequence[Measurement]) -> None:
        """Add to what ``send_metrics`` sends."""

    def send_metrics(self) -> bool:
        """Send all metrics as they stand; true if they were taken."""

    def close(self) -> None:
        """Send no more, and stop trying again."""


class TelemetrySink:
    """Tells a collector of every verdict, later; ``kinds`` are what it is told.

    ``count`` is told what became of spans, events and reports of metrics.
    """

    def __init__(
        self,
        exporter: Exporter,
        describing: Describing,
        *,
        kinds: frozenset[TelemetryKind],
        clock: Clock,
        count: Count,
        limits: Limits | None = None,
    ) -> None:
        self._exporter = exporter
        self._describing = describing
        self._kinds = kinds
        self._clock = clock
        self._count = count
        self._limits = limits or Limits()
        self._queue: deque[Told] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._closing = False
        self._away: dict[TelemetryKind, bool] = {}
        self._metrics_due = clock.monotonic() + METRICS_SECONDS
        # A daemon: a collector that hangs must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Take a verdict to tell; it is measured at once, and may be lost otherwise."""
        told = self._describing.told(trial, verdict)
        if TelemetryKind.METRICS in self._kinds:
            self._exporter.measure(told.measurements)
        told = Told(
            spans=told.spans if TelemetryKind.SPANS in self._kinds else (),
            events=told.events if TelemetryKind.EVENTS in self._kinds else (),
        )
        if not self._put(told):
            self._drop([told])

    def close(self) -> None:
        """Send what waits, for a few seconds at most; what is left is lost and counted."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
        self._thread.join(self._limits.close_seconds)
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
            self._waiting = 0
        self._drop(left)
        self._exporter.close()

    def _put(self, told: Told) -> bool:
        size = _size(told)
        with self._changed:
            if self._closing or self._waiting + size > self._limits.most_waiting:
                return False
            if size:
                self._queue.append(told)
                self._waiting += size
            if self._waiting >= BATCH:
                self._changed.notify_all()
            return True

    def _work(self) -> None:
        try:
            self._go_on()
        finally:
            if not self._closing:
                log.error(
                    "nothing is sent to the collector any more: the thread that sends ended by an "
                    "error, which is on stderr; restart to send again"
                )

    def _go_on(self) -> None:
        ending = False
        while not ending:
            batch, ending = self._next()
            self._send(batch)
            if TelemetryKind.METRICS in self._kinds and (ending or self._metrics_are_due()):
                self._note(TelemetryKind.METRICS, self._exporter.send_metrics(), 1)

    def _metrics_are_due(self) -> bool:
        now = self._clock.monotonic()
        if now < self._metrics_due:
            return False
        self._metrics_due = now + METRICS_SECONDS
        return True

    def _next(self) -> tuple[list[Told], bool]:
        """Wait for work; return it, and whether it is the last."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closing or self._waiting >= BATCH, self._limits.send_seconds
            )
            batch: list[Told] = []
            size = 0
            while self._queue and size < BATCH:
                batch.append(self._queue.popleft())
                size += _size(batch[-1])
            self._waiting -= size
            return batch, self._closing and not self._queue

    def _send(self, batch: Sequence[Told]) -> None:
        spans = list(chain.from_iterable(told.spans for told in batch))
        events = list(chain.from_iterable(told.events for told in batch))
        if spans:
            self._note(TelemetryKind.SPANS, self._exporter.send_spans(spans), len(spans))
        if events:
            self._note(TelemetryKind.EVENTS, self._exporter.send_events(events), len(events))

    def _note(self, kind: TelemetryKind, taken: bool, number: int) -> None:
        """Count what was sent or lost; that the collector went away or came back is said once."""
        self._count(kind, TelemetryResult.SENT if taken else TelemetryResult.FAILED, number)
        was_away = self._away.get(kind, False)
        self._away[kind] = not taken
        if not taken and not was_away:
            log.warning(
                "the collector takes no %s: %s (what is lost is counted, and said no more)",
                kind.value,
                self._exporter.trouble,
            )
        elif taken and was_away:
            log.info("the collector takes %s again", kind.value)

    def _drop(self, told: Sequence[Told]) -> None:
        for kind, number in (
            (TelemetryKind.SPANS, sum(len(each.spans) for each in told)),
            (TelemetryKind.EVENTS, sum(len(each.events) for each in told)),
        ):
            if number:
                self._count(kind, TelemetryResult.DROPPED, number)


def _size(told: Told) -> int:
    return len(told.spans) + len(told.events)
