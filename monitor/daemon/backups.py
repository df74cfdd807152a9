"""A backup of an open store: the same from the daemon, which goes on, and without one."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from monitor.clock import Clock, new_id
from monitor.config import Config
from monitor.store import Action, Store
from monitor.store.backup import Choices, OnRows, back_up
from monitor.store.client import connect
from monitor.store.manifest import Manifest
from monitor.store.retention import in_time
from monitor.store.snapshot import snapshot
from monitor.store.store import KEY_FILE, WAITING_DIRECTORY, make_private

# A server keeps the whole of an answer until its end, so that it can say that it failed.
MOST_ROWS_OF_A_SERVER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUp:
    """What goes into a backup, and who takes it."""

    bodies: bool
    key: bool
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupStep:
    """How far a backup has come: the table at work, rows done and in all, and bytes in words."""

    target: str
    words: str
    done: int
    total: int


def own_backup(
    store: Store, config: Config, asked: BackUp, folder: Path, clock: Clock, on_rows: OnRows
) -> Manifest:
    """Write a backup of a store that nothing else uses. Raises as ``back_up`` does."""
    store.flush()
    return _written(store, config, asked, folder, clock, on_rows)


def waiting_backup(
    store: Store, config: Config, asked: BackUp, clock: Clock, on_rows: OnRows
) -> Path:
    """Write a backup of a store that goes on, and return where it waits to be taken away.

    What is put meanwhile is not in it. One at a time: what nobody took away is removed. Raises as
    ``back_up`` and ``snapshot`` do.
    """
    waiting = config.storage_path / WAITING_DIRECTORY
    shutil.rmtree(waiting, ignore_errors=True)
    make_private(waiting)
    folder = waiting / new_id("backup")
    with snapshot(store.writer, store.location) as prefix:
        _written(store, config, asked, folder, clock, on_rows, prefix=prefix)
    return folder


def _written(
    store: Store,
    config: Config,
    asked: BackUp,
    folder: Path,
    clock: Clock,
    on_rows: OnRows,
    *,
    prefix: str = "",
) -> Manifest:
    choices = Choices(
        key=store.key,
        made_at=clock.now(),
        with_bodies=asked.bodies,
        in_time=in_time(config.storage.retention, clock.now()),
        key_file=config.storage_path / KEY_FILE if asked.key else None,
        most_rows=MOST_ROWS_OF_A_SERVER if store.location.url else None,
        prefix=prefix,
    )

    def vouch(manifest: Manifest) -> None:
        store.audit.append(
            Action.BACKUP,
            "store",
            actor=asked.actor,
            at=clock.now(),
            details={
                "rows": manifest.rows,
                "seal": manifest.seal,
                "with_key": manifest.with_key,
                "left_out": manifest.left_out,
            },
        )

    with closing(connect(store.location, read_only=True)) as client:
        return back_up(client, folder, choices, on_rows, vouch)
