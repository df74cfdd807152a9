"""Can GPUs be read, is each of them well, and is the model of each KV pool understood."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, unknown, warn
from monitor.clock import Clock
from monitor.config.gpu import Gpus
from monitor.conventions.gpu import DriverState, GpuState
from monitor.errors import ConfigError
from monitor.exporter import gpu_watch, pool_models
from monitor.gpu import GpusReading, GpuWatch, NodeTokens

OpenWatch = Callable[[Gpus, Path, Clock, Callable[[], Sequence[NodeTokens]]], GpuWatch | None]

_GRACE_SECONDS = 1.0
_REMEDIES = {
    DriverState.NO_LIBRARY: "install the driver, or give this container its libraries",
    DriverState.NO_DRIVER: "load the driver's kernel module",
    DriverState.NO_PERMISSION: "let this user open /dev/nvidia*; for DCGM, check gpus.token_*",
    DriverState.VERSION_MISMATCH: "restart the machine after an upgrade of the driver",
    DriverState.UNREACHABLE: "check gpus.dcgm_url, and that the DCGM exporter runs",
}
_NO_GPU_REMEDY = "let gpus.source be off here, or see why the machine does not show its GPU"
_OTHERWISE = "see docs/gpu.md for what the state means"


async def check_gpus(
    around: Surroundings, open_watch: OpenWatch = gpu_watch
) -> AsyncIterator[Line]:
    """Read the GPUs once, if the configuration asks for it; a line for each that is not well.

    ``open_watch`` returns what reads them, as ``gpu_watch`` does.
    """
    gpus, folder = around.config.settings.gpus, around.config.file.parent
    if gpus.source == "off":
        yield ok("gpus", "not read, gpus.source is off; `davylamp exporter` reads them elsewhere")
        return
    try:
        watch = open_watch(gpus, folder, around.clock, tuple)
    except ConfigError as error:
        yield fail("gpus", error.problem, str(error.remedy))
        return
    if watch is None:
        return
    watch.start()
    try:
        await asyncio.to_thread(watch.wait_first, around.timeout_seconds + _GRACE_SECONDS)
        reading = watch.page().reading
    finally:
        await asyncio.to_thread(watch.stop)
    for line in _lines(reading):
        yield line
    for number, model in enumerate(pool_models(gpus, folder)):
        if model.unknown and model.bytes_per_token is None:
            remedy = "give bytes_per_token; until then its KV pool is unattributed"
            yield warn(f"gpus.pools[{number}]", model.unknown, remedy)


def _lines(reading: GpusReading | None) -> Iterator[Line]:
    if reading is None:
        yield unknown("gpus", "the driver does not return from a call", "restart the machine")
        return
    if reading.driver_state is DriverState.NO_GPU:
        yield warn("gpus", f"none is there ({reading.why})", _NO_GPU_REMEDY)
        return
    if reading.driver_state is not DriverState.OK:
        more = reading.why or f"code {reading.error_code}"
        said = f"{reading.driver_state} ({more})"
        yield fail("gpus", said, _REMEDIES.get(reading.driver_state, _OTHERWISE))
        return
    bad = [each for each in reading.gpus if each.state is not GpuState.OK]
    for each in bad:
        said = f"{each.state} (code {each.error_code})"
        yield fail(f"gpu {each.gpu}", said, "reset it, or see docs/gpu.md")
    if well := len(reading.gpus) - len(bad):
        yield ok("gpus", f"{well} read")
