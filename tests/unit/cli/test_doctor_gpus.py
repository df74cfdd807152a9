"""What the doctor says of GPUs: through DCGM, and through a library that is not there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Event

from monitor.cli.doctor_gpus import OpenWatch, check_gpus
from monitor.cli.doctor_line import Surroundings
from monitor.clock import Clock, SystemClock
from monitor.config.gpu import Gpus
from monitor.conventions.gpu import DriverState
from monitor.exporter import gpu_watch
from monitor.gpu import GpusReading, GpuWatch
from tests.fakes import nvml
from tests.fakes.node_pages import Page
from tests.fakes.node_servers import NodeServer, serving
from tests.unit.config.known import GOOD, load_text
from tests.unit.gpu.test_dcgm import PAGE


def said(folder: Path, gpus: str, open_watch: OpenWatch = gpu_watch) -> list[str]:
    """Return the doctor's lines on GPUs for a section."""
    config = load_text(folder, f"{GOOD}gpus: {gpus}\n")
    around = Surroundings(config=config, clock=SystemClock())

    async def lines() -> list[str]:
        return [str(line) async for line in check_gpus(around, open_watch)]

    return asyncio.run(lines())


def test_where_nobody_is_asked_it_is_said_that_they_are_not_read(tmp_path: Path) -> None:
    [off] = said(tmp_path, "{source: off}")
    assert "not read, gpus.source is off" in off


def test_a_page_that_is_none_of_dcgm_fails_with_what_is_wrong_with_it(tmp_path: Path) -> None:
    server = NodeServer({"GET /metrics": Page(body=b"<html></html>", kind="text/html")})
    with serving(server):
        [line] = said(tmp_path, f'{{source: dcgm, dcgm_url: "{server.url}/metrics"}}')
    assert line.startswith("fail     gpus: failed (its page names no GPU)")


def test_gpus_that_are_read_are_one_line_and_a_model_that_is_unknown_another(
    tmp_path: Path,
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "unheard"}', "utf-8")
    server = NodeServer({"GET /metrics": Page(body=PAGE.encode(), kind="text/plain")})
    with serving(server):
        url = f"{server.url}/metrics"
        pools = "pools: [{model_config: config.json}]"
        read, unknown = said(tmp_path, f'{{source: dcgm, dcgm_url: "{url}", {pools}}}')
    assert read == "ok       gpus: 2 read"
    assert unknown.startswith("warn     gpus.pools[0]: no formula is known for this model_type")


def test_an_exporter_that_is_not_there_and_a_secret_that_is_missing_fail(tmp_path: Path) -> None:
    [away] = said(tmp_path, '{source: dcgm, dcgm_url: "http://127.0.0.1:9/metrics"}')
    assert away.startswith("fail     gpus: unreachable")
    [secret] = said(tmp_path, '{source: dcgm, dcgm_url: "http://127.0.0.1:9", token_file: nowhere}')
    assert secret.startswith("fail     gpus: secret file nowhere cannot be read")


def test_a_driver_and_a_gpu_that_are_not_well_fail(tmp_path: Path) -> None:
    library = nvml.build(tmp_path)
    code = (
        "import pathlib, sys; from tests.unit.cli.test_doctor_gpus import said;"
        "print(*said(pathlib.Path(sys.argv[1]),"
        " '{source: nvml, pools: [{bytes_per_token: 9.0}]}'), sep='\\n')"
    )
    # With a pool there must be GPUs, whatever the machine is that this runs on.
    for told, where, words in (
        ({}, library, "ok       gpus: 2 read"),
        ({"gpu1": 15}, library, "fail     gpu 1: lost (code 15)"),
        ({"init": 18}, library, "fail     gpus: version_mismatch (code 18)"),
        ({}, nvml.none(tmp_path), "fail     gpus: no_library (code 12)"),
    ):
        file = nvml.say(tmp_path / "told", **told)
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env=nvml.environment(where, file),
            cwd=nvml.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.startswith(words), done.stdout + done.stderr


class NoGpu:
    """A source on a machine without GPUs."""

    def read(self) -> GpusReading:
        why = "no library, and the kernel shows no GPU"
        now = SystemClock().now()
        return GpusReading(read_at=now, driver_state=DriverState.NO_GPU, error_code=12, why=why)

    def wait(self, seconds: float, stopping: Event) -> None:
        stopping.wait()

    def close(self) -> None:
        return


def test_a_machine_without_gpus_is_warned_of_with_what_to_do(tmp_path: Path) -> None:
    def watch(_gpus: Gpus, _folder: Path, clock: Clock, _tokens: object) -> GpuWatch:
        return GpuWatch(NoGpu(), clock, 15.0)

    [line] = said(tmp_path, "{source: nvml}", watch)
    assert line.startswith("warn     gpus: none is there (no library, and the kernel shows no GPU)")
    assert "do: let gpus.source be off here" in line
