"""Certificates in words: what one shows, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.certificate.record import Certificate, MarkerPart, SightingPart
from monitor.certificate.verifying import Inclusion, Verified
from monitor.reports.terminal import printable

# Those of ``summary``, which would make verifying wait for everything that a check needs.
GOOD_EXIT, BAD_EXIT, UNSURE_EXIT = 0, 1, 3
# As findings call it, which need the store.
_REPORTED_SHAPE = "scan"


def issued_line(certificate: Certificate) -> str:
    """Return what is said of a certificate that was issued."""
    sightings, markers = len(certificate.sightings), len(certificate.markers)
    gone = f", {len(certificate.missing)} can be shown no more" if certificate.missing else ""
    return printable(
        f"{certificate.finding.id}: {_count(sightings, 'sighting')} of {_count(markers, 'marker')}"
        f"{gone}, under head {certificate.chain.head} of the audit chain "
        f"(link {certificate.chain.seq}); key {certificate.public_key}"
    )


def verified_exit(verified: Verified, *, require_inclusion: bool) -> int:
    """Return 0 if it holds, 1 if not, 3 if inclusion is required and was not checked."""
    if verified.problems or verified.certificate is None:
        return BAD_EXIT
    unsure = require_inclusion and verified.inclusion is Inclusion.NOT_CHECKED
    return UNSURE_EXIT if unsure else GOOD_EXIT


def verified_lines(verified: Verified) -> list[str]:
    """Return whether a certificate holds, and what it shows if it does.

    Of one whose signature does not hold nothing is said but why.
    """
    return [printable(line) for line in _lines(verified)]


def _lines(verified: Verified) -> Iterator[str]:
    certificate = verified.certificate
    if verified.problems or certificate is None:
        yield "DOES NOT HOLD"
        yield from (f"  {problem}" for problem in verified.problems)
        return
    finding = certificate.finding
    yield (
        f"HOLDS: {finding.verdict_class} {finding.id} at {finding.target}, "
        f"{_count(finding.count, 'verdict')} from {finding.first_seen} to {finding.last_seen}"
    )
    markers = {marker.id: marker for marker in certificate.markers}
    for sighting in certificate.sightings:
        whose = f"to {sighting.answered.tenant}"
        if finding.shape == _REPORTED_SHAPE:
            whose = "that somebody reported"
        yield from _sighting(sighting, markers[sighting.marker], whose)
    if certificate.left_out:
        yield f"  {_count(certificate.left_out, 'further sighting')} left out"
    if certificate.missing:
        yield f"  {_count(len(certificate.missing), 'sighting')} cannot be shown any more"
    yield f"signed by installation {certificate.installation} at {certificate.issued_at}"
    yield _INCLUSION[verified.inclusion]


_INCLUSION = {
    Inclusion.SHOWN: "inclusion shown: every marker was in the audit chain before the head you "
    "gave",
    Inclusion.NOT_SHOWN: "inclusion not shown",
    Inclusion.NOT_CHECKED: "inclusion not checked: nothing shows when the markers were minted "
    "(--head, with a head seen elsewhere)",
}


def _sighting(sighting: SightingPart, marker: MarkerPart, whose: str) -> Iterator[str]:
    seen = sighting.answered
    yield (
        f"  {sighting.decided_at} an answer {whose} (trial {seen.trial}, exchange "
        f"{seen.exchange}, response {seen.response_id or 'without id'}) held"
    )
    yield (
        f"    {marker.text}  of {marker.tenant} (trial {marker.trial}, exchange "
        f"{marker.exchange}), minted {marker.minted_at}, link {marker.link}"
    )
    yield f"    {sighting.evidence_bits:.1f} bits: {sighting.explanation}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
