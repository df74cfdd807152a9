"""What stands in a certificate: a documented contract (docs/certificate-json.md).

It holds markers of ours in clear, and else codes, ids, numbers and hashes: no other text of a
prompt or an answer.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

CERTIFICATE_VERSION: Final = 1
# Stands before what is signed, so that no other thing that is signed can be taken for it.
LABEL = b"davylamp-evidence-1\n"
_INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
KeyedHash = Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
Instant = Annotated[str, Field(pattern=_INSTANT)]
Number = Annotated[int, Field(ge=0, lt=2**64)]


class Part(BaseModel):
    """Base of the contract's records."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FindingPart(Part):
    """The finding as it stood when the certificate was issued."""

    id: str
    verdict_class: Literal["LEAK", "CROSSED"]
    target: str
    shape: str
    stratum: str
    state: str
    first_seen: Instant
    last_seen: Instant
    count: Number
    reproduced: Number


class ExchangePart(Part):
    """One exchange in ids, numbers and keyed hashes: what a log of the other side can be held to.

    ``response_id``, ``request_id``, ``reported_model`` and ``system_fingerprint`` are the target's
    own words where they look like an identifier, else their keyed hash.
    """

    trial: str
    exchange: Number
    part: str
    tenant: str
    isolation: str
    started_at: Instant
    total_seconds: float
    http_status: int | None
    request_id: str
    response_id: str
    reported_model: str
    system_fingerprint: str
    request_characters: Number
    request_hash: KeyedHash
    response_characters: Number
    response_hash: KeyedHash


class MarkerPart(Part):
    """A marker in clear, whose it is, and the link that has its salted hash."""

    id: str
    kind: str
    text: str
    target: str
    tenant: str
    isolation: str
    trial: str
    exchange: Number
    epoch: str
    stratum_key: str
    minted_at: Instant
    expires_at: Instant
    salt: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    link: Number
    sent: ExchangePart | None


class SightingPart(Part):
    """A marker that was seen in an answer to another exchange than its own.

    ``evidence_bits`` is net: what matched, less what was searched; ``explanation`` says how it adds
    up. ``places`` are half-open, in characters of the answer; ``searched`` is how many markers and
    planted values were known then.
    """

    verdict: str
    decided_at: Instant
    probe: str
    stratum: str
    variant: Literal["other_tenant", "same_tenant"]
    evidence_bits: float
    explanation: str
    places: list[tuple[int, int]]
    searched: Number
    marker: str
    answered: ExchangePart


class MissingPart(Part):
    """A sighting that nothing can be shown of any more."""

    verdict: str
    marker: str
    why: str


class LinkPart(Part):
    """One link of the audit chain, with everything that is hashed."""

    seq: Number
    at: Instant
    actor: str
    action: str
    object: str
    details: str
    previous: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class ChainPart(Part):
    """The way from a head of the audit chain back to the links of the markers."""

    seq: Number
    head: Hash
    links: list[LinkPart]


class Certificate(Part):
    """An evidence certificate. ``left_out`` counts further sightings in the verdicts looked at."""

    version: Literal[1] = CERTIFICATE_VERSION
    issued_at: Instant
    davylamp: str
    installation: str
    environment: str
    finding: FindingPart
    sightings: list[SightingPart]
    markers: list[MarkerPart]
    missing: list[MissingPart]
    left_out: Number
    chain: ChainPart
    public_key: Hash
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


def canonical(certificate: Certificate) -> bytes:
    """Return the one way a certificate is written: sorted keys, two spaces, ASCII, a last line end.

    Raises ``ValueError`` for a number that JSON does not have.
    """
    return _written(certificate.model_dump(mode="json"))


def to_sign(certificate: Certificate) -> bytes:
    """Return what is signed: a label and the canonical text without the signature."""
    said = certificate.model_dump(mode="json")
    del said["signature"]
    return LABEL + _written(said)


def _written(said: dict[str, object]) -> bytes:
    text = json.dumps(said, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False)
    return f"{text}\n".encode("ascii")
