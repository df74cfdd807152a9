"""Bring a database to the schema of this version: numbered SQL files and a ledger of them.

There is no dirty flag: every statement may run twice, so a broken migration is simply run again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from monitor.errors import StoreError
from monitor.store.client import Client

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_LEDGER = """
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


def shipped() -> tuple[Migration, ...]:
    """Return the migrations of this version, in order."""
    found = [
        Migration(version=int(match.group(1)), name=entry.name, sql=entry.read_text("utf-8"))
        for entry in files("monitor.store").joinpath("schema").iterdir()
        if (match := _NAME.fullmatch(entry.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.version))


def migrate(client: Client, migrations: Sequence[Migration] | None = None) -> tuple[int, ...]:
    """Apply what is missing and return the versions applied.

    Raises ``StoreError`` if the database is newer than this version of Davylamp, or if a
    migration that was applied has been changed since.
    """
    wanted = shipped() if migrations is None else tuple(migrations)
    client.command(_LEDGER)
    ledger = {
        int(version): (str(name), str(checksum))
        for version, name, checksum in client.query(
            "SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version"
        )
    }
    _compare(ledger, wanted)
    missing = [migration for migration in wanted if migration.version not in ledger]
    for migration in missing:
        for statement in migration.statements():
            client.command(statement)
        row = (migration.version, migration.name, migration.checksum)
        client.insert("schema_migrations", [row], ("version", "name", "checksum"))
    return tuple(migration.version for migration in missing)


def _compare(ledger: dict[int, tuple[str, str]], wanted: Sequence[Migration]) -> None:
    known = {migration.version: migration for migration in wanted}
    for version, (name, checksum) in ledger.items():
        if version not in known:
            msg = (
                f"the store was written by a newer Davylamp (schema {version}, this one knows "
                f"{max(known, default=0)}); install that version or restore a backup"
            )
            raise StoreError(msg)
        if known[version].checksum != checksum:
            msg = (
                f"migration {name} was changed after it was applied to this store; "
                "restore the file, and put the change into a new migration"
            )
            raise StoreError(msg)
