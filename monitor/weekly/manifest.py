"""The manifest of a report: the SHA-256 of every file, the report before, and a signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from monitor.certificate.keys import Signer
from monitor.weekly.week import Week

MANIFEST_VERSION: Final = 1
MANIFEST_FILE = "manifest.json"
MOST_MANIFEST_BYTES = 1_000_000
LABEL = b"davylamp-weekly-report-1\n"
_UNSIGNED = "0" * 128
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
WeekLabel = Annotated[str, Field(pattern=r"^[0-9]{4}-W[0-9]{2}$")]


class Part(BaseModel):
    """Base of the manifest's records: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FilePart(Part):
    """One file of a report."""

    name: Annotated[str, Field(pattern=r"^[a-z_]{1,40}\.(html|json|csv|parquet)$")]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Hash


class PreviousPart(Part):
    """The report before: its week, and the SHA-256 of its manifest.

    ``weeks_between`` weeks have no report of this chain; 0 if it is of the week before.
    """

    week: WeekLabel
    manifest_sha256: Hash
    weeks_between: Annotated[int, Field(ge=0)]


class Manifest(Part):
    """What a report consists of. ``previous`` is ``None`` for the first of a chain."""

    version: Literal[1] = MANIFEST_VERSION
    davylamp: str
    installation: str
    environment: str
    week: WeekLabel
    files: list[FilePart]
    previous: PreviousPart | None
    public_key: Hash
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """Whose report it is: what goes into a manifest besides the files."""

    davylamp: str
    installation: str
    environment: str
    week: Week
    previous: PreviousPart | None


def manifest_of(files: Mapping[str, bytes], signed: Signed, signer: Signer) -> bytes:
    """Return the manifest of files as it is to be written, signed."""
    unsigned = Manifest(
        davylamp=signed.davylamp,
        installation=signed.installation,
        environment=signed.environment,
        week=signed.week.label,
        files=[
            FilePart(name=name, bytes=len(content), sha256=sha256(content))
            for name, content in sorted(files.items())
        ],
        previous=signed.previous,
        public_key=signer.public.fingerprint,
        signature=_UNSIGNED,
    )
    return canonical(unsigned.model_copy(update={"signature": signer.sign(to_sign(unsigned))}))


def sha256(content: bytes) -> str:
    """Return the SHA-256 of some bytes as hex digits."""
    return hashlib.sha256(content).hexdigest()


def canonical(manifest: Manifest) -> bytes:
    """Return the one way a manifest is written: sorted keys, two spaces, ASCII, a last line end."""
    return _written(manifest.model_dump(mode="json"))


def to_sign(manifest: Manifest) -> bytes:
    """Return what is signed: a label and the canonical text without the signature."""
    said = manifest.model_dump(mode="json")
    del said["signature"]
    return LABEL + _written(said)


def _written(said: Mapping[str, object]) -> bytes:
    return (json.dumps(said, sort_keys=True, indent=2, ensure_ascii=True) + "\n").encode("ascii")
