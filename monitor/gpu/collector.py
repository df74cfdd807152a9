"""GPUs as Prometheus series: only what was read, with a series for every gap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import Metric

from monitor.conventions import gpu as names
from monitor.conventions.families import family_of
from monitor.conventions.gpu import DriverState, GpuState, PoolBytes
from monitor.conventions.metric import Metric as Named
from monitor.gpu.naming import xid_code
from monitor.gpu.pool import KvPool
from monitor.gpu.record import GpuReading, GpusReading
from monitor.gpu.watch import GpuPage

Row = tuple[Named, tuple[str, ...], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCollector:
    """A collector to register. ``page`` gives what is known; it must not block."""

    env: str
    page: Callable[[], GpuPage]

    def collect(self) -> Iterator[Metric]:
        """Return the families as they stand now."""
        page = self.page()
        families = {
            each.name: family_of(each) for each in vars(names).values() if isinstance(each, Named)
        }
        for metric, labels, value in self._rows(page):
            if value is not None:
                families[metric.name].add_metric((self.env, *labels), value)
        yield from families.values()

    def _rows(self, page: GpuPage) -> Iterator[Row]:
        if page.reading is not None:
            yield from _as_a_whole(page.reading)
            for gpu in page.reading.gpus:
                yield from _one(gpu, page.reading.driver)
            yield from _xids(page.reading)
        for pool in page.pools:
            yield from _pool(pool)


def _as_a_whole(reading: GpusReading) -> Iterator[Row]:
    yield from (
        (names.GPU_DRIVER_STATE, (each.value,), float(each is reading.driver_state))
        for each in DriverState
    )
    yield names.GPU_DRIVER_ERROR, (), reading.error_code
    yield names.GPU_LAST_READ, (), reading.read_at.timestamp()


def _one(gpu: GpuReading, driver: str) -> Iterator[Row]:
    name = (gpu.gpu,)
    yield names.GPU_UP, name, float(gpu.state is GpuState.OK)
    for state in GpuState:
        yield names.GPU_STATE, (*name, state.value), float(gpu.state is state)
    yield names.GPU_ERROR, name, gpu.error_code
    yield names.GPU_INFO, (*name, gpu.uuid, gpu.name, driver), 1.0
    for quantity, reason in gpu.unread.items():
        yield names.GPU_UNREAD, (*name, quantity.value, reason.value), 1.0
    yield names.GPU_MEMORY_TOTAL, name, gpu.memory.total
    yield names.GPU_MEMORY_USED, name, gpu.memory.used
    yield names.GPU_MEMORY_FREE, name, gpu.memory.free
    yield names.GPU_MEMORY_RESERVED, name, gpu.memory.reserved
    yield names.GPU_UTILIZATION, name, gpu.utilization
    yield names.GPU_MEMORY_UTILIZATION, name, gpu.memory_utilization
    yield from _errors(gpu)
    yield from _divided(gpu)
    yield names.GPU_PROCESSES, name, gpu.processes
    for process, size in gpu.process_bytes.items():
        yield names.GPU_PROCESS_MEMORY, (*name, process), size


def _errors(gpu: GpuReading) -> Iterator[Row]:
    for ecc, count in gpu.ecc.items():
        yield names.GPU_ECC_ERRORS, (gpu.gpu, gpu.uuid, ecc.value), count
    for row, count in gpu.remapped_rows.items():
        yield names.GPU_REMAPPED_ROWS, (gpu.gpu, row.value), count
    for page, count in gpu.retired_pages.items():
        yield names.GPU_RETIRED_PAGES, (gpu.gpu, page.value), count


def _divided(gpu: GpuReading) -> Iterator[Row]:
    if gpu.mig_enabled is None:
        return
    yield names.GPU_MIG_ENABLED, (gpu.gpu,), float(gpu.mig_enabled)
    yield names.GPU_MIG_DEVICES, (gpu.gpu,), len(gpu.mig)
    for each in gpu.mig:
        labels = (gpu.gpu, each.instance, each.profile)
        yield names.GPU_MIG_MEMORY_TOTAL, labels, each.memory.total
        yield names.GPU_MIG_MEMORY_USED, labels, each.memory.used


def _xids(reading: GpusReading) -> Iterator[Row]:
    """Give what was counted; what matters is 0 for every GPU that is listened to."""
    counts: dict[tuple[str, str], int] = {}
    for gpu in reading.gpus:
        if names.Quantity.XID not in gpu.unread:
            counts |= {(gpu.gpu, str(xid)): 0 for xid in names.FATAL_XIDS}
    for (name, xid), count in reading.xids.items():
        key = (name, xid_code(xid))
        counts[key] = counts.get(key, 0) + count
    yield from ((names.GPU_XIDS, key, count) for key, count in counts.items())


def _pool(pool: KvPool) -> Iterator[Row]:
    node = (pool.target, pool.node)
    yield names.KV_POOL_BYTES, (*node, PoolBytes.RESERVED.value), pool.reserved
    yield names.KV_POOL_BYTES, (*node, PoolBytes.USED.value), pool.used
    if pool.reason is not None:
        yield names.KV_POOL_UNATTRIBUTED, (*node, pool.reason.value), 1.0
