"""GPUs of a history, made up, through the product's own collector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric

from monitor.conventions import nodes as names
from monitor.conventions.gpu import (
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    RetiredKind,
    Unattributed,
    Unread,
)
from monitor.gpu.pool import KvPool
from monitor.gpu.record import GpuMemory, GpuReading, GpusReading, MigInstance
from monitor.gpu.watch import GpuPage

GIB = 1 << 30
TARGET = "glm-prod"


class Machines:
    """What is known of two GPUs, and of the pools of two nodes on them."""

    def __init__(self) -> None:
        self.tick = 0
        self.now: datetime | None = None

    def page(self) -> GpuPage:
        """Return what a reader of GPUs knows, for the product's collector."""
        assert self.now is not None
        busy = 0.3 + 0.02 * (self.tick % 20)
        whole = GpuReading(
            gpu="0",
            state=GpuState.OK,
            uuid="GPU-00000000-0000-0000-0000-000000000000",
            name="NVIDIA H200",
            memory=GpuMemory(total=141 * GIB, used=128 * GIB, free=12 * GIB, reserved=GIB),
            utilization=busy,
            memory_utilization=busy / 2,
            ecc={EccKind.CORRECTED: self.tick // 40, EccKind.UNCORRECTED: 0},
            remapped_rows=dict.fromkeys(RemapKind, 0),
            retired_pages=dict.fromkeys(RetiredKind, 0),
            mig_enabled=False,
            processes=1,
            process_bytes={"sglang": 127 * GIB},
        )
        part = MigInstance(
            instance="1", profile="1g.18gb", memory=GpuMemory(total=18 * GIB, used=9 * GIB)
        )
        divided = replace(
            whole, gpu="1", mig_enabled=True, mig=(part,), unread={Quantity.UTILIZATION: _WHY}
        )
        reading = GpusReading(
            read_at=self.now,
            driver_state=DriverState.OK,
            driver="580.95.05",
            gpus=(whole, replace(divided, utilization=None)),
        )
        used = (0.2 + 0.01 * (self.tick % 30)) * 90 * GIB
        pools = (
            KvPool(target=TARGET, node="decode", reserved=90 * GIB, used=used),
            KvPool(target=TARGET, node="prefill", reason=next(iter(Unattributed))),
        )
        return GpuPage(reading=reading, pools=pools)


class DraftCollector:
    """Exports what only nodes that decode speculatively say: the lab's do not."""

    def __init__(self, env: str) -> None:
        self._env = env

    def collect(self) -> Iterator[Metric]:
        """Return the families as they stand now."""
        for named, value in ((names.NODE_ACCEPT_LENGTH, 2.7), (names.NODE_ACCEPT_RATIO, 0.68)):
            family = GaugeMetricFamily(named.name, named.help, labels=list(named.labels))
            family.add_metric((self._env, TARGET, "drafting"), value)
            yield family


_WHY = next(iter(Unread))
