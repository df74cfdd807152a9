"""Rows on this machine's disk until the database has them.

A segment is a file ``{sequence}-{random}.open`` while lines are appended to it, then
``{sequence}-{random}-{rows}.rows`` and never changed again. Its random part names the block that is
written of it, so that a folder begun anew never repeats a name. What ``put`` returned from is on
the disk: threads that put at the same time wait for one fsync together.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import secrets
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from monitor.clock import Clock
from monitor.errors import StoreError
from monitor.store.leftovers import QUARANTINE, Segment, left_behind, open_name, sealed_name
from monitor.store.segment import Piece, pieces

log = logging.getLogger(__name__)

# A segment becomes one block: as large as is quickly held and written.
_SEGMENT_BYTES, _SEGMENT_ROWS = 8_000_000, 20_000
_OWNER_ONLY_FOLDER, _OWNER_ONLY = 0o700, 0o600
_NO_ROOM_ON_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
_LOOK_AGAIN_SECONDS = 0.2


class FullError(StoreError):
    """There is no room for more rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterLimits:
    """How the writer batches, how much may wait on disk, and how long it waits before it gives up.

    ``room_seconds`` is how long a ``put`` of rows that must not be dropped waits for room.
    ``patience_seconds`` is how long ``run`` waits for what was put before, and how long ``close``
    and the start go on trying a database that refuses. ``answer_seconds`` is how long a database on
    a server may take to answer before it counts as refusing. ``fsync`` is whether ``put`` waits for
    the disk.
    """

    batch_rows: int = 1000
    batch_seconds: float = 1.0
    max_bytes: int = 1_024_000_000
    fsync: bool = True
    room_seconds: float = 5.0
    patience_seconds: float = 20.0
    answer_seconds: int = 15


@dataclass(slots=True, kw_only=True, eq=False)
class _Open(Segment):
    """The segment that is appended to; ``synced`` bytes of it are on the disk."""

    descriptor: int
    synced: int = 0
    synced_rows: int = 0
    syncing: bool = False
    error: str = field(default="")


class Spool:
    """Takes lines from any thread; one thread reads and removes segments, oldest first.

    ``changed`` guards everything in it, and is notified when the first row of a segment was put or
    so many that it should be written, and whenever one was sealed or removed.
    """

    def __init__(self, directory: Path, clock: Clock, limits: WriterLimits) -> None:
        lock = threading.RLock()
        self.changed = threading.Condition(lock)
        # Of the same lock: who waits for the disk is not woken by others' rows.
        self._synced = threading.Condition(lock)
        self._directory = directory
        self._clock = clock
        self._limits = limits
        self._sealed: deque[Segment] = deque()
        self._open: _Open | None = None
        self._last = 0
        self._closed = False

    @classmethod
    def opened(cls, directory: Path, clock: Clock, limits: WriterLimits) -> Spool:
        """Open the folder, made if need be, with what an earlier process left in it.

        Raises ``StoreError`` if the folder cannot be used.
        """
        spool = cls(directory, clock, limits)
        try:
            for folder in (directory, directory / QUARANTINE):
                folder.mkdir(mode=_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
                folder.chmod(_OWNER_ONLY_FOLDER)
            spool._sealed.extend(left_behind(directory, clock))
        except OSError as error:
            raise spool._unusable(error) from error
        spool._last = max((segment.sequence for segment in spool._sealed), default=0)
        return spool

    # What waits.

    @property
    def sealed(self) -> int:
        """How many segments wait to be written."""
        return len(self._sealed)

    @property
    def last_sealed(self) -> int:
        """The sequence of the youngest of them, 0 if there is none."""
        return self._sealed[-1].sequence if self._sealed else 0

    @property
    def open_rows(self) -> int:
        """How many rows the segment under way holds."""
        return self._open.rows if self._open else 0

    @property
    def rows(self) -> int:
        """How many rows wait."""
        with self.changed:
            return sum(segment.rows for segment in self._all())

    @property
    def size(self) -> int:
        """How many bytes wait."""
        with self.changed:
            return sum(segment.size for segment in self._all())

    def age_seconds(self) -> float:
        """Return for how long the oldest row has waited."""
        with self.changed:
            now = self._clock.monotonic()
            return max((now - segment.since for segment in self._all()), default=0.0)

    def oldest(self) -> Segment | None:
        """Return the segment to write next."""
        with self.changed:
            return self._sealed[0] if self._sealed else None

    def _all(self) -> Iterator[Segment]:
        yield from self._sealed
        if self._open is not None and self._open.size:
            yield self._open

    # Putting.

    def put(self, line: bytes, rows: int, *, wait: bool = True) -> None:
        """Return once the line is kept.

        Raises ``FullError`` if there is no room, after ``room_seconds`` if it may ``wait``, and
        ``StoreError`` if the disk refuses. The line is then not kept.
        """
        with self.changed:
            segment, end = self._taken(line, rows, wait=wait)
            if segment.rows == rows or segment.rows >= self._limits.batch_rows:
                self.changed.notify_all()
        if self._limits.fsync:
            self._commit(segment, end)

    def close(self) -> None:
        """Take no more rows, and seal what is open."""
        with self.changed:
            self._closed = True
            self.seal()
            self.changed.notify_all()

    def _taken(self, line: bytes, rows: int, *, wait: bool) -> tuple[_Open, int]:
        """Append the line as soon as there is room; disks do not tell, so look now and then."""
        taken: list[tuple[_Open, int]] = []
        why = ""

        def append() -> bool:
            nonlocal why
            if self._closed:
                msg = "the store is closed"
                raise StoreError(msg)
            try:
                why = self._why_full(len(line)) or ""
                if not why:
                    taken.append(self._append(line, rows))
            except OSError as error:
                if error.errno not in _NO_ROOM_ON_DISK:
                    raise self._unusable(error) from error
                why = f"{self._directory}: the disk is full; make room on it"
            return bool(taken)

        looks = math.ceil(self._limits.room_seconds / _LOOK_AGAIN_SECONDS) if wait else 0
        pause = self._limits.room_seconds / max(looks, 1)
        if append() or any(self.changed.wait_for(append, pause) for _ in range(looks)):
            return taken[0]
        waited = f" (waited {self._limits.room_seconds:g} s)" if wait else ""
        raise FullError(f"the store took no rows{waited}: {why}")

    def _why_full(self, more: int) -> str | None:
        held = self.size
        if held == 0 or held + more <= self._limits.max_bytes:
            return None
        return (
            f"{self._directory} holds {held // 1_000_000} MB that the database has not taken; see "
            "what ails the database, or raise storage.spool.max_mb"
        )

    def _append(self, line: bytes, rows: int) -> tuple[_Open, int]:
        if self._open and (
            self._open.size + len(line) > _SEGMENT_BYTES or self._open.rows >= _SEGMENT_ROWS
        ):
            self.seal()
        segment = self._open or self._begun()
        whole = False
        try:
            _write(segment.descriptor, line)
            whole = True
        finally:
            if not whole:
                self._cut_back(segment, segment.size, segment.rows)
        if not segment.size:
            segment.since = self._clock.monotonic()
        segment.size += len(line)
        segment.rows += rows
        return segment, segment.size

    def _begun(self) -> _Open:
        stem = f"{self._last + 1:016d}-{secrets.token_hex(8)}"
        path = self._directory / open_name(stem)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, _OWNER_ONLY)
        try:
            self._sync_directory()
        except OSError:
            os.close(descriptor)
            path.unlink()
            raise
        self._last += 1
        self._open = _Open(
            path=path,
            stem=stem,
            sequence=self._last,
            since=self._clock.monotonic(),
            descriptor=descriptor,
        )
        return self._open

    def _sync_directory(self) -> None:
        if not self._limits.fsync:
            return
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    # Reaching the disk.

    def _commit(self, segment: _Open, end: int) -> None:
        """Return once ``end`` bytes are on the disk, by this thread's fsync or another's."""
        while True:
            with self.changed:
                if segment.synced >= end:
                    return
                if segment.error:
                    raise StoreError(segment.error)
                if segment.syncing:
                    self._synced.wait()
                    continue
                segment.syncing = True
                size, rows = segment.size, segment.rows
            self._sync(segment, size, rows)

    def _sync(self, segment: _Open, size: int, rows: int) -> None:
        failed: OSError | None = None
        synced = False
        try:
            os.fsync(segment.descriptor)
            synced = True
        except OSError as error:
            failed = error
        finally:
            # Whatever ended this, a Ctrl-C too, nobody waits for it for ever.
            with self.changed:
                segment.syncing = False
                if synced:
                    segment.synced, segment.synced_rows = size, rows
                elif failed is not None:
                    self._retire(segment, failed)
                    self.changed.notify_all()
                self._synced.notify_all()

    def seal(self) -> None:
        """Make what is open a segment to be written; nothing is done if there is none."""
        with self.changed:
            while self._open is not None and self._open.syncing:
                self._synced.wait()
            segment = self._open
            if segment is None:
                return
            try:
                if self._limits.fsync and segment.synced < segment.size:
                    os.fsync(segment.descriptor)
            except OSError as error:
                self._retire(segment, error)
            else:
                segment.synced, segment.synced_rows = segment.size, segment.rows
                self._set_aside(segment)
            self.changed.notify_all()
            self._synced.notify_all()

    def _retire(self, segment: _Open, error: OSError) -> None:
        """Go on in another file: what a failed fsync left in this one is not to be trusted."""
        segment.error = str(self._unusable(error))
        log.error("%s", segment.error)
        if segment is self._open and self._cut_back(segment, segment.synced, segment.synced_rows):
            self._set_aside(segment)

    def _cut_back(self, segment: _Open, size: int, rows: int) -> bool:
        """Cut off what nobody was promised; if even that fails, go on in another file."""
        try:
            os.ftruncate(segment.descriptor, size)
        except OSError as error:
            segment.error = segment.error or str(self._unusable(error))
            self._set_aside(segment)
            return False
        segment.size, segment.rows = size, rows
        return True

    def _set_aside(self, segment: _Open) -> None:
        self._open = None
        os.close(segment.descriptor)
        if segment.size == 0:
            segment.path.unlink(missing_ok=True)
            return
        sealed = segment.path.with_name(sealed_name(segment.stem, segment.rows))
        try:
            segment.path.rename(sealed)
        except OSError as error:
            # It is read under its old name just as well.
            log.warning("%s: not renamed: %s", segment.path, error.strerror)
        else:
            segment.path = sealed
        self._sealed.append(segment)

    # Writing to the database.

    def read(self, segment: Segment) -> list[Piece]:
        """Return the pieces of a segment. Raises ``StoreError`` if the disk cannot read it."""
        try:
            return list(pieces(segment.path.read_bytes()))
        except OSError as error:
            raise self._unusable(error) from error

    def remove(self, segment: Segment) -> None:
        """Forget the oldest segment: the database has it."""
        try:
            segment.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        with self.changed:
            self._sealed.remove(segment)
            self.changed.notify_all()

    def quarantine(self, name: str, content: bytes) -> Path:
        """Lay aside what cannot be written, and return where. The same again changes nothing.

        Raises ``StoreError`` if the disk refuses.
        """
        path = self._directory / QUARANTINE / name
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
            try:
                _write(descriptor, content)
                if self._limits.fsync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._unusable(error) from error
        return path

    def _unusable(self, error: OSError) -> StoreError:
        # What was opened by its name is named; the folder itself is anyway.
        there = Path(error.filename or self._directory)
        which = "" if there == self._directory else f" ({there})"
        reason = f"the spool cannot use this folder: {error.strerror}{which}"
        return StoreError(f"{self._directory}: {reason}")


def _write(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
