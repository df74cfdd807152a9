"""Bring a database to the schema of this version: numbered SQL files and a ledger of them.

There is no dirty flag: every file may run again from its beginning, so a migration that was broken
off is simply run again. Whoever runs it must be the only one that writes. A database that is empty
is made of ``latest.sql``, which is what all of them come to.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store.client import Client, Location, connect
from monitor.store.retention import TermChange, apply_terms, term_changes
from monitor.store.structure import REMEDY, Difference, differences
from monitor.store.unfinished import refuse_unfinished

_log = logging.getLogger(__name__)
_NAME = re.compile(r"(\d{4})_\w+\.sql")
LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations
(
    version UInt32,
    name String,
    checksum String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered file; ``checksum`` is of its bytes."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    def statements(self) -> list[str]:
        """Return the statements; one ends with a semicolon at the end of a line."""
        code = "\n".join(
            line for line in self.sql.splitlines() if not line.lstrip().startswith("--")
        )
        return [part.strip() for part in re.split(r";\s*(?:\n|\Z)", code) if part.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What separates a store from this version and its configuration, or separated it before.

    It ``is_new`` if no migration was ever applied to it. What ``differs`` from what all migrations
    come to is mended by none: it is looked at once they are applied.
    """

    migrations: tuple[Migration, ...]
    terms: tuple[TermChange, ...]
    is_new: bool
    differs: tuple[Difference, ...] = ()

    @property
    def is_current(self) -> bool:
        """True if nothing does."""
        return not self.migrations and not self.terms and not self.differs


# Told before each statement: its migration, how many are done, and of how many.
OnStatement = Callable[[Migration, int, int], None]


def shipped() -> tuple[Migration, ...]:
    """Return the migrations of this version, in order."""
    found = [
        Migration(version=int(match.group(1)), name=entry.name, sql=entry.read_text("utf-8"))
        for entry in files("monitor.store").joinpath("schema").iterdir()
        if (match := _NAME.fullmatch(entry.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.version))


def mark_of(migrations: Sequence[Migration]) -> str:
    """Return the line by which ``latest.sql`` says which migrations it stands for."""
    checksums = " ".join(migration.checksum for migration in migrations)
    return f"-- stands for: {hashlib.sha256(checksums.encode()).hexdigest()}"


def _latest(migrations: Sequence[Migration]) -> Migration | None:
    """Return what all of them come to, or ``None`` if it was not written anew since."""
    sql = files("monitor.store").joinpath("schema", "latest.sql").read_text("utf-8")
    if mark_of(migrations) not in sql.splitlines():
        return None
    return Migration(version=migrations[-1].version, name="latest.sql", sql=sql)


def migrate(
    client: Client,
    migrations: Sequence[Migration] | None = None,
    on_statement: OnStatement | None = None,
    place: object = "the store",
) -> tuple[Migration, ...]:
    """Apply what is missing and return it.

    Raises ``StoreError`` that names the ``place`` if the database is newer than this version of
    Davylamp, or if a migration that was applied has been changed since; nothing is touched then.
    """
    missing = missing_migrations(client, migrations, place)
    latest = _latest(missing) if migrations is None and _is_empty(client) else None
    for said, stands_for in (
        [(latest, missing)] if latest else [(each, (each,)) for each in missing]
    ):
        client.command(LEDGER)
        _apply(client, said, on_statement)
        rows = [(each.version, each.name, each.checksum) for each in stands_for]
        client.insert("schema_migrations", rows, ("version", "name", "checksum"))
        # A store that is made says nothing of it: there is nothing that somebody could miss.
        _log.log(
            logging.DEBUG if latest else logging.INFO, "the store's schema: applied %s", said.name
        )
    return missing


def _apply(client: Client, said: Migration, on_statement: OnStatement | None) -> None:
    statements = said.statements()
    for done, statement in enumerate(statements):
        if on_statement is not None:
            on_statement(said, done, len(statements))
        client.command(statement)


def _is_empty(client: Client) -> bool:
    """Whether nothing was ever made here: what was broken off goes on with the migrations."""
    found = client.query("SELECT count() FROM system.tables WHERE database = currentDatabase()")
    return not found[0][0]


def missing_migrations(
    client: Client,
    migrations: Sequence[Migration] | None = None,
    place: object = "the store",
) -> tuple[Migration, ...]:
    """Return what was never applied, in order; changes nothing. Raises as ``migrate`` does."""
    wanted = shipped() if migrations is None else tuple(migrations)
    ledger = applied(client)
    _compare(ledger, wanted, place)
    return tuple(migration for migration in wanted if migration.version not in ledger)


def applied(client: Client) -> dict[int, tuple[str, str]]:
    """Return the name and checksum of every version in the ledger, which may not be there yet."""
    found = client.query(
        "SELECT count() FROM system.tables "
        "WHERE database = currentDatabase() AND name = 'schema_migrations'"
    )
    if not found[0][0]:
        return {}
    return {
        int(version): (str(name), str(checksum))
        for version, name, checksum in client.query(
            "SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version"
        )
    }


def _compare(
    ledger: dict[int, tuple[str, str]], wanted: Sequence[Migration], place: object
) -> None:
    known = {migration.version: migration for migration in wanted}
    if ledger.keys() - known.keys():
        msg = (
            f"{place}: written by a newer Davylamp (schema {max(ledger)}, this one knows "
            f"{max(known, default=0)}); install that version or restore a backup"
        )
        raise StoreError(msg)
    for version, (name, checksum) in ledger.items():
        if known[version].checksum != checksum:
            msg = (
                f"{place}: migration {name} was changed after it was applied here: this Davylamp "
                "is not the one that wrote the store, or a file of it was altered; install the "
                "released version again (a change of one's own goes into a new migration)"
            )
            raise StoreError(msg)


def bring_up(
    client: Client,
    retention: Retention | None,
    cluster: str | None = None,
    on_statement: OnStatement | None = None,
    place: object = "the store",
) -> Standing:
    """Apply what is missing, put the configured terms in force, and return what was done.

    What then still differs is said in the log, and left as it is. Without ``retention`` a new store
    gets the defaults, and one that was there keeps its terms. Raises ``StoreError`` as ``migrate``
    does, and for a database that does not fit ``cluster``.
    """
    check_cluster(client, cluster)
    is_new = not applied(client)
    migrations = migrate(client, on_statement=on_statement, place=place)
    if retention is None and is_new:
        retention = Retention()
    terms = () if retention is None else apply_terms(client, retention)
    differs = _differences(client)
    for difference in differs:
        _log.error("the store's schema: %s: %s", difference, REMEDY)
    return Standing(migrations=migrations, terms=terms, is_new=is_new, differs=differs)


def _differences(client: Client) -> tuple[Difference, ...]:
    """Return what is other than all migrations come to; they are applied."""
    latest = _latest(shipped())
    if latest is None:
        how = "does not stand for the migrations beside it, so nothing can be held against it"
        return (Difference(name="schema/latest.sql", how=how),)
    return differences(client, latest.statements())


def standing(location: Location, retention: Retention) -> Standing:
    """Return what ``bring_up`` would do; changes nothing, and makes no embedded store.

    Raises ``StoreError`` as ``bring_up`` does. Have the lock of the folder.
    """
    if location.path is not None and not _has_data(location.path):
        return Standing(migrations=shipped(), terms=(), is_new=True)
    client = connect(location, read_only=True)
    try:
        refuse_unfinished(client, location)
        check_cluster(client, location.cluster)
        missing = missing_migrations(client, place=location)
        return Standing(
            migrations=missing,
            terms=term_changes(client, retention),
            is_new=not applied(client),
            differs=() if missing else _differences(client),
        )
    finally:
        client.close()


def _has_data(path: Path) -> bool:
    return path.is_dir() and any(path.iterdir())


def check_cluster(client: Client, cluster: str | None) -> None:
    """See that the database fits the setting, before anything is made in it.

    Raises ``StoreError`` that names what is missing: the cluster, its macros, its being of one
    shard, or that the tables were made with the other setting.
    """
    _check_engines(client, cluster)
    if cluster is None:
        return
    found = client.query("SELECT DISTINCT cluster, shard_num FROM system.clusters")
    shards = [number for name, number in found if name == cluster]
    if not shards:
        known = ", ".join(sorted({str(name) for name, _ in found})) or "none"
        msg = f"storage.cluster: the server knows no cluster {cluster!r} (it knows: {known})"
        raise StoreError(msg)
    if len(shards) > 1:
        msg = (
            f"storage.cluster: {cluster} has {len(shards)} shards, and a store needs one with all "
            "replicas in it; name a cluster of one shard (remote_servers on the server)"
        )
        raise StoreError(msg)
    macros = {str(row[0]) for row in client.query("SELECT macro FROM system.macros")}
    missing = sorted({"shard", "replica"} - macros)
    if missing:
        msg = (
            f"storage.cluster: the server has no macro {missing[0]!r}, by which replicated tables "
            "know their host; add it under macros in the server's configuration"
        )
        raise StoreError(msg)


def _check_engines(client: Client, cluster: str | None) -> None:
    engines = client.query(
        "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'trials'"
    )
    if not engines or str(engines[0][0]).startswith("Replicated") == (cluster is not None):
        return
    made, now = ("without", "names one") if cluster else ("with", "names none")
    msg = (
        f"the store was made {made} a cluster, and storage.cluster {now}; make a backup with the "
        "setting it was made with (davylamp db backup), and restore it into an empty database"
    )
    raise StoreError(msg)
