"""Streams as rows of ``detector_states``, and back: strictly, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.detect import plain
from monitor.detect.kept import text_of, watch_of
from monitor.detect.watch import REMEMBERED, held_to
from monitor.model import Lane
from monitor.store.rows import DetectorStateRow
from monitor.streams import StreamKey
from monitor.watching.standing import Standing
from monitor.watching.tolerances import HeldBy

VERSION = 1
_NAMES = ("version", "checks", "held_by", "failed", "failed_at", "onset_at", "sent", "watch")
# 31 December 9999, in milliseconds.
_LAST = 253_402_214_400_000
_NO_THRESHOLD = 0.0


def row_of(standing: Standing, checks_version: str, now: datetime) -> DetectorStateRow:
    """Return the row that keeps a stream as it stands."""
    key, watch = standing.key, standing.watch
    limits = [each for each in (watch.thresholds.ticket, watch.thresholds.page) if each is not None]
    head = {
        "version": VERSION,
        "checks": checks_version,
        "held_by": standing.held_by.value,
        "failed": standing.failed,
        "failed_at": [_milliseconds(at) for at in standing.failed_at],
        "onset_at": _milliseconds(standing.onset_at) if standing.onset_at else None,
        "sent": standing.sent,
    }
    # The watch is JSON already, to the last digit.
    state = f'{json.dumps(head, separators=(",", ":"))[:-1]},"watch":{text_of(watch)}}}'
    return DetectorStateRow(
        detector=key.lane.value,
        target=key.target,
        probe=key.probe,
        stratum=key.stratum,
        version=standing.version,
        changed_at=standing.changed_at or now,
        evidence=watch.value,
        threshold=min(limits, default=_NO_THRESHOLD),
        alarmed_at=standing.alarmed_at,
        state=state,
    )


def key_of(row: DetectorStateRow) -> StreamKey:
    """Return which stream a row is of. Raises ``ValueError`` for a lane that is not known."""
    lane = Lane(row.detector)
    return StreamKey(target=row.target, lane=lane, probe=row.probe, stratum=row.stratum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that cannot be read, and why. Its stream goes on from its version."""

    row: DetectorStateRow
    why: str

    @property
    def key(self) -> StreamKey | None:
        """Which stream it is of; ``None`` if its lane is not known either."""
        known = self.row.detector in tuple(Lane)
        return key_of(self.row) if known else None


def read(
    rows: Iterable[DetectorStateRow], checks_version: str
) -> tuple[list[Standing], list[Refused]]:
    """Return the streams that rows keep, and the rows that keep none."""
    found, refused = [], []
    for row in rows:
        try:
            found.append(standing_of(row, checks_version))
        except ValueError as error:
            refused.append(Refused(row=row, why=str(error)))
    return found, refused


def standing_of(row: DetectorStateRow, checks_version: str) -> Standing:
    """Return the stream that a row keeps.

    If other checks judged it, its evidence begins anew: it was about another question. Raises
    ``ValueError`` for anything that ``row_of`` does not write.
    """
    try:
        kept = json.loads(row.state)
    except (ValueError, RecursionError) as error:
        raise ValueError("not the state of a stream: no JSON") from error
    kept = plain.record(kept, *_NAMES)
    if kept["version"] != VERSION:
        raise ValueError(f"not the state of a stream of version {VERSION}")
    key, watch = key_of(row), watch_of(json.dumps(kept["watch"]))
    failed_at = tuple(_instant(at) for at in plain.items(kept["failed_at"], most=REMEMBERED))
    if watch.by_age != (key.lane is Lane.TREND) or len(failed_at) != len(watch.failures):
        raise ValueError("not the state of this stream")
    failed = plain.count(kept["failed"], low=len(watch.failures), high=watch.scored)
    if (watch.alarm is None) != (row.alarmed_at is None):
        raise ValueError("not the state of a stream: when it alarmed contradicts that it did")
    if kept["checks"] != checks_version:
        watch = held_to(watch, watch.y0)
    return Standing(
        key=key,
        watch=watch,
        held_by=HeldBy(kept["held_by"]),
        version=row.version,
        changed_at=row.changed_at,
        failed=failed,
        failed_at=failed_at,
        alarmed_at=row.alarmed_at,
        onset_at=None if kept["onset_at"] is None else _instant(kept["onset_at"]),
        sent=plain.count(kept["sent"]),
    )


def _milliseconds(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def _instant(value: object) -> datetime:
    return datetime.fromtimestamp(plain.count(value, high=_LAST) / 1000, UTC)
