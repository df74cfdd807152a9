"""Reading GPUs again and again, in a thread of its own: a driver that hangs holds up nobody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from monitor.clock import Clock
from monitor.conventions.gpu import DriverState, GpuState
from monitor.gpu.pool import KvPool, NodeTokens, PoolModel, joined
from monitor.gpu.record import GpuReading, GpusReading
from monitor.gpu.source import GpuSource
from monitor.leaving import Leavable

log = logging.getLogger(__name__)

# What nodes said of their pools is taken for what they say now for so long.
TOKENS_SECONDS = 300.0
_MISSED_READS = 3
_LEAST_STALE_SECONDS = 30.0
_STOP_SECONDS = 5.0
_WELL = frozenset({DriverState.OK, DriverState.NO_GPU})


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPage:
    """What is shown: the last reading if it is fresh, and the pools of nodes."""

    reading: GpusReading | None
    pools: tuple[KvPool, ...]


class GpuWatch:
    """Keeps the last reading of a source. ``start`` it, then ``stop`` it.

    ``tokens`` gives what nodes last said of their KV pools; it must not block.
    A reading that no newer one follows in time is stale: its GPUs are not shown any more.
    """

    def __init__(
        self,
        source: GpuSource,
        clock: Clock,
        interval_seconds: float,
        models: Sequence[PoolModel] = (),
        tokens: Callable[[], Sequence[NodeTokens]] = tuple,
    ) -> None:
        self._source = source
        self._clock = clock
        self._interval = interval_seconds
        self._models = tuple(models)
        self._reading: GpusReading | None = None
        self._began = clock.now()
        self._tokens = tokens
        self._stopping = threading.Event()
        self._first = threading.Event()
        self._thread: Leavable | None = None

    def start(self) -> None:
        """Begin to read."""
        self._thread = Leavable(self._run, "gpus")
        self._thread.start()

    def stop(self) -> None:
        """End reading and let go of the driver; a thread that hangs in it is left behind."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def wait_first(self, seconds: float) -> bool:
        """Wait for the first reading; false if none came in time."""
        return self._first.wait(seconds)

    def read_once(self) -> None:
        """Read now, and say in the log what has changed as a whole."""
        before, now = self._reading, self._source.read()
        self._reading = now
        if before is None or (before.driver_state, before.why) != (now.driver_state, now.why):
            level = logging.INFO if now.driver_state in _WELL else logging.WARNING
            why = f" ({now.why})" if now.why else ""
            log.log(level, "GPUs: %s%s, %d seen", now.driver_state.value, why, len(now.gpus))
        was = {each.gpu: each.state for each in before.gpus} if before else {}
        for each in now.gpus:
            # One that is not well when it is first seen is told, too.
            if was.get(each.gpu, GpuState.OK) is not each.state:
                log.warning("GPU %s: %s", each.gpu, each.state.value)

    def page(self) -> GpuPage:
        """Return what is to be shown now."""
        reading = self._fresh()
        gpus: tuple[GpuReading, ...] = reading.gpus if reading is not None else ()
        pools = tuple(joined(self._recent(each), self._models, gpus) for each in self._tokens())
        return GpuPage(reading=reading, pools=pools)

    def _recent(self, tokens: NodeTokens) -> NodeTokens:
        """Return what a node said, or that it said nothing lately."""
        if (self._clock.now() - tokens.read_at).total_seconds() <= TOKENS_SECONDS:
            return tokens
        return NodeTokens(target=tokens.target, node=tokens.node, read_at=tokens.read_at)

    def _fresh(self) -> GpusReading | None:
        """Return the last reading; without its GPUs if it is stale."""
        reading = self._reading
        since = self._began if reading is None else reading.read_at
        stale = max(_MISSED_READS * self._interval, _LEAST_STALE_SECONDS)
        if (self._clock.now() - since).total_seconds() <= stale:
            return reading
        if reading is None:
            return GpusReading(read_at=self._began, driver_state=DriverState.STALE)
        return replace(reading, driver_state=DriverState.STALE, gpus=())

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self.read_once()
                self._first.set()
                self._source.wait(self._interval, self._stopping)
        finally:
            self._first.set()
            self._source.close()
