"""From a folder of files to a whole store: what is verified first, whose key it is, what follows.

Nothing is touched before every file was read and found to be as its manifest says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from monitor.canaries import InstallationKey
from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store.audit import AuditLog
from monitor.store.client import Client, Location, connect
from monitor.store.exporting import file_at
from monitor.store.links import Action, Verified
from monitor.store.loading import OnRows, check_schema, load, refuse_filled
from monitor.store.lock import StoreLock
from monitor.store.manifest import KEY_COPY, Manifest, OnBytes, flaws_of, read_manifest
from monitor.store.migrate import Standing, bring_up
from monitor.store.reader import Reader
from monitor.store.rows import TABLES, AnyRow, columns, values
from monitor.store.store import KEY_FILE, SPOOL_DIRECTORY, make_private
from monitor.store.unfinished import take_down_sign

_WAITING = (".open", ".rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a backup is restored to: the folder of an installation, and its database."""

    path: Path
    location: Location
    retention: Retention


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who restores, when, and whether without the key the backup was taken under."""

    actor: str
    at: datetime
    without_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore came to.

    ``brought`` is what made the store one of this version, ``chain`` what is to be said of the
    audit chain that came in. ``is_own_key`` is whether the store is again under its old key.
    """

    brought: Standing
    chain: Verified
    is_own_key: bool


def whole_backup(folder: Path, on_bytes: OnBytes) -> Manifest:
    """Return the manifest of a backup whose every file is as it says.

    Raises ``StoreError`` that names each file which is not.
    """
    manifest = read_manifest(folder)
    flaws = flaws_of(folder, manifest, on_bytes)
    if flaws:
        raise StoreError("\n".join(f"{folder}: {flaw}" for flaw in flaws))
    return manifest


def restore(
    place: Place,
    folder: Path,
    manifest: Manifest,
    order: Order,
    on_rows: OnRows,
    *,
    opened: Callable[[Location], Client] = connect,
) -> Restored:
    """Fill an empty store from a backup whose manifest is one of ``whole_backup``.

    ``opened`` gives the client that writes. Raises ``StoreBusyError`` naming the process that has
    the folder, and ``StoreError`` for a store that is not empty, for a key that is not the
    backup's, and for whatever else keeps the store from being whole: it then says so itself, until
    a restore comes to its end.
    """
    check_schema(manifest)
    make_private(place.path)
    lock = StoreLock.take(place.path)
    try:
        chosen = _key(place.path, folder, manifest, without_key=order.without_key)
        _refuse_waiting(place.path)
        if place.location.path is not None:
            make_private(place.location.path)
        with (
            closing(opened(place.location)) as client,
            closing(Reader(connect(place.location, read_only=True))) as reader,
        ):
            refuse_filled(client, place.location.url or place.path)
            if chosen.secret is not None:
                with file_at(place.path / KEY_FILE) as file:
                    file.write(chosen.secret)
            key = InstallationKey.load_or_create(place.path / KEY_FILE)
            load(client, folder, manifest, on_rows)
            if not chosen.is_own:
                _erase_sealed_texts(client)
            brought = bring_up(client, place.retention, place.location.cluster)
            audit = AuditLog(key, _Direct(client), reader)
            chain = audit.verify(manifest.audit.hash if manifest.audit else None)
            _append(audit, manifest, order, is_own_key=chosen.is_own)
            take_down_sign(client)
        return Restored(brought=brought, chain=chain, is_own_key=chosen.is_own)
    finally:
        lock.release()


class _Direct:
    """Keeps rows in the database at once."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def put(self, rows: Sequence[AnyRow], /, *, wait: bool = True) -> None:
        """Keep rows."""
        for row in rows:
            self._client.insert(TABLES[type(row)], [values(row)], columns(type(row)))

    def flush(self) -> None:
        """Do nothing: what was put is there."""


def _append(audit: AuditLog, manifest: Manifest, order: Order, *, is_own_key: bool) -> None:
    audit.append(
        Action.RESTORE,
        "store",
        actor=order.actor,
        at=order.at,
        details={
            "made_at": manifest.made_at.isoformat(),
            "rows": manifest.rows,
            "seal": manifest.seal,
            "schema": manifest.migrations[-1].version,
            "own_key": is_own_key,
            "left_out": manifest.left_out,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """Which key the store will have; ``secret`` is to be put there first."""

    is_own: bool
    secret: bytes | None = None


def _key(path: Path, folder: Path, manifest: Manifest, *, without_key: bool) -> _Chosen:
    file = path / KEY_FILE
    if file.exists():
        there = InstallationKey.load_or_create(file)
        if there.fingerprint == manifest.installation:
            _check_seal(manifest, there)
            return _Chosen(is_own=True)
        if without_key:
            return _Chosen(is_own=False)
        msg = (
            f"{file} is the key of installation {there.fingerprint}, and the backup is of "
            f"{manifest.installation}: put the key of that one there, or say --without-key"
        )
        raise StoreError(msg)
    if manifest.with_key:
        copy = InstallationKey.load_or_create(folder / KEY_COPY)
        if copy.fingerprint != manifest.installation:
            msg = f"{folder / KEY_COPY} is not the key the backup was taken under"
            raise StoreError(msg)
        _check_seal(manifest, copy)
        return _Chosen(is_own=True, secret=(folder / KEY_COPY).read_bytes())
    if without_key:
        return _Chosen(is_own=False)
    msg = (
        f"{file} is not there, and the backup holds no key: put the key of installation "
        f"{manifest.installation} there, or say --without-key"
    )
    raise StoreError(msg)


def _check_seal(manifest: Manifest, key: InstallationKey) -> None:
    if not manifest.is_sealed_by(key):
        msg = "the manifest was changed after the backup was taken: its seal does not hold"
        raise StoreError(msg)


def _refuse_waiting(path: Path) -> None:
    spool = path / SPOOL_DIRECTORY
    if spool.is_dir() and any(file.suffix in _WAITING for file in spool.iterdir()):
        msg = (
            f"{spool}: rows wait there to be written, so the store is not empty "
            "(give another storage.path)"
        )
        raise StoreError(msg)


def _erase_sealed_texts(client: Client) -> None:
    """Texts of markers that no key opens any more would keep the store from being opened."""
    client.command(
        "ALTER TABLE markers UPDATE sealed = '' WHERE sealed != '' SETTINGS mutations_sync = 2"
    )
