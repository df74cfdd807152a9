"""Readings are kept while they are fresh, shown as series, and never older than they are said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.conventions import gpu as names
from monitor.conventions.gpu import (
    FATAL_XIDS,
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    RetiredKind,
    Unattributed,
    Unread,
)
from monitor.conventions.metric import Metric
from monitor.gpu import (
    GpuCollector,
    GpuMemory,
    GpuReading,
    GpusReading,
    GpuWatch,
    NodeTokens,
    Parallelism,
    PoolModel,
)
from monitor.gpu.record import MigInstance
from tests.unit.gpu.clocks import MovedClock

LOST = GpuReading(gpu="1", state=GpuState.LOST, error_code=15, uuid="GPU-b")
WHOLE = GpuReading(
    gpu="0",
    state=GpuState.OK,
    uuid="GPU-a",
    name="Stub S100",
    memory=GpuMemory(total=80, used=60, free=20),
    utilization=0.5,
    ecc={EccKind.UNCORRECTED: 2},
    processes=1,
    process_bytes={"sglang": 50},
    unread={Quantity.MIG: Unread.NOT_SUPPORTED},
)


class Told:
    """A source that says what it is told, and ends its own reading after so many."""

    def __init__(self, clock: MovedClock, reads: int = 1) -> None:
        self.clock = clock
        self.left = reads
        self.gpus: tuple[GpuReading, ...] = (WHOLE, LOST)
        self.state = DriverState.OK
        self.why = ""
        self.closed = False

    def read(self) -> GpusReading:
        return GpusReading(
            read_at=self.clock.now(),
            driver_state=self.state,
            why=self.why,
            driver="580.1",
            gpus=self.gpus,
            xids={("0", 79): 2, ("0", 5000): 1, ("0", 6000): 1},
        )

    def wait(self, seconds: float, stopping: Event) -> None:
        self.left -= 1
        if self.left <= 0:
            stopping.set()

    def close(self) -> None:
        self.closed = True


class Page:
    """The series of a watch, as Prometheus reads them."""

    def __init__(self, watch: GpuWatch) -> None:
        registry = CollectorRegistry()
        registry.register(GpuCollector(env="prod", page=watch.page))
        text = generate_latest(registry).decode()
        self._samples = [
            sample for each in text_string_to_metric_families(text) for sample in each.samples
        ]

    def of(self, metric: Metric, **labels: str) -> list[float]:
        wanted = {"env": "prod", **labels}.items()
        found = [each for each in self._samples if each.name == metric.name]
        assert all(set(each.labels) == set(metric.labels) for each in found)
        return [each.value for each in found if wanted <= each.labels.items()]


def watched(
    clock: MovedClock, source: Told, tokens: Sequence[NodeTokens] = (), interval: float = 15.0
) -> GpuWatch:
    return GpuWatch(source, clock, interval, [PoolModel(bytes_per_token=1.0)], lambda: tokens)


def test_a_reading_is_shown_with_a_gap_for_what_was_not_read() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock))
    watch.read_once()
    page = Page(watch)
    assert page.of(names.GPU_DRIVER_STATE, state="ok") == [1]
    assert page.of(names.GPU_DRIVER_STATE, state="no_driver") == [0]
    assert page.of(names.GPU_LAST_READ) == [clock.at.timestamp()]
    assert page.of(names.GPU_UP, gpu="0") == [1]
    assert page.of(names.GPU_UP, gpu="1") == [0]
    assert page.of(names.GPU_STATE, gpu="1", state="lost") == [1]
    assert page.of(names.GPU_ERROR, gpu="1") == [15]
    assert page.of(names.GPU_INFO, gpu="0", uuid="GPU-a", driver="580.1") == [1]
    assert page.of(names.GPU_MEMORY_USED) == [60]
    assert page.of(names.GPU_MEMORY_RESERVED) == []
    assert page.of(names.GPU_UTILIZATION, gpu="0") == [0.5]
    assert page.of(names.GPU_ECC_ERRORS, kind="uncorrected") == [2]
    assert page.of(names.GPU_ECC_ERRORS, kind="corrected") == []
    assert page.of(names.GPU_MIG_ENABLED) == []
    assert page.of(names.GPU_UNREAD, gpu="0", kind="mig", reason="not_supported") == [1]
    assert page.of(names.GPU_PROCESS_MEMORY, gpu="0", process="sglang") == [50]


def test_xids_that_matter_are_there_before_the_first_one() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock))
    watch.read_once()
    page = Page(watch)
    counted = {xid: page.of(names.GPU_XIDS, gpu="0", code=str(xid)) for xid in FATAL_XIDS}
    assert counted == {xid: [2.0 if xid == 79 else 0.0] for xid in FATAL_XIDS}
    assert page.of(names.GPU_XIDS, gpu="0", code="other") == [2]


def test_a_divided_gpu_has_series_of_its_parts_and_of_its_rows_and_pages() -> None:
    clock = MovedClock()
    source = Told(clock)
    part = MigInstance(instance="7", profile="1g.10gb", memory=GpuMemory(total=10, used=4))
    source.gpus = (
        replace(
            WHOLE,
            mig_enabled=True,
            mig=(part,),
            remapped_rows={RemapKind.FAILURE: 1},
            retired_pages={RetiredKind.DOUBLE_BIT: 3},
        ),
    )
    watch = watched(clock, source)
    watch.read_once()
    page = Page(watch)
    assert page.of(names.GPU_MIG_ENABLED, gpu="0") == [1]
    assert page.of(names.GPU_MIG_DEVICES, gpu="0") == [1]
    assert page.of(names.GPU_MIG_MEMORY_USED, mig="7", profile="1g.10gb") == [4]
    assert page.of(names.GPU_REMAPPED_ROWS, kind="failure") == [1]
    assert page.of(names.GPU_RETIRED_PAGES, kind="double_bit") == [3]


def test_what_is_not_listened_to_has_no_zero() -> None:
    clock = MovedClock()
    source = Told(clock)
    source.gpus = (replace(WHOLE, gpu="3", unread={Quantity.XID: Unread.NO_PERMISSION}),)
    watch = watched(clock, source)
    watch.read_once()
    assert Page(watch).of(names.GPU_XIDS, gpu="3") == []


def test_a_reading_that_none_follows_is_stale_and_shows_no_gpu() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock))
    watch.read_once()
    at = clock.at.timestamp()
    clock.move(45)
    assert Page(watch).of(names.GPU_UP, gpu="0") == [1]
    clock.move(1)
    page = Page(watch)
    assert page.of(names.GPU_DRIVER_STATE, state="stale") == [1]
    assert page.of(names.GPU_DRIVER_STATE, state="ok") == [0]
    assert page.of(names.GPU_UP) == []
    assert page.of(names.GPU_LAST_READ) == [at]


def test_a_driver_that_never_answers_is_stale_too() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock))
    assert Page(watch).of(names.GPU_DRIVER_STATE) == []
    clock.move(60)
    assert Page(watch).of(names.GPU_DRIVER_STATE, state="stale") == [1]


def tokens(at: datetime) -> NodeTokens:
    return NodeTokens(
        target="glm",
        node="a",
        read_at=at,
        used_tokens=10,
        capacity_tokens=40,
        spread=Parallelism(tp=1, pp=1, dp=1),
    )


def test_a_pool_of_a_node_is_shown_in_bytes() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock), [tokens(clock.at)])
    watch.read_once()
    page = Page(watch)
    assert page.of(names.KV_POOL_BYTES, target="glm", node="a", state="used") == [10]
    assert page.of(names.KV_POOL_BYTES, target="glm", node="a", state="reserved") == [40]
    assert page.of(names.KV_POOL_UNATTRIBUTED) == []


def test_what_a_node_said_long_ago_is_not_what_it_says_now() -> None:
    clock = MovedClock()
    watch = watched(clock, Told(clock), [tokens(clock.at)])
    clock.move(301)
    watch.read_once()
    page = Page(watch)
    assert page.of(names.KV_POOL_BYTES) == []
    assert page.of(names.KV_POOL_UNATTRIBUTED, reason=Unattributed.NO_TOKENS.value) == [1]


def test_its_thread_reads_again_and_again_and_lets_go_at_the_end() -> None:
    clock = MovedClock()
    source = Told(clock, reads=3)
    watch = watched(clock, source)
    watch.start()
    assert watch.wait_first(30)
    watch.stop()
    assert source.closed
    assert source.left <= 0


def test_the_log_says_why_nothing_is_read_and_which_gpu_is_not_well_from_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = MovedClock()
    source = Told(clock)
    watch = GpuWatch(source, clock, 15)
    with caplog.at_level("INFO"):
        watch.read_once()
        watch.read_once()
        source.state, source.why = DriverState.FAILED, "its page names no GPU"
        watch.read_once()
        source.why = "HTTP 500"
        watch.read_once()
        watch.read_once()
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", "GPUs: ok, 2 seen"),
        ("WARNING", "GPU 1: lost"),
        ("WARNING", "GPUs: failed (its page names no GPU), 2 seen"),
        ("WARNING", "GPUs: failed (HTTP 500), 2 seen"),
    ]


def test_errors_of_memory_are_those_of_one_card() -> None:
    """After a restart another card may go by the same number: that is no rise of the first's."""
    clock = MovedClock()
    watch = GpuWatch(Told(clock), clock, 15)
    watch.read_once()
    assert Page(watch).of(names.GPU_ECC_ERRORS, gpu="0", uuid="GPU-a", kind="uncorrected") == [2]
