"""No second copy on disk: what the database replaces, it keeps for minutes in case of a crash.

Erased rows must not wait there. Deleting the replaced parts at once is safe only if what replaced
them is on disk, so both are asked for together, for the time of an erasure.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from monitor.errors import StoreError
from monitor.store.client import Client

_FOR_AN_ERASURE = {"min_rows_to_fsync_after_merge": 1, "old_parts_lifetime": 0}
# Dropping a partition has the database look for replaced parts at once. No row is in a month 0.
_NO_PARTITION = "19000000"
_TRIES, _PAUSE_SECONDS = 80, 0.25


@contextmanager
def no_second_copies(client: Client, tables: Sequence[str]) -> Iterator[None]:
    """Have replaced parts of these tables deleted as soon as nothing reads them."""
    settings = ", ".join(f"{name} = {value}" for name, value in _FOR_AN_ERASURE.items())
    try:
        for table in tables:
            client.command(f"ALTER TABLE {table} MODIFY SETTING {settings}")
        yield
    finally:
        for table in tables:
            client.command(f"ALTER TABLE {table} RESET SETTING {', '.join(_FOR_AN_ERASURE)}")


def replaced_parts(client: Client, tables: Sequence[str]) -> dict[str, int]:
    """Delete replaced parts within ``no_second_copies``; return how many are left of each table.

    A part that somebody reads stays until they are done; that is waited for, for a while.
    """
    os.sync()
    left: dict[str, int] = {}
    pause = threading.Event()
    for _ in range(_TRIES):
        for table in left or tables:
            client.command(f"ALTER TABLE {table} DROP PARTITION ID '{_NO_PARTITION}'")
        left = _counted(client, "system.parts", "AND NOT active", tables)
        if not left:
            break
        pause.wait(_PAUSE_SECONDS)
    return left


def detached_parts(client: Client, tables: Sequence[str]) -> dict[str, int]:
    """Return how many parts of each table the database has laid aside as damaged."""
    return _counted(client, "system.detached_parts", "", tables)


def erase_damaged(quarantine: Path, name: str, before: datetime | None) -> tuple[int, int]:
    """Erase what the spool laid aside of a name or a time; return how many, and how many others.

    It is damaged: what it is about can be told only where the name or a date is left. Raises
    ``StoreError`` if the disk refuses.
    """
    erased = unreadable = 0
    for file in sorted(quarantine.glob("*")) if quarantine.is_dir() else ():
        try:
            if _is_about(file, name, before):
                file.unlink()
                erased += 1
            else:
                unreadable += 1
        except OSError as error:
            msg = f"{file}: cannot be erased: {error.strerror}"
            raise StoreError(msg) from error
    return erased, unreadable


def _is_about(file: Path, name: str, before: datetime | None) -> bool:
    if before is not None:
        # It was laid aside after it was put.
        return datetime.fromtimestamp(file.stat().st_mtime, UTC) < before
    return f'"{name}"'.encode() in file.read_bytes()


def _counted(client: Client, view: str, where: str, tables: Sequence[str]) -> dict[str, int]:
    found = client.query(
        f"SELECT table, count() FROM {view} WHERE database = currentDatabase() {where} "  # noqa: S608
        "AND has({tables:Array(String)}, table) GROUP BY table",
        {"tables": list(tables)},
    )
    return {str(table): int(number) for table, number in found}
