"""Markers and planted values at rest.

Live ones are sealed under the installation key, each with the salt of its commitment in the audit
chain; expired ones are kept only as hashes.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from monitor.canaries import InstallationKey
from monitor.canaries.commitments import SALT_BYTES, commitment
from monitor.canaries.parts import PartsHasher, split
from monitor.canaries.registry import Entry
from monitor.errors import StoreError
from monitor.model import Marker, Owner
from monitor.store.audit import AuditLog
from monitor.store.client import Location, connect
from monitor.store.reader import Reader
from monitor.store.rebuilding import Rebuilding
from monitor.store.rows import TABLES, MarkerRow
from monitor.store.writer import Writer

_NONCE_BYTES = 12
# Stands between a text and its salt; no marker or planted value holds it.
_END = b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """A marker whose text is still kept, and its salt: empty if it was minted without."""

    marker: Marker
    salt: bytes


class MarkerStore:
    """Keeps the registry's markers over restarts."""

    def __init__(
        self,
        key: InstallationKey,
        writer: Writer,
        reader: Reader,
        location: Location,
        audit: AuditLog,
    ) -> None:
        self._seal_key = AESGCM(key.derive("marker-seal"))
        self._parts_of = PartsHasher(key)
        self._writer = writer
        self._reader = reader
        self._location = location
        self._audit = audit

    def save(self, markers: Sequence[Marker]) -> None:
        """Keep new markers (``MarkerRegistry.take_unsaved``) before they can be sent.

        One link of the audit chain holds the commitments of all; rows and link are kept together.
        Raises ``StoreError`` at once where there is no room: a probe under way must not wait.
        """
        if not markers:
            return
        salts = [os.urandom(SALT_BYTES) for _ in markers]
        salted = list(zip(markers, salts, strict=True))
        self._audit.mint(
            [commitment(marker, salt) for marker, salt in salted],
            at=max(marker.minted_at for marker in markers),
            rows=[self._row(marker, salt) for marker, salt in salted],
        )

    def unsealed(self, ids: Sequence[str]) -> tuple[Unsealed, ...]:
        """Return those of these markers whose text is still kept.

        Raises ``StoreError`` if a text was sealed under another installation key.
        """
        return tuple(
            Unsealed(marker=_marker(row, opened[0]), salt=opened[1])
            for row in self._reader.markers_of(ids)
            if (opened := self._open(row)) is not None
        )

    def load(self) -> tuple[Entry, ...]:
        """Return every entry for ``MarkerRegistry.restore``, with its text while it is live.

        Raises ``StoreError`` if a text was sealed under another installation key.
        """
        return tuple(self._entry(row) for row in self._reader.markers())

    def expire(self, now: datetime) -> None:
        """Erase the texts of markers past their expiry, and wait until they are gone.

        A marker that the evidence of a finding names keeps its text until that is forgotten.
        Call it after ``MarkerRegistry.expire``, once a day.
        """
        self._writer.flush()
        bound = {"now": now, "keep": list(self._reader.evidence_markers())}
        where = (
            "expires_at <= {now:DateTime64(3, 'UTC')} AND sealed != '' "
            "AND NOT has({keep:Array(String)}, id)"
        )
        with closing(connect(self._location)) as client:
            clustered = self._location.cluster is not None
            rebuilding = Rebuilding(self._writer, client, clustered=clustered)
            rebuilding.update(TABLES[MarkerRow], "sealed", "''", where, bound)

    def _row(self, marker: Marker, salt: bytes) -> MarkerRow:
        owner = marker.owner
        return MarkerRow(
            id=marker.id,
            kind=marker.kind,
            target=owner.target,
            tenant=owner.tenant,
            isolation=owner.isolation,
            trial=owner.trial,
            exchange=owner.exchange,
            epoch=owner.epoch,
            stratum_key=owner.stratum_key,
            minted_at=marker.minted_at,
            expires_at=marker.expires_at,
            part_hashes=self._parts_of(marker.kind, marker.text),
            sealed=self._seal(marker, salt),
        )

    def _seal(self, marker: Marker, salt: bytes) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        content = marker.text.encode() + _END + salt
        sealed = self._seal_key.encrypt(nonce, content, marker.id.encode())
        return base64.b64encode(nonce + sealed).decode()

    def _open(self, row: MarkerRow) -> tuple[str, bytes] | None:
        """Return text and salt of a marker, ``None`` if they are gone."""
        if not row.sealed:
            return None
        try:
            raw = base64.b64decode(row.sealed, validate=True)
            content = self._seal_key.decrypt(
                raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], row.id.encode()
            )
        except (InvalidTag, ValueError) as error:
            msg = f"marker {row.id} was sealed under another installation key, or changed since"
            raise StoreError(msg) from error
        text, _, salt = content.partition(_END)
        return text.decode(), salt

    def _entry(self, row: MarkerRow) -> Entry:
        opened = self._open(row)
        return Entry(
            id=row.id,
            owner=_owner(row),
            kind=row.kind,
            minted_at=row.minted_at,
            expires_at=row.expires_at,
            part_hashes=row.part_hashes,
            groups=None if opened is None else split(row.kind, opened[0]),
        )


def _marker(row: MarkerRow, text: str) -> Marker:
    return Marker(
        id=row.id,
        text=text,
        owner=_owner(row),
        kind=row.kind,
        minted_at=row.minted_at,
        expires_at=row.expires_at,
    )


def _owner(row: MarkerRow) -> Owner:
    return Owner(
        target=row.target,
        tenant=row.tenant,
        isolation=row.isolation,
        trial=row.trial,
        exchange=row.exchange,
        epoch=row.epoch,
        stratum_key=row.stratum_key,
    )
