"""How far behind the schedule falls under load, and what idle targets cost in memory.

Lag: a daemon in a process of its own asks a lab in another, with 200 targets whose probes all run
at once; the lag of a run is from when it was due to when it began. Memory: what 1,000 targets that
ask nothing add to a process beside its store, whose own memory is measured without them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from monitor.app import open_installation
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.turn import Turn
from monitor.daemon.watch import Watch
from tests.integration.processes import Endpoint, lab, resident_bytes

BUSY_TARGETS, IDLE_TARGETS = 200, 1000
ROUNDS = 3
ROUND_SECONDS = 20.0
WANTED_LAG_SECONDS = 0.100
WANTED_BYTES = 150_000_000
AMPLE = {"tokens": 10**11}


def settings(folder: Path, endpoint: Endpoint, targets: int, **more: Any) -> Path:
    """Write a configuration with so many targets that are all the same endpoint."""
    tenants = []
    for name, key in list(endpoint.keys.items())[:2]:
        file = folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_text(key, encoding="ascii")
        tenants.append({"name": name, "api_key_file": str(file)})
    target = {
        "engine": "openai",
        "base_url": endpoint.url,
        "model": endpoint.model,
        "context_tokens": endpoint.context_tokens,
    }
    text = json.loads(
        json.dumps(
            {
                "version": 1,
                "storage": {"path": str(folder / "store")},
                "targets": [
                    target | {"name": f"target-{number:04d}", "tenants": tenants}
                    for number in range(targets)
                ],
            }
            | more
        )
    )
    config = folder / "davylamp.yaml"
    config.write_text(yaml.safe_dump(text, sort_keys=False), encoding="utf-8")
    return config


class TimedSchedule(ProbeSchedule):
    """Keeps every lag instead of the last, and counts what is under way."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.lags: list[float] = []
        self.most = 0
        self.loop_lags: list[float] = []

    def _note_lag(self, turn: Turn) -> None:
        if turn.due is not None:
            now = self._installation.clock.now()
            self.lags.append((now - turn.due).total_seconds())
            self.most = max(self.most, self.under_way + 1)
        super()._note_lag(turn)

    async def watch_loop(self) -> None:
        """Measure how late the loop wakes up."""
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(0.01)
            self.loop_lags.append(loop.time() - before - 0.01)


async def busy(config_file: str) -> dict[str, float]:
    """Run a schedule whose targets are all due at one moment of each round; return the lags."""
    clock = SystemClock()
    watch = Watch(clock)
    installation = open_installation(read_config(config_file), clock, sinks=[watch])
    at = clock.monotonic() + ROUND_SECONDS
    schedule = TimedSchedule(installation, watch, jitter=lambda most: at - clock.monotonic())
    watching = asyncio.create_task(schedule.watch_loop())
    try:
        await schedule.start()
        await clock.sleep(at + ROUND_SECONDS * (ROUNDS - 0.5) - clock.monotonic())
    finally:
        schedule.pause()
        while schedule.under_way:
            await clock.sleep(0.1)
        schedule.stop()
        watching.cancel()
        await installation.aclose()
    return {
        "runs": len(schedule.lags),
        "at_once": schedule.most,
        "p50": quantile(schedule.lags, 0.5),
        "p99": quantile(schedule.lags, 0.99),
        "worst": max(schedule.lags),
        "loop_p99": quantile(schedule.loop_lags, 0.99),
        "loop_worst": max(schedule.loop_lags),
    }


async def idle(config_file: str) -> dict[str, float]:
    """Open an installation, lay its schedule, and return the memory at each step."""
    clock = SystemClock()
    watch = Watch(clock)
    installation = open_installation(read_config(config_file), clock, sinks=[watch])
    opened = resident_bytes(os.getpid())
    schedule = ProbeSchedule(installation, watch, jitter=lambda most: most)
    before = clock.monotonic()
    await schedule.start()
    seconds = clock.monotonic() - before
    try:
        return {"opened": opened, "laid": resident_bytes(os.getpid()), "seconds": seconds}
    finally:
        schedule.stop()
        await installation.aclose()


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all lies."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def in_process(what: str, config: Path) -> dict[str, float]:
    """Measure in a fresh process."""
    command = [sys.executable, "-m", "tests.bench.schedule", what, str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        sys.exit(done.stderr[-4000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def lag() -> None:
    """Print the lag under load."""
    with tempfile.TemporaryDirectory() as folder, lab("--context", "4096") as endpoint:
        config = settings(
            Path(folder),
            endpoint,
            BUSY_TARGETS,
            defaults={
                "interval": f"{ROUND_SECONDS:g}s",
                "daily_budget": AMPLE,
                "boundary_budget": AMPLE,
            },
            schedule={"jitter": "0s", "spread": True, "reserve": 0},
        )
        text = yaml.safe_load(config.read_text("utf-8"))
        for target in text["targets"]:
            target["probes"] = [{"name": "canary"}]
        config.write_text(yaml.safe_dump(text, sort_keys=False), encoding="utf-8")
        found = in_process("busy", config)
    print(f"{BUSY_TARGETS} targets, one lab, {found['runs']:.0f} runs, all due at once")
    print(f"  at once               {found['at_once']:.0f}")
    print(f"  schedule lag p50      {found['p50'] * 1000:.0f} ms")
    print(
        f"  schedule lag p99      {found['p99'] * 1000:.0f} ms"
        f"  (wanted: below {WANTED_LAG_SECONDS * 1000:.0f} ms)"
    )
    print(f"  schedule lag worst    {found['worst'] * 1000:.0f} ms")
    print(f"  loop wake-up p99      {found['loop_p99'] * 1000:.0f} ms")


def memory() -> None:
    """Print the memory of idle targets."""
    endpoint = Endpoint(
        url="http://127.0.0.1:9/v1", model="glm", keys={"a": "k-a", "b": "k-b"}, context_tokens=4096
    )
    found = {}
    for targets in (1, IDLE_TARGETS):
        with tempfile.TemporaryDirectory() as folder:
            found[targets] = in_process("idle", settings(Path(folder), endpoint, targets))
    one, many = found[1], found[IDLE_TARGETS]
    schedules = (many["laid"] - many["opened"]) - (one["laid"] - one["opened"])
    print(f"{IDLE_TARGETS} idle targets, standard profile")
    print(f"  with one target       {one['laid'] / 1e6:.0f} MB, store included")
    print(f"  targets opened        {(many['opened'] - one['opened']) / 1e6:.0f} MB more")
    print(f"  schedules and series  {schedules / 1e6:.0f} MB more")
    print(
        f"  together              {(many['laid'] - one['laid']) / 1e6:.0f} MB"
        f"  (wanted: below {WANTED_BYTES / 1e6:.0f} MB)"
    )
    print(f"  laid in               {many['seconds']:.1f} s")


def main(arguments: Sequence[str]) -> None:
    """Measure; with arguments, one measurement in this process."""
    logging.disable(logging.INFO)
    if arguments:
        what, config = arguments
        print(json.dumps(asyncio.run(busy(config) if what == "busy" else idle(config))))
        return
    lag()
    memory()


if __name__ == "__main__":
    main(sys.argv[1:])
