"""Make a certificate of a finding from the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from monitor import __version__
from monitor.canaries.commitments import commitment
from monitor.certificate.keys import Signer
from monitor.certificate.record import (
    Certificate,
    ChainPart,
    ExchangePart,
    FindingPart,
    LinkPart,
    MarkerPart,
    MissingPart,
    SightingPart,
    canonical,
    to_sign,
)
from monitor.certificate.verifying import MOST_BYTES
from monitor.certificate.way import way_back
from monitor.chain import instant_text
from monitor.errors import UnsureError, UsageError
from monitor.findings import Finding, finding_named
from monitor.model import Signal, Status, Verdict, VerdictClass
from monitor.store import Action, Store
from monitor.store.markers import Unsealed
from monitor.store.rows import AuditRow, ExchangeRow

CERTIFIED = (VerdictClass.LEAK, VerdictClass.CROSSED)
MOST_SIGHTINGS = 16
MOST_VERDICTS = 64
_PROVEN = ("other_tenant", "same_tenant")
_UNSIGNED = "0" * 128

_Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Which finding, who asks, and the head its markers are to be shown under, if not the last."""

    finding: str
    who: str
    head: str | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A signal that names a marker."""

    verdict: Verdict
    signal: Signal
    marker: str


@dataclass(slots=True)
class _Shown:
    """What can be shown of a finding, and what cannot any more."""

    sightings: list[SightingPart] = field(default_factory=list)
    missing: list[MissingPart] = field(default_factory=list)
    markers: dict[str, MarkerPart] = field(default_factory=dict)
    left_out: int = 0


def issue(store: Store, environment: str, asked: Export, now: datetime) -> str:
    """Return the certificate of a finding as its file is to hold it, but for the last line end.

    The finding may be named by the beginning of its id. That markers were revealed becomes a link
    of the audit chain, once it is known that they can be. Raises ``UsageError`` for a finding or a
    head that there is not, or a class that nothing is shown of; ``UnsureError`` naming what is
    missing if no sighting can be shown any more, or no way from the head.
    """
    finding = _certified(store, asked.finding)
    shown = _shown(store, finding)
    if not shown.sightings:
        raise UnsureError(f"{finding.id}: no certificate: {_missing_words(shown)}")
    draft = _Draft(store, environment, finding, shown, now)
    # Written under a head that is there already before anything is said to be revealed.
    text = draft.written(_head(store, asked))
    told = store.audit.append(
        Action.EXPORT_EVIDENCE,
        finding.id,
        actor=asked.who,
        at=now,
        details={
            "class": finding.verdict_class.label,
            "markers": len(shown.markers),
            "target": finding.target,
        },
    )
    return text if asked.head else draft.written(_link_of(store, told.hash))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A certificate but for the head it is to lead to."""

    store: Store
    environment: str
    finding: Finding
    shown: _Shown
    now: datetime

    def written(self, head: AuditRow) -> str:
        """Return it, signed. Raises ``UnsureError`` for no way from the head, or if too large."""
        signer = Signer(self.store.key)
        unsigned = self._under(head, signer.public.fingerprint)
        signed = unsigned.model_copy(update={"signature": signer.sign(to_sign(unsigned))})
        written = canonical(signed)
        if len(written) > MOST_BYTES:
            msg = f"{self.finding.id}: the certificate would have more than {MOST_BYTES} bytes"
            raise UnsureError(msg)
        return written.decode("ascii").removesuffix("\n")

    def _under(self, head: AuditRow, public_key: str) -> Certificate:
        shown = self.shown
        links = way_back(self.store, head, {marker.link for marker in shown.markers.values()})
        return Certificate(
            issued_at=instant_text(self.now),
            davylamp=__version__,
            installation=self.store.key.fingerprint,
            environment=self.environment,
            finding=_finding_part(self.finding),
            sightings=shown.sightings,
            markers=list(shown.markers.values()),
            missing=shown.missing,
            left_out=shown.left_out,
            chain=ChainPart(
                seq=head.seq, head=head.hash, links=[_link_part(link) for link in links]
            ),
            public_key=public_key,
            signature=_UNSIGNED,
        )


def _certified(store: Store, named: str) -> Finding:
    finding = finding_named(store, named)
    if finding.verdict_class not in CERTIFIED:
        msg = (
            f"{finding.id} is a finding of class {finding.verdict_class.label}: certificates are "
            f"of {' and '.join(each.label for each in CERTIFIED)}, which a marker proves"
        )
        raise UsageError(msg)
    return finding


def _head(store: Store, asked: Export) -> AuditRow:
    """Return the link of the head that was given, else of the newest there is.

    Raises ``UsageError`` for a head that is not in the chain.
    """
    if asked.head is not None:
        given = store.reader.audit_link_of(asked.head)
        if given is None:
            raise UsageError(f"the head you gave is not in the audit chain: {asked.head}")
        return given
    newest = store.audit.head
    return _link_of(store, newest.hash if newest else "")


def _link_of(store: Store, hashed: str) -> AuditRow:
    store.flush()
    link = store.reader.audit_link_of(hashed)
    if link is None:
        raise UnsureError("the audit chain cannot be read back: see db audit")
    return link


def _shown(store: Store, finding: Finding) -> _Shown:
    """Return what can be shown of a finding, the first sightings first."""
    seen = _seen(store.reader.verdicts_of(finding.id, CERTIFIED, MOST_VERDICTS))
    unsealed = {each.marker.id: each for each in store.markers.unsealed([s.marker for s in seen])}
    trials = {each.verdict.trial for each in seen}
    trials |= {each.marker.owner.trial for each in unsealed.values()}
    exchanges = {
        (row.trial, row.exchange): row for row in store.reader.exchanges_of(sorted(trials))
    }
    links = _links_of(store, [each for each in unsealed.values() if each.salt])
    shown = _Shown()
    for each in seen:
        marker, answered = unsealed.get(each.marker), exchanges.get(_place(each))
        link = links.get(each.marker)
        if marker is None or answered is None or link is None:
            why = _why(marker, answered)
            gone = MissingPart(verdict=each.verdict.id, marker=each.marker, why=why)
            shown.missing.append(gone)
        elif len(shown.sightings) == MOST_SIGHTINGS:
            shown.left_out += 1
        else:
            shown.sightings.append(_sighting_part(each, answered))
            sent = exchanges.get((marker.marker.owner.trial, marker.marker.owner.exchange))
            shown.markers.setdefault(each.marker, _marker_part(marker, link, sent))
    shown.left_out += max(0, len(shown.missing) - MOST_SIGHTINGS)
    del shown.missing[MOST_SIGHTINGS:]
    return shown


def _seen(verdicts: Sequence[Verdict]) -> list[_Seen]:
    return [
        _Seen(verdict, signal, signal.marker_id)
        for verdict in verdicts
        for signal in verdict.signals
        if signal.status is Status.FAIL and signal.variant in _PROVEN and signal.marker_id
    ]


def _place(seen: _Seen) -> _Place:
    return seen.verdict.trial, seen.signal.exchange


def _links_of(store: Store, markers: Sequence[Unsealed]) -> Mapping[str, int]:
    """Return the number of the link that has each marker's commitment."""
    if not markers:
        return {}
    hashes = {commitment(each.marker, each.salt): each.marker.id for each in markers}
    since = min(each.marker.minted_at for each in markers)
    found: dict[str, int] = {}
    for link in store.reader.audit_links_with(Action.MINT.value, since, list(hashes)):
        for hashed in json.loads(link.details)["markers"]:
            if hashed in hashes:
                found.setdefault(hashes[hashed], link.seq)
    return found


def _why(marker: Unsealed | None, answered: ExchangeRow | None) -> str:
    if marker is None:
        return "the text of the marker is gone: it expired or was forgotten"
    if answered is None:
        return "the exchange is not kept: it ended, was forgotten, or was never one of ours"
    if not marker.salt:
        return "the marker was minted before salted hashes stood in the audit chain"
    return "no link of the audit chain has the salted hash of the marker: see db audit"


def _missing_words(shown: _Shown) -> str:
    if not shown.missing:
        return "none of its verdicts that are still kept names a marker, which alone can be shown"
    whys = sorted({each.why for each in shown.missing})
    return "; ".join(
        f"{why} ({', '.join(sorted({m.marker for m in shown.missing if m.why == why}))})"
        for why in whys
    )


def _finding_part(finding: Finding) -> FindingPart:
    return FindingPart(
        id=finding.id,
        verdict_class=finding.verdict_class.label,  # type: ignore[arg-type]  # checked before
        target=finding.target,
        shape=finding.shape,
        stratum=finding.stratum,
        state=finding.state.value,
        first_seen=instant_text(finding.first_seen),
        last_seen=instant_text(finding.last_seen),
        count=finding.count,
        reproduced=finding.reproduced,
    )


def _sighting_part(seen: _Seen, answered: ExchangeRow) -> SightingPart:
    verdict, signal = seen.verdict, seen.signal
    return SightingPart(
        verdict=verdict.id,
        decided_at=instant_text(verdict.decided_at),
        probe=verdict.probe,
        stratum=verdict.stratum,
        variant=signal.variant,  # type: ignore[arg-type]  # checked before
        evidence_bits=float(signal.evidence_bits or 0.0),
        explanation=signal.explanation,
        places=list(signal.spans),
        searched=verdict.markers,
        marker=seen.marker,
        answered=_exchange_part(answered),
    )


def _marker_part(unsealed: Unsealed, link: int, sent: ExchangeRow | None) -> MarkerPart:
    marker, owner = unsealed.marker, unsealed.marker.owner
    return MarkerPart(
        id=marker.id,
        kind=marker.kind,
        text=marker.text,
        target=owner.target,
        tenant=owner.tenant,
        isolation=owner.isolation,
        trial=owner.trial,
        exchange=owner.exchange,
        epoch=owner.epoch,
        stratum_key=owner.stratum_key,
        minted_at=instant_text(marker.minted_at),
        expires_at=instant_text(marker.expires_at),
        salt=unsealed.salt.hex(),
        link=link,
        sent=_exchange_part(sent) if sent else None,
    )


def _exchange_part(row: ExchangeRow) -> ExchangePart:
    return ExchangePart(
        trial=row.trial,
        exchange=row.exchange,
        part=row.part,
        tenant=row.tenant,
        isolation=row.isolation,
        started_at=instant_text(row.started_at),
        total_seconds=float(row.total_seconds),
        http_status=row.http_status,
        request_id=row.request_id,
        response_id=row.response_id,
        reported_model=row.reported_model,
        system_fingerprint=row.system_fingerprint,
        request_characters=row.request_characters,
        request_hash=row.request_hash,
        response_characters=row.response_characters,
        response_hash=row.response_hash,
    )


def _link_part(link: AuditRow) -> LinkPart:
    return LinkPart(
        seq=link.seq,
        at=instant_text(link.at),
        actor=link.actor,
        action=link.action,
        object=link.object,
        details=link.details,
        previous=link.previous,
    )
