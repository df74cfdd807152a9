"""Where one stream stands: its watch, and the instants that a watch does not know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.conventions.streams import NotWatched
from monitor.detect.watch import REMEMBERED, Watch
from monitor.streams import StreamKey
from monitor.watching.tolerances import HeldBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A stream after its last score.

    ``version`` counts its changes, the last of them at ``changed_at`` (``None`` before the first).
    In all ``failed`` scores something failed; ``failed_at`` are the instants of ``watch.failures``,
    the last of these. An alarm was raised at ``alarmed_at``, and what it is about began at about
    ``onset_at``. ``sent`` is how many exchanges the target had been sent since its start, as far as
    seen. ``held_by`` says who set ``watch.y0``, ``not_watched`` why it cannot raise an alarm, if it
    cannot. It is ``asked`` if it was planned, or took a score, since the start.
    """

    key: StreamKey
    watch: Watch
    held_by: HeldBy
    version: int = 0
    changed_at: datetime | None = None
    failed: int = 0
    failed_at: tuple[datetime, ...] = ()
    alarmed_at: datetime | None = None
    onset_at: datetime | None = None
    sent: int = 0
    not_watched: NotWatched | None = None
    asked: bool = False

    def after(self, watch: Watch, now: datetime, *, sent: int) -> Standing:
        """Return the standing with the next watch, as of ``now``."""
        failed, failed_at = self.failed, self.failed_at
        if watch.failures and watch.failures[-1] > self.watch.scored:
            failed, failed_at = failed + 1, (*failed_at, now)[-REMEMBERED:]
        alarmed_at, onset_at = self.alarmed_at, self.onset_at
        if watch.alarm is None:
            alarmed_at = onset_at = None
        elif self.watch.alarm is None:
            alarmed_at, onset_at = now, _instant_of(watch, watch.alarm.began, failed_at)
        return Standing(
            key=self.key,
            watch=watch,
            held_by=self.held_by,
            version=self.version + 1,
            changed_at=now,
            failed=failed,
            failed_at=failed_at,
            alarmed_at=alarmed_at,
            onset_at=onset_at,
            sent=sent,
            not_watched=self.not_watched,
            asked=True,
        )


def _instant_of(watch: Watch, number: int, failed_at: tuple[datetime, ...]) -> datetime | None:
    """Return when the first failure from that score on came: a move begins with a failure."""
    known = zip(watch.failures, failed_at, strict=True)
    return next((at for failure, at in known if failure >= number), None)
