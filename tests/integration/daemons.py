"""The daemon as a process, and what its pages say."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.processes import COMMAND, Installation, free_port, process, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

START_SECONDS = 30.0
AMPLE = {"tokens": 100_000_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A running daemon, the page it serves and what it wrote to stderr."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask for a page."""
        return httpx.get(f"{self.url}{path}", headers=headers, trust_env=False, timeout=5.0)

    def samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Return labels and values of one series, as Prometheus would read them."""
        families = text_string_to_metric_families(self.get("/metrics").text)
        return [
            (sample.labels, sample.value)
            for family in families
            for sample in family.samples
            if sample.name == name
        ]

    def count(self, name: str, **labels: str) -> float:
        """Return the sum of the samples that carry these labels."""
        return sum(value for found, value in self.samples(name) if labels.items() <= found.items())


def eager(installation: Installation) -> Installation:
    """Let every probe run each second, whatever it costs."""
    budgets = {"daily_budget": AMPLE, "boundary_budget": AMPLE}
    installation.settings["defaults"] = {"interval": "1s", **budgets}
    installation.settings["schedule"] = {"jitter": "1s", "spread": False}
    return installation.write()


def idle(installation: Installation) -> Installation:
    """Let no probe run while the test lasts."""
    installation.settings["defaults"] = {"interval": "9d"}
    return installation.write()


@contextlib.contextmanager
def daemon(installation: Installation) -> Iterator[Daemon]:
    """Run the daemon on a free port while entered."""
    port = free_port()
    installation.settings["listen"] = {"port": port}
    installation.write()
    log = installation.folder / "daemon.log"
    command = [COMMAND, "run", "--config", str(installation.config)]
    with process(command, stderr=log) as started:
        running = Daemon(process=started, url=f"http://127.0.0.1:{port}", log=log)
        wait_until(lambda: is_ready(running), START_SECONDS, f"ready: {log.read_text('utf-8')}")
        try:
            yield running
        finally:
            started.send_signal(signal.SIGCONT)


def is_ready(running: Daemon) -> bool:
    """Tell whether it schedules. It must not have ended."""
    assert running.process.poll() is None, running.log.read_text("utf-8")
    try:
        return running.get("/readyz").status_code == 200
    except httpx.HTTPError:
        return False
