"""Every table into one folder, each as one file in the database's own form, then a manifest.

Only that form holds the sums of roll-ups unfinished, as they are, so that more may be added.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import monitor
from monitor.canaries import InstallationKey
from monitor.errors import StoreError, UsageError
from monitor.store.client import Client
from monitor.store.manifest import (
    FORM,
    KEY_COPY,
    MANIFEST_FILE,
    AuditEntry,
    ColumnEntry,
    Manifest,
    SchemaEntry,
    TableEntry,
    as_kept,
    sync_folder,
    written_manifest,
)
from monitor.store.migrate import applied
from monitor.store.streaming import (
    BODIES,
    TableShape,
    Where,
    Window,
    in_time_of,
    read,
    tables_of,
    windows,
)

FORMAT = "Native"
_OWNER_ONLY, _FOLDER_OF_OWNER = 0o600, 0o700
# Columns of ids and codes repeat themselves: more effort gains little.
_LEVEL = 1
_ATTEMPTS = 3

# The table at work, rows so far and rows in all of all tables, bytes so far.
OnRows = Callable[[str, int, int, int], None]
# Told of a manifest that is sealed, before there is a backup.
Vouch = Callable[[Manifest], object]


def _unvouched(manifest: Manifest) -> None:
    """Let a backup be one without a word of it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """How many rows there are, and the sum of their hashes, in whatever order they come."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: Content) -> Content:
        total = (self.total + other.total) % 2**64
        return Content(rows=self.rows + other.rows, total=total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Whose backup it is and what goes into it; ``key_file`` is copied there if it is given.

    Bodies are left out, or those past their time (``retention.in_time``). ``most_rows`` is the
    most that the database gives at once, if it has such a limit. With a ``prefix`` the rows are
    those of a snapshot.
    """

    key: InstallationKey
    made_at: datetime
    with_bodies: bool = True
    in_time: int | None = None
    key_file: Path | None = None
    most_rows: int | None = None
    prefix: str = ""


def back_up(
    client: Client,
    folder: Path,
    choices: Choices,
    on_rows: OnRows,
    vouch: Vouch = _unvouched,
) -> Manifest:
    """Write every table into a folder that is made for it or empty, and return its manifest.

    Nothing may write to the tables meanwhile but their own merges. ``vouch`` is called when all but
    the manifest's name is on the disk: what it raises is raised, and there is no backup then.
    Raises ``UsageError`` for a folder that holds something, and ``StoreError`` if it cannot be read
    or written; what was written so far is then removed.
    """
    with ExitStack() as undo, _said_of(folder):
        _make(folder, undo)
        shapes = tables_of(client, choices.prefix)
        left_out = () if choices.with_bodies or BODIES not in shapes else (BODIES,)
        chosen = [shape for name, shape in shapes.items() if name not in left_out]
        expected = sum(
            part.rows
            for shape in chosen
            for part in windows(client, shape, in_time_of(shape, choices.in_time))
        )
        tally = _Tally(on_rows, expected)
        tables = []
        for shape in chosen:
            undo.callback(_remove, folder / TableEntry.file_of(shape.name))
            tables.append(_table(client, shape, folder, choices, tally))
        if choices.key_file is not None:
            undo.callback(_remove, folder / KEY_COPY)
            with _new_file(folder / KEY_COPY) as copy, choices.key_file.open("rb") as key:
                shutil.copyfileobj(key, copy)
        ledger = applied(client)
        manifest = Manifest(
            form=FORM,
            davylamp=monitor.__version__,
            made_at=as_kept(choices.made_at),
            installation=choices.key.fingerprint,
            migrations=tuple(
                SchemaEntry(version=version, name=name, checksum=checksum)
                for version, (name, checksum) in sorted(ledger.items())
            ),
            tables=tuple(tables),
            left_out=left_out,
            audit=_audit_head(client, shapes["audit_log"]) if "audit_log" in shapes else None,
            with_key=choices.key_file is not None,
            seal="",
        ).sealed_by(choices.key)
        for name in (MANIFEST_FILE, f".{MANIFEST_FILE}"):
            undo.callback(_remove, folder / name)
        sync_folder(folder)
        with written_manifest(folder, manifest):
            vouch(manifest)
        undo.pop_all()
    return manifest


def move_backup(folder: Path, to: Path) -> None:
    """Move a backup to a new or empty folder; there it is whole or none.

    Raises ``UsageError`` for a folder that holds something, and ``StoreError`` if it cannot be
    written.
    """
    with ExitStack() as undo, _said_of(to):
        _make(to, undo)
        try:
            folder.replace(to)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(folder, to, undo)
            shutil.rmtree(folder)
        sync_folder(to)
        undo.pop_all()


def _copy(folder: Path, to: Path, undo: ExitStack) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.name == MANIFEST_FILE)
    for file in files:
        undo.callback(_remove, to / file.name)
        with file.open("rb") as source, _new_file(to / file.name) as copy:
            shutil.copyfileobj(source, copy)


def content_of(client: Client, shape: TableShape, columns: tuple[str, ...]) -> Content:
    """Return what the rows of a table come to, read partition by partition."""
    parts = windows(client, shape, Where())
    return sum((_content(client, shape, columns, part) for part in parts), Content())


def _content(client: Client, shape: TableShape, columns: tuple[str, ...], part: Window) -> Content:
    # A hash of several values is null if one of them is; that of a tuple is not.
    values = ", ".join(f"r.{name}" for name in columns)
    sql = (
        f"SELECT count(), sum(cityHash64(tuple({values}))) FROM {shape.source} "  # noqa: S608
        f"WHERE {part.where}"
    )
    [(rows, total)] = client.query(sql, part.where.parameters)
    return Content(rows=int(rows), total=int(total))


def refuse_filled_folder(folder: Path) -> None:
    """Raise ``UsageError`` if there is something already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        msg = f"{folder}: there is something already; a backup goes into a new or empty folder"
        raise UsageError(msg)


def _make(folder: Path, undo: ExitStack) -> None:
    refuse_filled_folder(folder)
    if not folder.exists():
        folder.mkdir(mode=_FOLDER_OF_OWNER)
        undo.callback(_remove_folder, folder)


def _table(
    client: Client, shape: TableShape, folder: Path, choices: Choices, tally: _Tally
) -> TableEntry:
    """Write a table that stays as it is while it is read, trying again if it did not."""
    columns = tuple(column.name for column in shape.columns)
    for _ in range(_ATTEMPTS):
        where = in_time_of(shape, choices.in_time)
        parts = windows(client, shape, where, choices.most_rows)
        with _new_file(folder / TableEntry.file_of(shape.name)) as file:
            packed = _Hashed(file)
            before, after = _packed(client, shape, columns, parts, packed, tally)
        if before == after:
            tally.count(before.rows, packed.size)
            return TableEntry(
                name=shape.name,
                rows=before.rows,
                content=str(before.total),
                bytes=packed.size,
                sha256=packed.digest.hexdigest(),
                columns=tuple(ColumnEntry(name=c.name, type=c.type) for c in shape.columns),
            )
    msg = f"{shape.name} changes while it is read; take the backup when nothing else writes to it"
    raise StoreError(msg)


def _packed(
    client: Client,
    shape: TableShape,
    columns: tuple[str, ...],
    parts: list[Window],
    packed: _Hashed,
    tally: _Tally,
) -> tuple[Content, Content]:
    """Write the rows; return what they came to before they were read, and after."""
    before, after = Content(), Content()
    expressions = ", ".join(f"r.{name} AS {name}" for name in columns)
    with gzip.GzipFile(
        filename="", mode="wb", compresslevel=_LEVEL, fileobj=packed, mtime=0
    ) as out:
        for part in parts:
            before += _content(client, shape, columns, part)
            for piece in read(client, shape, expressions, part, FORMAT):
                out.write(piece)
                tally.show(shape.name, after.rows, packed.size)
            after += _content(client, shape, columns, part)
            tally.show(shape.name, after.rows, packed.size)
    return before, after


class _Tally:
    """How far a backup has come over all its tables."""

    def __init__(self, on_rows: OnRows, expected: int) -> None:
        self._on_rows = on_rows
        self._expected = expected
        self._rows = self._bytes = 0

    def show(self, table: str, rows: int, size: int) -> None:
        """Tell how much there is of the table at work."""
        self._on_rows(table, self._rows + rows, self._expected, self._bytes + size)

    def count(self, rows: int, size: int) -> None:
        """Count a table that is done."""
        self._rows += rows
        self._bytes += size


class _Hashed:
    """Writes on, and knows how much it was and its SHA-256."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        """Write a piece."""
        self.digest.update(piece)
        self.size += len(piece)
        return self._file.write(piece)

    def flush(self) -> None:
        """Do nothing: the file below is flushed when it is closed."""


def _audit_head(client: Client, shape: TableShape) -> AuditEntry | None:
    sql = f"SELECT r.seq, r.hash FROM {shape.source} ORDER BY r.seq DESC LIMIT 1"  # noqa: S608
    found = client.query(sql)
    return AuditEntry(seq=int(found[0][0]), hash=str(found[0][1])) if found else None


@contextmanager
def _new_file(place: Path) -> Iterator[BinaryIO]:
    """Give a file only its owner may read; when it is left, all of it is on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags, _OWNER_ONLY), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _said_of(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        msg = f"{folder}: the backup cannot be written: {reason}; what was written is removed"
        raise StoreError(msg) from error


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _remove(file: Path) -> None:
    with suppress(FileNotFoundError):
        file.unlink()
