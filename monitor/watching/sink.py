"""The sink that watches streams: trials are scored, and verdicts of streams are filed and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monitor.findings import Findings
from monitor.model import Trial, Verdict
from monitor.sinks.base import Sink, no_trial
from monitor.watching.flow import Watching


class WatchingSink:
    """Hands verdicts to what watches; the verdict of a stream that moved goes the way of others.

    It joins a finding, or opens one, and ``others`` are told: give those that are told of trials.
    """

    def __init__(self, watching: Watching, findings: Findings, others: Sequence[Sink]) -> None:
        self._watching = watching
        self._findings = findings
        self._others = tuple(others)
        self._filed: Verdict | None = None
        self._left: list[Sink] = []

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Have a verdict scored, and tell of each stream that moved by it."""
        self._watching.take(trial, verdict, self._tell)

    def close(self) -> None:
        """Have kept what is left to be kept."""
        self._watching.close()

    def _tell(self, verdict: Verdict) -> None:
        """File a verdict once, and tell who was not told: after a failure it is given again."""
        if self._filed is None or self._filed.id != verdict.id:
            finding = self._findings.record(verdict)
            self._filed = replace(verdict, finding=finding.id if finding else None)
            self._left = list(self._others)
        while self._left:
            self._left[0].deliver(no_trial(self._filed), self._filed)
            del self._left[0]
