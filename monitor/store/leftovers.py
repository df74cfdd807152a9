"""Segments as files, and what a process that ended without writing them left in the folder."""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from stat import S_ISREG

from monitor.clock import Clock
from monitor.store.segment import Piece, UnreadableError, decoded, pieces

log = logging.getLogger(__name__)

QUARANTINE = "quarantine"
_NAME = re.compile(r"(?P<stem>(?P<sequence>\d{16})-[0-9a-f]{16})(?:\.open|-(?P<rows>\d+)\.rows)")


@dataclass(slots=True, kw_only=True, eq=False)
class Segment:
    """A file of lines; ``since`` is when its first row was put, on the clock's monotonic scale."""

    path: Path
    stem: str
    sequence: int
    since: float
    rows: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a spool holds, seen from outside: nothing is changed, and its owner may be at work.

    ``segments`` files wait, the oldest for ``seconds`` since its last line; so many files are
    ``laid_aside``.
    """

    segments: int
    seconds: float
    laid_aside: int


def waiting_in(directory: Path, now: datetime) -> Waiting:
    """Look into a spool. Raises ``OSError`` if it cannot be read."""
    ages = []
    for path in directory.iterdir():
        if _NAME.fullmatch(path.name):
            with suppress(FileNotFoundError):
                found = path.stat()
                if found.st_size and S_ISREG(found.st_mode):
                    ages.append(max(now.timestamp() - found.st_mtime, 0.0))
    return Waiting(
        segments=len(ages),
        seconds=max(ages, default=0.0),
        laid_aside=sum(1 for _ in (directory / QUARANTINE).iterdir()),
    )


def open_name(stem: str) -> str:
    """Return the name of a segment that is appended to."""
    return f"{stem}.open"


def sealed_name(stem: str, rows: int) -> str:
    """Return the name of a segment that is whole."""
    return f"{stem}-{rows}.rows"


def left_behind(directory: Path, clock: Clock) -> list[Segment]:
    """Return the segments in a folder, oldest first.

    One that was appended to when its process died loses the line that was never finished. Raises
    ``OSError`` if the disk refuses.
    """
    found = []
    for path in sorted(directory.iterdir()):
        name = _NAME.fullmatch(path.name)
        if name is None or not path.is_file():
            if path.name != QUARANTINE:
                log.warning("%s: not a file of the spool, left alone", path)
            continue
        segment = Segment(
            path=path,
            stem=name["stem"],
            sequence=int(name["sequence"]),
            since=clock.monotonic(),
            rows=int(name["rows"] or 0),
            size=path.stat().st_size,
        )
        if name["rows"] is None:
            _mend(segment)
        if segment.size:
            segment.since -= _age_seconds(segment, clock)
            found.append(segment)
        else:
            path.unlink()
    return sorted(found, key=lambda segment: segment.sequence)


def _mend(segment: Segment) -> None:
    """Cut off a last line that was never finished, hence never promised to anybody."""
    found = list(pieces(segment.path.read_bytes()))
    last = found[-1] if found else None
    if last and not last.whole and not last.content.endswith(b"\n"):
        log.warning(
            "%s: %d bytes of a line that was never finished are cut off",
            segment.path,
            len(last.content),
        )
        os.truncate(segment.path, last.start)
        segment.size = last.start
        found.pop()
    segment.rows = sum(_rows_in(piece) for piece in found)


def _age_seconds(segment: Segment, clock: Clock) -> float:
    """Return for how long its first row has waited; 0 if the clock was put back since."""
    with segment.path.open("rb") as file:
        first = next(pieces(file.readline()))
    try:
        return max((clock.now() - decoded(first).at).total_seconds(), 0.0)
    except UnreadableError:
        return 0.0


def _rows_in(piece: Piece) -> int:
    """Return how many rows a piece holds, 1 where that cannot be told."""
    try:
        return decoded(piece).rows
    except UnreadableError:
        return 1
