"""The page of a DCGM exporter becomes the same record; what it does not say is a gap."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.gpu import (
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    Unread,
)
from monitor.gpu import DcgmSource, GpuReading, GpusReading
from monitor.gpu.dcgm import reading_of, samples_of
from monitor.http import HttpClient
from tests.unit.gpu.clocks import MovedClock

AT = datetime(2026, 12, 1, tzinfo=UTC)
MIB = 1024**2
BLANK = 9_223_372_036_854_775_794
FIRST = (
    'gpu="0",UUID="GPU-aa",pci_bus_id="00000000:1B:00.0",device="nvidia0",modelName="Stub S100",'
    'Hostname="node-1",DCGM_FI_DRIVER_VERSION="580.65.06"'
)
SECOND = 'gpu="1",uuid="GPU-bb",device="nvidia1",modelName="Stub S100",hostname="node-1",pod="p"'
PAGE = f"""\
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{{{FIRST}}} 61000
DCGM_FI_DEV_FB_FREE{{{FIRST}}} 19000
DCGM_FI_DEV_FB_RESERVED{{{FIRST}}} 559
DCGM_FI_DEV_GPU_UTIL{{{FIRST}}} 75
DCGM_FI_DEV_MEM_COPY_UTIL{{{FIRST}}} 40
DCGM_FI_DEV_XID_ERRORS{{{FIRST},err_code="79",err_msg="GPU has fallen off the bus"}} 79
DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{{{FIRST}}} 3
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{FIRST}}} 1
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{FIRST}}} 2
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS{{{FIRST}}} 0
DCGM_FI_DEV_ROW_REMAP_FAILURE{{{FIRST}}} 1
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{FIRST}}} 0.9
DCGM_FI_DEV_FB_USED{{{SECOND}}} 5
DCGM_FI_DEV_GPU_UTIL{{{SECOND}}} {BLANK}
DCGM_FI_DEV_FB_FREE{{{SECOND}}} 2147483632
DCGM_FI_DEV_XID_ERRORS{{{SECOND}}} 0
go_goroutines 12
"""
PART = 'gpu="0",UUID="GPU-aa",modelName="Stub S100",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"'
DIVIDED = f"""\
DCGM_FI_DEV_FB_USED{{{PART}}} 400
DCGM_FI_DEV_FB_FREE{{{PART}}} 9600
DCGM_FI_DEV_XID_ERRORS{{{PART}}} 94
DCGM_FI_DEV_XID_ERRORS{{{PART.replace('"7"', '"8"')}}} 0
DCGM_FI_DEV_FB_USED{{{PART.replace('"7"', '"8"')}}} 1
"""


def test_fields_become_bytes_ratios_and_counts() -> None:
    told, xids = reading_of(PAGE, AT)
    first, second = told.gpus
    assert (told.driver_state, told.driver) == (DriverState.OK, "580.65.06")
    assert (first.gpu, first.uuid, first.name, first.state) == (
        *("0", "GPU-aa", "Stub S100"),
        GpuState.OK,
    )
    assert (first.memory.used, first.memory.free) == (61_000 * MIB, 19_000 * MIB)
    assert (first.memory.reserved, first.memory.total) == (559 * MIB, 80_559 * MIB)
    assert (first.utilization, first.memory_utilization) == (0.75, 0.4)
    assert first.ecc == {EccKind.CORRECTED: 3, EccKind.UNCORRECTED: 1}
    assert first.remapped_rows == {
        RemapKind.CORRECTABLE: 0,
        RemapKind.UNCORRECTABLE: 2,
        RemapKind.FAILURE: 1,
    }
    assert second.uuid == "GPU-bb"
    assert xids == {"0": 79, "1": 0}


def test_what_is_not_exported_or_blank_is_a_gap_and_never_a_figure() -> None:
    told, _ = reading_of(PAGE, AT)
    _, second = told.gpus
    assert second.utilization is None
    assert (second.memory.free, second.memory.total) == (None, None)
    assert second.unread == dict.fromkeys(
        (
            *(Quantity.UTILIZATION, Quantity.ECC, Quantity.REMAPPED_ROWS),
            *(Quantity.RETIRED_PAGES, Quantity.MIG, Quantity.PROCESSES),
        ),
        Unread.NOT_EXPORTED,
    )


def test_parts_of_a_divided_gpu_have_their_profile_and_their_worst_xid_counts() -> None:
    told, xids = reading_of(DIVIDED, AT)
    [gpu] = told.gpus
    assert gpu.mig_enabled is True
    assert [(each.instance, each.profile) for each in gpu.mig] == [
        ("7", "1g.10gb"),
        ("8", "1g.10gb"),
    ]
    assert gpu.mig[0].memory.total == 10_000 * MIB
    assert gpu.memory.used is None
    assert xids == {"0": 94}


def test_a_page_without_gpus_is_a_failure() -> None:
    for page in (
        "",
        "go_goroutines 12\n",
        'DCGM_FI_DEV_FB_USED{gpu="x"} 1\n',
        "DCGM_FI_DEV_FB_USED",
    ):
        assert reading_of(page, AT)[0].driver_state is DriverState.FAILED


def test_a_hostile_page_is_bounded() -> None:
    many = "".join(f'DCGM_FI_DEV_FB_USED{{gpu="{n}"}} 1\n' for n in range(3000))
    told, _ = reading_of(many, AT)
    assert (len(told.gpus), told.driver_state) == (64, DriverState.FAILED)
    parts = "".join(f'DCGM_FI_DEV_FB_USED{{gpu="0",GPU_I_ID="{n}"}} 1\n' for n in range(3000))
    assert len(reading_of(parts, AT)[0].gpus[0].mig) == 64
    long = 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="' + "x" * 100_000 + '"} 1\n'
    assert list(samples_of(long)) == []
    named = 'DCGM_FI_DEV_FB_USED{gpu="0",modelName="<b>\\n\x1b[31m' + "n" * 500 + '"} 1\n'
    [gpu] = reading_of(named, AT)[0].gpus
    assert len(gpu.name) <= 64
    assert not set("<>\n\x1b[") & set(gpu.name)


_WORDS = st.sampled_from([*PAGE.split("\n"), *PAGE.split('"'), "{", "}", "NaN", "-1", "1e400"])


@given(st.lists(_WORDS | st.text(max_size=20), max_size=30))
def test_no_page_crashes_or_gives_a_figure_that_cannot_be(words: list[str]) -> None:
    told, _ = reading_of("".join(words), AT)
    plausible(told)


@given(st.integers(0, len(PAGE)), st.integers(0, 20), st.text(max_size=6))
def test_a_damaged_page_keeps_figures_plausible(at: int, cut: int, put: str) -> None:
    told, _ = reading_of(PAGE[:at] + put + PAGE[at + cut :], AT)
    plausible(told)


def plausible(told: GpusReading) -> None:
    assert (told.driver_state is DriverState.OK) == bool(told.gpus)
    for gpu in told.gpus:
        sizes = (gpu.memory.total, gpu.memory.used, gpu.memory.free, gpu.memory.reserved)
        assert all(size is None or 0 <= size < 2**70 for size in sizes)
        assert gpu.utilization is None or 0 <= gpu.utilization <= 1
        assert (gpu.utilization is None) == (Quantity.UTILIZATION in gpu.unread)


class Exporter(httpx.AsyncBaseTransport):
    """Answers with what it is given, and notes the credential it was asked with."""

    def __init__(self) -> None:
        self.page, self.status = PAGE, 200
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.status == 0:
            raise httpx.ConnectError("refused")
        self.asked.append(request.headers.get("authorization", ""))
        return httpx.Response(self.status, content=self.page)


TOKEN = "planted-token"  # noqa: S105 - of nobody


def source(
    exporter: Exporter, token: str | None = None, clock: MovedClock | None = None
) -> DcgmSource:
    clock, origins = clock or MovedClock(), frozenset({("http", "127.0.0.1", 9400)})

    def client() -> HttpClient:
        return HttpClient(origins=origins, clock=clock, transport=exporter)

    return DcgmSource("http://127.0.0.1:9400/metrics", clock, token, client)


def states(told: GpusReading) -> dict[str, GpuState]:
    return {each.gpu: each.state for each in told.gpus}


WITHOUT_SECOND = "\n".join(line for line in PAGE.splitlines() if 'gpu="1"' not in line)


def test_a_gpu_that_stays_away_from_the_pages_is_lost_until_it_is_back() -> None:
    exporter, clock = Exporter(), MovedClock()
    reads = source(exporter, clock=clock)
    assert states(reads.read()) == {"0": GpuState.OK, "1": GpuState.OK}
    exporter.page = WITHOUT_SECOND
    for _ in range(8):
        assert states(reads.read()) == {"0": GpuState.OK, "1": GpuState.FAILED}
        clock.move(15)
    gone = reads.read()
    assert states(gone) == {"0": GpuState.OK, "1": GpuState.LOST}
    lost: GpuReading = gone.gpus[1]
    assert (lost.uuid, lost.memory.used) == ("GPU-bb", None)
    exporter.page = PAGE
    assert states(reads.read()) == {"0": GpuState.OK, "1": GpuState.OK}


def test_a_gpu_that_one_page_leaves_out_now_and_then_is_not_lost() -> None:
    exporter, clock = Exporter(), MovedClock()
    reads = source(exporter, clock=clock)
    for page in (PAGE, WITHOUT_SECOND) * 5:
        exporter.page = page
        assert states(reads.read())["1"] is not GpuState.LOST
        clock.move(60)


def test_a_page_that_tells_of_no_gpu_says_so_and_loses_none() -> None:
    exporter, clock = Exporter(), MovedClock()
    reads = source(exporter, clock=clock)
    reads.read()
    for page in ("", "<html><body>Bad gateway</body></html>", "go_goroutines 12\n"):
        exporter.page = page
        told = reads.read()
        assert (told.driver_state, told.why) == (DriverState.FAILED, "its page names no GPU")
        assert set(states(told).values()) == {GpuState.FAILED}
        clock.move(600)


@pytest.mark.parametrize(
    ("old", "new"), [('uuid="GPU-bb"', 'uuid="GPU-cc"'), ('hostname="node-1"', 'hostname="node-2"')]
)
def test_a_page_of_two_machines_is_a_failure_that_says_so(old: str, new: str) -> None:
    told, xids = reading_of(PAGE + PAGE.replace(old, new), AT)
    assert (told.driver_state, told.gpus, xids) == (DriverState.FAILED, (), {})
    assert told.why == "its page has two GPUs 1: is it of several machines?"


def test_a_page_of_more_gpus_than_a_machine_has_says_so() -> None:
    page = "".join(f'DCGM_FI_DEV_FB_USED{{gpu="{gpu}"}} 1\n' for gpu in range(65))
    told, _ = reading_of(page, AT)
    assert (told.driver_state, len(told.gpus)) == (DriverState.FAILED, 64)
    assert told.why == "its page names more than 64 GPUs"


@pytest.mark.parametrize("percent", ["7500", "100.5", "-1", "NaN"])
def test_a_share_of_more_than_all_is_a_gap(percent: str) -> None:
    for name in ("GPU_UTIL", "MEM_COPY_UTIL"):
        page = f'DCGM_FI_DEV_FB_USED{{gpu="0"}} 1\nDCGM_FI_DEV_{name}{{gpu="0"}} {percent}\n'
        [gpu] = reading_of(page, AT)[0].gpus
        assert (gpu.utilization, gpu.memory_utilization) == (None, None)
        assert gpu.unread[Quantity.UTILIZATION] is Unread.NOT_EXPORTED
    [full] = reading_of('DCGM_FI_DEV_GPU_UTIL{gpu="0"} 100\n', AT)[0].gpus
    assert full.utilization == 1.0


def test_an_exporter_that_cannot_be_read_is_a_state() -> None:
    exporter = Exporter()
    reads = source(exporter, TOKEN)
    reads.read()
    assert exporter.asked == [f"Bearer {TOKEN}"]
    for status, state in (
        (0, DriverState.UNREACHABLE),
        (401, DriverState.NO_PERMISSION),
        (500, DriverState.FAILED),
        (302, DriverState.FAILED),
    ):
        exporter.status = status
        told = reads.read()
        assert told.driver_state is state
        assert told.why
        assert set(states(told).values()) == {GpuState.FAILED}
        assert TOKEN not in repr(told)


def test_an_xid_is_counted_once_whenever_the_last_one_changes() -> None:
    exporter = Exporter()
    reads = source(exporter)
    assert [reads.read().xids for _ in range(2)] == [{}] * 2
    for xid, counted in (
        (48, {("0", 48): 1}),
        (48, {("0", 48): 1}),
        (79, {("0", 48): 1, ("0", 79): 1}),
        (0, {("0", 48): 1, ("0", 79): 1}),
        (48, {("0", 48): 2, ("0", 79): 1}),
    ):
        exporter.page = PAGE.replace('bus"} 79', 'bus"} ' + str(xid))
        assert reads.read().xids == counted


def test_an_xid_from_before_the_first_page_is_not_counted_and_the_first_after_none_is() -> None:
    exporter = Exporter()
    exporter.status = 0
    reads = source(exporter)
    assert reads.read().xids == {}
    exporter.status = 200
    assert reads.read().xids == {}
    exporter.page = PAGE.replace(f"DCGM_FI_DEV_XID_ERRORS{{{SECOND}}} 0", "")
    assert reads.read().xids == {}
    exporter.page = PAGE.replace('hostname="node-1",pod="p"} 0', 'pod="p"} 63')
    assert reads.read().xids == {("1", 63): 1}


def test_what_hostile_pages_name_is_bounded_over_the_life_of_a_source() -> None:
    exporter = Exporter()
    reads = source(exporter)
    first = [f'DCGM_FI_DEV_XID_ERRORS{{gpu="{gpu}"}}' for gpu in range(64)]
    for xid in range(1, 40):
        exporter.page = "".join(f"{line} {xid}\n" for line in first)
        told = reads.read()
        assert (told.driver_state, len(told.gpus)) == (DriverState.OK, 64)
    assert len(told.xids) <= 1024 + 64
    assert sum(told.xids.values()) == 64 * 38
    exporter.page = "".join(f'DCGM_FI_DEV_XID_ERRORS{{gpu="{gpu}"}} 3\n' for gpu in range(32, 96))
    told = reads.read()
    assert (told.driver_state, len(told.gpus)) == (DriverState.FAILED, 64)
    assert {gpu for gpu, _ in told.xids} == {str(gpu) for gpu in range(64)}
    assert states(told) == {
        str(gpu): GpuState.OK if gpu >= 32 else GpuState.FAILED for gpu in range(64)
    }
