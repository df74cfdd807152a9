"""What a backup says of itself: written last, so that a folder without it is no backup."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from monitor.canaries import InstallationKey
from monitor.errors import StoreError

MANIFEST_FILE = "manifest.json"
KEY_COPY = "installation.key"
FORM = 1
_SUFFIX = ".native.gz"
_MOST_BYTES = 16_000_000
_PIECE_BYTES = 1 << 20
_NAME = r"^[a-z][a-z0-9_]{0,63}$"
_HEX = r"^[0-9a-f]{64}$"

Name = Annotated[str, Field(pattern=_NAME)]
Count = Annotated[int, Field(strict=True, ge=0)]
# The file that is looked at, bytes so far and bytes in all of all files.
OnBytes = Callable[[str, int, int], None]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnEntry(_Part):
    """A column, and its type in ClickHouse's words."""

    name: Name
    type: str


class TableEntry(_Part):
    """One table and its file: ``content`` is the sum of the hashes of its rows.

    The rows and the content are of the table, the bytes and their SHA-256 of the file.
    """

    name: Name
    rows: Count
    content: Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
    bytes: Count
    sha256: Annotated[str, Field(pattern=_HEX)]
    columns: tuple[ColumnEntry, ...]

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.file_of(self.name)

    @staticmethod
    def file_of(table: str) -> str:
        """Return the name of the file of a table."""
        return table + _SUFFIX

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)


class SchemaEntry(_Part):
    """A migration that was applied."""

    version: Count
    name: str
    checksum: Annotated[str, Field(pattern=_HEX)]


class AuditEntry(_Part):
    """The last link of the audit chain."""

    seq: Count
    hash: str


class _Form(BaseModel):
    form: int


class Manifest(_Part):
    """A whole backup. ``seal`` is a keyed hash of the rest, under the installation's key."""

    form: Literal[1]
    davylamp: str
    made_at: AwareDatetime
    installation: str
    migrations: tuple[SchemaEntry, ...]
    tables: tuple[TableEntry, ...]
    left_out: tuple[Name, ...]
    audit: AuditEntry | None
    with_key: bool
    seal: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [table.name for table in self.tables]
        if len(set(names)) != len(names):
            msg = "a table stands there twice"
            raise ValueError(msg)
        return self

    @property
    def rows(self) -> int:
        """How many rows it holds."""
        return sum(table.rows for table in self.tables)

    @property
    def bytes(self) -> int:
        """How many bytes its files have."""
        return sum(table.bytes for table in self.tables)

    def files(self) -> frozenset[str]:
        """Return the names of all files of the backup."""
        own = {MANIFEST_FILE, *(table.file for table in self.tables)}
        return frozenset(own | {KEY_COPY} if self.with_key else own)

    def sealed_by(self, key: InstallationKey) -> Self:
        """Return it with its seal."""
        return self.model_copy(update={"seal": self._seal(key)})

    def is_sealed_by(self, key: InstallationKey) -> bool:
        """Whether nothing in it was changed since it was sealed under this key."""
        return hmac.compare_digest(self.seal.encode(), self._seal(key).encode())

    def _seal(self, key: InstallationKey) -> str:
        said = self.model_dump(mode="json", exclude={"seal"})
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return hmac.digest(key.derive("backup-seal"), text.encode(), "sha256").hex()


@contextmanager
def written_manifest(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Write it so that it is there whole or not at all, once everything else is on the disk.

    While entered it is on the disk too, and gets its name at the end unless something is raised.
    """
    place = folder / MANIFEST_FILE
    part = folder / f".{MANIFEST_FILE}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    yield
    part.replace(place)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Return once the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raises ``StoreError`` that says why it is none."""
    place = folder / MANIFEST_FILE
    try:
        with place.open("rb") as file:
            text = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        msg = (
            f"{folder}: no backup, or one that was broken off: it has no {MANIFEST_FILE} "
            "(give a folder that `davylamp db backup` came to the end of)"
        )
        raise StoreError(msg) from None
    except OSError as error:
        msg = f"{place} cannot be read: {error.strerror}"
        raise StoreError(msg) from error
    try:
        form = _Form.model_validate_json(text).form
        if form > FORM:
            msg = f"{place}: made by a newer Davylamp (form {form}, this one reads {FORM})"
            raise StoreError(msg)
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "JSON"
        msg = f"{place}: not the manifest of a backup ({where}: {first['msg'].lower()})"
        raise StoreError(msg) from None


def flaws_of(folder: Path, manifest: Manifest, on_bytes: OnBytes) -> list[str]:
    """Read every file of a backup, and return what is not as its manifest says."""
    flaws, done = [], 0
    for table in manifest.tables:
        flaws.append(_flaw(folder, table, partial(_told, on_bytes, table, done, manifest.bytes)))
        done += table.bytes
    if manifest.with_key and not (folder / KEY_COPY).is_file():
        flaws.append(f"{KEY_COPY} is missing")
    there = {entry.name for entry in folder.iterdir()}
    strange = sorted(there - manifest.files())
    flaws += [f"{name!a} does not belong to the backup" for name in strange]
    return [flaw for flaw in flaws if flaw]


def _told(on_bytes: OnBytes, table: TableEntry, done: int, expected: int, size: int) -> None:
    on_bytes(table.file, min(done + size, expected), expected)


def _flaw(folder: Path, table: TableEntry, on_size: Callable[[int], None]) -> str:
    digest, size = hashlib.sha256(), 0
    try:
        with (folder / table.file).open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                digest.update(piece)
                size += len(piece)
                on_size(size)
    except FileNotFoundError:
        return f"{table.file} is missing"
    except OSError as error:
        return f"{table.file} cannot be read: {error.strerror}"
    if size != table.bytes:
        return f"{table.file} has {size} bytes instead of {table.bytes}"
    if digest.hexdigest() != table.sha256:
        return f"{table.file} was changed: its SHA-256 is another"
    return ""


def as_kept(instant: datetime) -> datetime:
    """Return an instant as a manifest keeps it: UTC, in whole seconds."""
    return instant.astimezone(UTC).replace(microsecond=0)
