"""Targets as they were configured, and since when: a row for each change, never a credential."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from monitor.config.target import Target
from monitor.http import origin_of
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.rows import TargetRow
from monitor.store.writer import Writer


class TargetBook:
    """Notes what is configured. Which names credentials have is part of it, their values never."""

    def __init__(self, writer: Writer, reader: Reader, hasher: EvidenceHasher) -> None:
        self._writer = writer
        self._reader = reader
        self._hasher = hasher

    def note(self, targets: Iterable[Target], now: datetime) -> tuple[str, ...]:
        """Keep a row for each target that is not configured as it was; return their names."""
        # What was noted a moment ago may still wait to be written.
        self._writer.flush()
        known = {row.name: row for row in self._reader.last_targets()}
        changed = [
            row
            for row in (self._row(target, now) for target in targets)
            if row.name not in known or row != replace(known[row.name], seen_at=row.seen_at)
        ]
        if changed:
            self._writer.put(changed)
        return tuple(row.name for row in changed)

    def _row(self, target: Target, now: datetime) -> TargetRow:
        scheme, host, port = origin_of(target.base_url)
        said = json.dumps(target.model_dump(mode="json", exclude_defaults=True), sort_keys=True)
        return TargetRow(
            name=target.name,
            seen_at=now,
            model=target.model,
            engine=target.engine,
            origin=f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}",
            tenants=tuple(tenant.name for tenant in target.tenants),
            limit_tokens=target.context_tokens,
            limit_source="config" if target.context_tokens is not None else "",
            config_hash=self._hasher(said),
        )
