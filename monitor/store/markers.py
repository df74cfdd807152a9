"""Markers and planted values at rest.

Live ones are sealed under the installation key, expired ones are kept only as hashes.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from monitor.canaries import InstallationKey
from monitor.canaries.parts import PartsHasher, split
from monitor.canaries.registry import Entry
from monitor.errors import StoreError
from monitor.model import Marker, Owner
from monitor.store.client import Location, connect
from monitor.store.reader import Reader
from monitor.store.rebuilding import Rebuilding
from monitor.store.rows import TABLES, MarkerRow
from monitor.store.writer import Writer

_NONCE_BYTES = 12


class MarkerStore:
    """Keeps the registry's markers over restarts."""

    def __init__(
        self, key: InstallationKey, writer: Writer, reader: Reader, location: Location
    ) -> None:
        self._seal_key = AESGCM(key.derive("marker-seal"))
        self._parts_of = PartsHasher(key)
        self._writer = writer
        self._reader = reader
        self._location = location

    def save(self, markers: Iterable[Marker]) -> None:
        """Keep new markers (``MarkerRegistry.take_unsaved``) before they can be sent.

        Raises ``StoreError`` at once where there is no room: a probe under way must not wait.
        """
        rows = [self._row(marker) for marker in markers]
        if rows:
            self._writer.put(rows, wait=False)

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

    def _row(self, marker: Marker) -> MarkerRow:
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
            sealed=self._seal(marker),
        )

    def _seal(self, marker: Marker) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._seal_key.encrypt(nonce, marker.text.encode(), marker.id.encode())
        return base64.b64encode(nonce + sealed).decode()

    def _open(self, row: MarkerRow) -> tuple[str, ...] | None:
        if not row.sealed:
            return None
        try:
            raw = base64.b64decode(row.sealed, validate=True)
            text = self._seal_key.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], row.id.encode())
        except (InvalidTag, ValueError) as error:
            msg = f"marker {row.id} was sealed under another installation key, or changed since"
            raise StoreError(msg) from error
        return split(row.kind, text.decode())

    def _entry(self, row: MarkerRow) -> Entry:
        return Entry(
            id=row.id,
            owner=Owner(
                target=row.target,
                tenant=row.tenant,
                isolation=row.isolation,
                trial=row.trial,
                exchange=row.exchange,
                epoch=row.epoch,
                stratum_key=row.stratum_key,
            ),
            kind=row.kind,
            minted_at=row.minted_at,
            expires_at=row.expires_at,
            part_hashes=row.part_hashes,
            groups=self._open(row),
        )
