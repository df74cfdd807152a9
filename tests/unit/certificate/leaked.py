"""A store in which an answer carried another tenant's markers, found and kept as it always is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from monitor.canaries import MarkerRegistry, Minter
from monitor.findings import findings_in
from monitor.model import Marker, Owner, Signal, VerdictClass
from monitor.sinks import ClickHouseSink
from monitor.store import Store
from tests.unit.store.samples import NOW, exchange, leak_signal, trial, verdict

DONOR, VICTIM = "donor-a", "victim-b"


class Leaked:
    """One target; what is done in it is named by numbers."""

    def __init__(self, store: Store, target: str) -> None:
        self.store, self.target = store, target
        self.registry = MarkerRegistry(store.key)
        self.minter = Minter(store.key, self.registry)
        self.sink = ClickHouseSink(store.writer, store.hasher)
        self.findings = findings_in(store, NOW)

    def mint(self, number: int, *kinds: str, tenant: str = DONOR) -> list[Marker]:
        """Mint markers of the first exchange of a trial, and keep that trial."""
        asked = self._trial(number, tenant)
        of = Owner(
            target=self.target,
            tenant=tenant,
            isolation=tenant,
            trial=asked.id,
            exchange=0,
            epoch="2026-11-02",
            stratum_key="canary/short",
        )
        minted = [self.minter.mint(of, NOW, kind=kind) for kind in kinds or ("nonce",)]
        self.store.markers.save(self.registry.take_unsaved())
        self.sink.deliver(asked, verdict(number, self.target, signals=()))
        return minted

    def leak(self, number: int, markers: Sequence[Marker], *, victim: str = VICTIM) -> str:
        """Let an answer of a trial hold these markers, and return the finding."""
        asked = self._trial(number, victim)
        signals = tuple(self._signal(marker, victim) for marker in markers)
        same = all(signal.variant == "same_tenant" for signal in signals)
        judged = verdict(
            number,
            self.target,
            signals=signals,
            verdict_class=VerdictClass.CROSSED if same else VerdictClass.LEAK,
            markers=1234,
        )
        finding = self.findings.record(judged)
        assert finding is not None
        self.sink.deliver(asked, replace(judged, finding=finding.id))
        self.store.flush()
        return finding.id

    def _trial(self, number: int, tenant: str) -> Any:
        said = replace(exchange(0), tenant=tenant, isolation=tenant)
        return trial(number, self.target, exchanges=(said,), started_at=NOW + timedelta(hours=1))

    def _signal(self, marker: Marker, victim: str) -> Signal:
        return replace(
            leak_signal(self.target),
            owner=marker.owner,
            marker_id=marker.id,
            variant="same_tenant" if marker.owner.tenant == victim else "other_tenant",
        )
