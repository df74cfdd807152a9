"""Whether a certificate holds, offline: from its file, a public key, and perhaps a head.

Nothing in the file is trusted: not the key it names, nor the head it leads to. What is not checked
without a head from elsewhere is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import ValidationError

from monitor.canaries import LEAK_BITS, is_code
from monitor.canaries.candidates import is_written_like
from monitor.canaries.commitments import commitment
from monitor.canaries.values import VALUE_KINDS
from monitor.certificate.keys import PublicKey
from monitor.certificate.record import (
    Certificate,
    LinkPart,
    MarkerPart,
    SightingPart,
    canonical,
    to_sign,
)
from monitor.chain import hash_of
from monitor.model import Marker, Owner, ValueKind

MOST_BYTES = 4_000_000
_MINTED = "mint"

# The number of a link, and a hash.
_Numbered = tuple[int, str]


class Inclusion(StrEnum):
    """Whether the markers were in the audit chain before a head was seen elsewhere."""

    SHOWN = "shown"
    NOT_SHOWN = "not_shown"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What became of a certificate: it holds if there are no ``problems``.

    ``certificate`` is ``None`` if the file is not even one that this key signed: nothing in it is
    to be shown.
    """

    problems: tuple[str, ...]
    inclusion: Inclusion
    certificate: Certificate | None = None


def verify(content: bytes, key: PublicKey, head: str | None = None) -> Verified:
    """Verify what a file holds; ``head`` is one of the chain's hashes, seen elsewhere."""
    unchecked = Inclusion.NOT_CHECKED
    try:
        certificate = _read(content)
    except _NoCertificateError as error:
        return Verified(problems=(str(error),), inclusion=unchecked)
    if certificate.public_key != key.fingerprint:
        problem = f"it names the key {certificate.public_key[:16]}…, and yours is another"
        return Verified(problems=(problem,), inclusion=unchecked)
    if not key.verifies(certificate.signature, to_sign(certificate)):
        problem = "the signature is not of this content by this key: something was changed"
        return Verified(problems=(problem,), inclusion=unchecked)
    links = _Links(certificate)
    minted = links.minted(certificate.chain.head)
    problems = [*links.problems(), *_marker_problems(certificate, minted)]
    problems += _sighting_problems(certificate)
    inclusion = unchecked
    if head is not None:
        inclusion = _inclusion(certificate, links.minted(head))
        if inclusion is Inclusion.NOT_SHOWN:
            problems.append("its chain does not lead from the head you gave to every marker")
    return Verified(problems=tuple(problems), inclusion=inclusion, certificate=certificate)


class _NoCertificateError(ValueError):
    """A file is no certificate; the message says why and quotes nothing of it."""


def _read(content: bytes) -> Certificate:
    """Return what a file says, if it is written in the one way there is."""
    if len(content) > MOST_BYTES:
        raise _NoCertificateError(f"it has more than {MOST_BYTES} bytes, as no certificate has")
    try:
        certificate = Certificate.model_validate_json(content)
        written = canonical(certificate)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(each) for each in wrong["loc"] if str(each).isidentifier())
        problem = f"it is no certificate of version 1: {where or 'the file'} ({wrong['type']})"
        raise _NoCertificateError(problem) from None
    except (ValueError, RecursionError):
        raise _NoCertificateError("it is no JSON") from None
    if written != content:
        raise _NoCertificateError("it is not written as certificates are: something was changed")
    return certificate


class _Links:
    """The links of a certificate, each known by the hash of what it says."""

    def __init__(self, certificate: Certificate) -> None:
        self._chain = certificate.chain
        self._by_hash = {hash_of(link, link.at): link for link in self._chain.links}
        self._hashes = {link.seq: hashed for hashed, link in self._by_hash.items()}

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the way from the certificate's own head."""
        if len(self._by_hash) < len(self._chain.links):
            yield "a link of its chain stands there twice"
        reached = self._reached(self._chain.head)
        if self._chain.seq not in {link.seq for link in reached[:1]}:
            yield "its chain does not begin at the head it names"
        elif len(reached) < len(self._by_hash):
            yield "its chain holds links that its head does not lead to"
        if len(self._hashes) < len(self._by_hash):
            yield "its chain holds two different links of one number"
            return
        for link in self._by_hash.values():
            if any(self._strays(link, *each) for each in _before(link)):
                yield f"link {link.seq} of its chain points to another link than it says"

    def minted(self, head: str) -> frozenset[_Numbered]:
        """Return what the links of minting that a head leads to have of markers."""
        return frozenset(
            (link.seq, hashed)
            for link in self._reached(head)
            for hashed in _texts(_said(link).get("markers"))
        )

    def _strays(self, link: LinkPart, number: int, hashed: str) -> bool:
        """Tell whether what a link points to is not the earlier link of that number."""
        there = self._by_hash.get(hashed)
        renumbered = there is not None and there.seq != number
        return number >= link.seq or renumbered or self._hashes.get(number, hashed) != hashed

    def _reached(self, head: str) -> list[LinkPart]:
        """Return the links a hash leads to, that one first."""
        waiting, seen, reached = [head], {head}, []
        while waiting:
            link = self._by_hash.get(waiting.pop())
            if link is None:
                continue
            reached.append(link)
            before = {hashed for _, hashed in _before(link)} - seen
            seen |= before
            waiting += sorted(before)
        return reached


def _before(link: LinkPart) -> Iterator[_Numbered]:
    """Yield the number and the hash of each link that one points to."""
    yield link.seq - 1, link.previous
    said = _said(link)
    jump, hashed = said.get("jump"), said.get("jump_hash")
    if isinstance(hashed, str):
        # Without a number it points to no link: there is none of this one.
        yield jump if isinstance(jump, int) else -1, hashed


def _said(link: LinkPart) -> dict[str, object]:
    try:
        said = json.loads(link.details)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) and link.action == _MINTED else {}


def _texts(said: object) -> list[str]:
    return [each for each in said if isinstance(each, str)] if isinstance(said, list) else []


def _inclusion(certificate: Certificate, minted: frozenset[_Numbered]) -> Inclusion:
    """Tell whether every marker is among what a head leads to: itself, not one of its number."""
    included = all(
        marker is not None and _committed(part, marker) in minted
        for part, marker in ((part, _marker(part)) for part in certificate.markers)
    )
    return Inclusion.SHOWN if included else Inclusion.NOT_SHOWN


def _committed(part: MarkerPart, marker: Marker) -> _Numbered:
    return part.link, commitment(marker, bytes.fromhex(part.salt))


def _marker_problems(certificate: Certificate, minted: frozenset[_Numbered]) -> Iterator[str]:
    for number, part in enumerate(certificate.markers):
        name = f"marker {number + 1}"
        if not _is_well_formed(part):
            yield f"{name} is not written like one of its kind"
        marker = _marker(part)
        if marker is None:
            yield f"{name} has an instant that there is not"
        elif _committed(part, marker) not in minted:
            yield f"{name} is not the one whose salted hash is in link {part.link}"


def _is_well_formed(part: MarkerPart) -> bool:
    """Tell whether a text has the shape of its kind. Its tag takes the installation key."""
    if part.kind in VALUE_KINDS:
        return is_written_like(ValueKind(part.kind), part.text)
    return part.kind in ("nonce", "planted") and is_code(part.text)


def _marker(part: MarkerPart) -> Marker | None:
    try:
        minted_at, expires_at = map(datetime.fromisoformat, (part.minted_at, part.expires_at))
    except ValueError:
        return None
    owner = Owner(
        target=part.target,
        tenant=part.tenant,
        isolation=part.isolation,
        trial=part.trial,
        exchange=part.exchange,
        epoch=part.epoch,
        stratum_key=part.stratum_key,
    )
    return Marker(
        id=part.id,
        text=part.text,
        owner=owner,
        kind=part.kind,
        minted_at=minted_at,
        expires_at=expires_at,
    )


def _sighting_problems(certificate: Certificate) -> Iterator[str]:
    markers = {marker.id: marker for marker in certificate.markers}
    if not certificate.sightings:
        yield "it shows no sighting of a marker"
    for number, sighting in enumerate(certificate.sightings):
        marker = markers.get(sighting.marker)
        if marker is None:
            yield f"sighting {number + 1} is of a marker that is not shown"
        elif wrong := _contradiction(sighting, marker, certificate.finding.target):
            yield f"sighting {number + 1}: {wrong}"
    crossed = all(sighting.variant == "same_tenant" for sighting in certificate.sightings)
    if certificate.sightings and crossed and certificate.finding.verdict_class == "LEAK":
        yield "it calls a LEAK what was seen within one tenant only"


def _contradiction(sighting: SightingPart, marker: MarkerPart, target: str) -> str:
    """Return in what a sighting contradicts the marker it is of, empty if in nothing."""
    seen = sighting.answered
    if sighting.evidence_bits < LEAK_BITS:
        return f"{sighting.evidence_bits:.1f} bits prove nothing, it takes {LEAK_BITS:g}"
    if (marker.trial, marker.exchange) == (seen.trial, seen.exchange):
        return "the marker is the exchange's own"
    same = (marker.target, marker.tenant) == (target, seen.tenant)
    if same != (sighting.variant == "same_tenant"):
        return f"the tenants are not as {sighting.variant} says"
    if marker.minted_at > sighting.decided_at:
        return "the marker was minted after it was seen"
    return ""
