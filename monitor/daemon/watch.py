"""A sink that watches what every trial says of its target: has it changed, is it under strain?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from monitor.clock import Clock
from monitor.conventions import ChangeKind
from monitor.daemon.backoff import ASKED_TO_WAIT, Backoff
from monitor.daemon.changes import Changes, Seen
from monitor.daemon.latency import Latency
from monitor.daemon.standing import LastVerdicts
from monitor.model import Exchange, Trial, Verdict


@dataclass(slots=True)
class _Watched:
    backoff: Backoff = field(default_factory=Backoff)
    latency: Latency = field(default_factory=Latency)
    fingerprint: Seen = field(default_factory=Seen)
    model: Seen = field(default_factory=Seen)
    last_version: str = ""


class Watch:
    """Watches all targets; what is known of one begins with its first trial.

    ``verdicts`` are the last ones of its probes.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watched: dict[str, _Watched] = defaultdict(_Watched)
        self._changes: Changes | None = None
        self.verdicts = LastVerdicts()

    def report_to(self, changes: Changes) -> None:
        """Note changes there from now on."""
        self._changes = changes

    def backoff(self, target: str) -> Backoff:
        """Return what holds for a target; whoever reads its nodes sets its ``pressure``."""
        return self._of(target).backoff

    def note_version(self, target: str, version: str | None) -> None:
        """Take the version a target states; another than before is a change."""
        if not version:
            return
        watched = self._of(target)
        if watched.last_version and watched.last_version != version:
            self._note(target, ChangeKind.VERSION)
        watched.last_version = version

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Look at every exchange of a trial, and keep its verdict in mind."""
        self.verdicts.note(trial, verdict)
        for exchange in trial.exchanges:
            self._look(trial, exchange)

    def close(self) -> None:
        """Nothing to finish."""

    def _look(self, trial: Trial, exchange: Exchange) -> None:
        watched, now = self._of(trial.target), self._clock.monotonic()
        failure, response = exchange.failure, exchange.response
        if exchange.http_status in ASKED_TO_WAIT and not exchange.refused:
            asked = failure.retry_after_seconds if failure is not None else None
            watched.backoff.asked_to_wait(asked, now)
        if response is None or not exchange.whole:
            return
        if watched.fingerprint.note(response.system_fingerprint):
            self._note(trial.target, ChangeKind.FINGERPRINT)
        if watched.model.note(response.model):
            self._note(trial.target, ChangeKind.MODEL)
        first = exchange.timing.first_token_seconds
        if first is not None:
            tokens = response.usage.input_tokens or len(exchange.request.text()) // 4
            stratum = f"{trial.probe}/{trial.stratum}/{exchange.part.value}"
            if watched.latency.note(stratum, first, tokens) is not None:
                self._note(trial.target, ChangeKind.LATENCY)
        watched.backoff.answered(watched.latency.slowness(), now)

    def _note(self, target: str, kind: ChangeKind) -> None:
        if self._changes is not None:
            self._changes.note(target, kind, self._clock.now())

    def _of(self, target: str) -> _Watched:
        return self._watched[target]
