"""A backup of a store with rows of every table, and what a store is compared by."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from monitor.canaries import MarkerRegistry, Minter
from monitor.canaries.registry import Entry
from monitor.config.storage import Retention
from monitor.sinks import ClickHouseSink
from monitor.store import Store, open_store
from monitor.store.backup import Choices, Content, back_up, content_of
from monitor.store.client import Client, Location, connect
from monitor.store.manifest import Manifest
from monitor.store.restore import Order, Place, Restored, restore, whole_backup
from monitor.store.store import KEY_FILE
from monitor.store.streaming import tables_of
from tests.unit.store.full import NOW, TARGETS, fill
from tests.unit.store.samples import owner, trial, verdict

ORDER = Order(actor="o'brien", at=datetime(2026, 11, 30, 12, tzinfo=UTC))
LEAKED = "trial-kimi-1"


def unseen(what: str, *numbers: int) -> None:
    """Nobody looks at how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A backup and the folder of its installation; what the store said when it was taken."""

    path: Path
    folder: Path
    manifest: Manifest
    contents: dict[str, Content]
    reads: list[object]
    markers: tuple[Entry, ...]

    @property
    def key_file(self) -> Path:
        """The key it was taken under."""
        return self.path / KEY_FILE


def taken(root: Path) -> Taken:
    """Fill a store, take a backup of it with its key, and close it."""
    path, folder = root / "installation", root / "backup"
    with open_store(path) as store:
        fill(store)
        registry = MarkerRegistry(store.key)
        Minter(store.key, registry, random_bits=Random(1).getrandbits).mint(owner(), NOW)
        store.markers.save(registry.take_unsaved())
        ClickHouseSink(store.writer, store.hasher).deliver(trial(1, "kimi"), verdict(1, "kimi"))
        store.flush()
        with closing(connect(store.location, read_only=True)) as client:
            choices = Choices(key=store.key, made_at=NOW, key_file=path / KEY_FILE)
            manifest = back_up(client, folder, choices, unseen)
            return Taken(
                path=path,
                folder=folder,
                manifest=manifest,
                contents=contents(client),
                reads=reads(store),
                markers=store.markers.load(),
            )


def place(path: Path) -> Place:
    """Return an installation with an embedded store."""
    return Place(path=path, location=Location(path=path / "data"), retention=Retention())


def restored(folder: Path, path: Path) -> Restored:
    """Restore a backup that has its key."""
    return restore(place(path), folder, whole_backup(folder, unseen), ORDER, unseen)


def contents(client: Client) -> dict[str, Content]:
    """Return what each table holds; the ledger apart, which says when."""
    return {
        name: content_of(client, shape, tuple(column.name for column in shape.columns))
        for name, shape in tables_of(client).items()
    }


def every_table(client: Client) -> set[str]:
    """Return the tables of the database, whoever made them."""
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND endsWith(engine, 'MergeTree')"
    )
    return {str(row[0]) for row in found}


def contents_of(store: Store) -> dict[str, Content]:
    """Return what each table of an open store holds."""
    with closing(connect(store.location, read_only=True)) as client:
        return contents(client)


def reads(store: Store) -> list[object]:
    """Return what the product reads of a store."""
    reader = store.reader
    return [
        [reader.last_scheduled(datetime(2000, 1, 1, tzinfo=UTC))],
        [reader.trial(trial_id) for trial_id in (LEAKED, *(f"trial-{n:06d}" for n in range(20)))],
        [reader.calibrations(target) for target in TARGETS],
        [reader.spent(NOW.date()), reader.findings(), reader.last_ladders()],
        [reader.markers(), reader.evidence_markers()],
    ]
