"""The monitor's own state, read when somebody scrapes: writer, budgets, open findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import Metric

from monitor import conventions as names
from monitor.budget import Remaining
from monitor.conventions import DropReason
from monitor.conventions.families import family_of
from monitor.conventions.pages import Route, Severity
from monitor.findings import Finding, FindingState
from monitor.model import VerdictClass
from monitor.store import WriterStats


@dataclass(frozen=True, slots=True, kw_only=True)
class Blindness:
    """Which checks misjudged a specimen, and when that was last tried; never if ``None``."""

    checks: frozenset[str] = frozenset()
    tried_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCollector:
    """A collector to register: asks its functions at every scrape.

    Findings are 0, not absent, for every class, state and severity of ``targets`` that there can
    be, and so is the blindness of every check.
    """

    env: str
    targets: tuple[str, ...]
    writer: Callable[[], WriterStats]
    budgets: Callable[[], Iterable[Remaining]]
    findings: Callable[[], Iterable[Finding]]
    severity: Callable[[Finding], Severity]
    severities: Callable[[VerdictClass, FindingState], tuple[Severity, ...]]
    route: Callable[[VerdictClass], Route]
    checks: tuple[str, ...]
    blind: Callable[[], Blindness]
    links: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Return the families as they stand now."""
        yield from self._writer()
        remaining, exhausted = family_of(names.BUDGET_REMAINING), family_of(names.BUDGET_EXHAUSTED)
        for left in self.budgets():
            labels = (self.env, left.target, left.kind)
            remaining.add_metric(labels, left.ratio)
            exhausted.add_metric(labels, float(left.exhausted))
        yield remaining
        yield exhausted
        yield self._findings()
        links = family_of(names.AUDIT_LINKS)
        links.add_metric((self.env,), self.links())
        yield links
        yield from self._blindness()

    def _blindness(self) -> Iterator[Metric]:
        found, family = self.blind(), family_of(names.CHECK_BLIND)
        for check in self.checks:
            family.add_metric((self.env, check), float(check in found.checks))
        yield family
        tried = family_of(names.SELF_TEST_TIME)
        tried.add_metric((self.env,), found.tried_at.timestamp() if found.tried_at else 0.0)
        yield tried

    def _writer(self) -> Iterator[Metric]:
        stats = self.writer()
        for metric, level in (
            (names.WRITER_QUEUE, stats.queued_rows),
            (names.SPOOL_BYTES, stats.spool_bytes),
            (names.SPOOL_LIMIT, stats.spool_limit_bytes),
            (names.SPOOL_AGE, stats.oldest_seconds),
        ):
            gauge = family_of(metric)
            gauge.add_metric((self.env,), level)
            yield gauge
        for metric, count in (
            (names.WRITER_WRITTEN, stats.written_rows),
            (names.WRITER_FAILURES, stats.failed_inserts),
        ):
            family = family_of(metric)
            family.add_metric((self.env,), count)
            yield family
        dropped = family_of(names.WRITER_DROPPED)
        for reason in DropReason:
            dropped.add_metric((self.env, reason.value), stats.dropped_rows.get(reason, 0))
        yield dropped

    def _findings(self) -> Metric:
        count = Counter(
            (f.target, f.verdict_class, f.state, self.severity(f))
            for f in self.findings()
            if f.is_open
        )
        kinds = [
            (verdict_class, state, severity)
            for verdict_class in VerdictClass
            if verdict_class is not VerdictClass.NONE
            for state in (FindingState.NEEDS_REVIEW, FindingState.CONFIRMED)
            for severity in self.severities(verdict_class, state)
        ]
        family = family_of(names.FINDINGS_OPEN)
        for target in self.targets:
            for verdict_class, state, severity in kinds:
                said = (verdict_class.label, state.value, severity.value)
                labels = (self.env, target, *said, self.route(verdict_class).value)
                family.add_metric(labels, count[target, verdict_class, state, severity])
        return family
