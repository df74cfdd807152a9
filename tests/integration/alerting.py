"""Prometheus and Alertmanager as processes, as Debian packages them, with times made short."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import yaml

from tests.integration.processes import ROOT, free_port, process, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

START_SECONDS = 30.0
EXAMPLE = ROOT / "alerts" / "alertmanager" / "alertmanager.example.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server of its own, and where it answers."""

    url: str
    log: Path

    def get(self, path: str, **parameters: str) -> Any:
        """Return what a page of its API says, as JSON."""
        answer = httpx.get(f"{self.url}{path}", params=parameters, trust_env=False, timeout=5.0)
        answer.raise_for_status()
        return answer.json()


class Prometheus(Served):
    """A running Prometheus."""

    def value(self, query: str) -> float | None:
        """Return the only sample a query gives now; ``None`` if there is none."""
        found = self.get("/api/v1/query", query=query)["data"]["result"]
        if not found:
            return None
        (only,) = found
        return float(only["value"][1])

    def firing(self) -> set[str]:
        """Return the names of the alerts that fire now."""
        alerts = self.get("/api/v1/alerts")["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


@contextlib.contextmanager
def prometheus(
    folder: Path,
    scraped: Sequence[str],
    rules: Sequence[Path] = (),
    alertmanager: str | None = None,
    *arguments: str,
) -> Iterator[Prometheus]:
    """Run Prometheus while entered: it scrapes hosts and evaluates rules each second."""
    folder.mkdir(parents=True, exist_ok=True)
    settings: dict[str, Any] = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rule) for rule in rules],
        "scrape_configs": [
            {"job_name": "davylamp", "static_configs": [{"targets": list(scraped)}]}
        ],
    }
    if alertmanager is not None:
        host = alertmanager.removeprefix("http://")
        settings["alerting"] = {
            "alertmanagers": [{"static_configs": [{"targets": [host]}]}],
        }
    file = _written(folder / "prometheus.yml", settings)
    port = free_port()
    command = [
        "prometheus",
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        *arguments,
    ]
    running = Prometheus(url=f"http://127.0.0.1:{port}", log=folder / "prometheus.log")
    with _serving(command, running):
        yield running


@contextlib.contextmanager
def alertmanager(folder: Path, settings: Mapping[str, Any]) -> Iterator[Served]:
    """Run Alertmanager while entered, with its configuration as a mapping."""
    folder.mkdir(parents=True, exist_ok=True)
    file = _written(folder / "alertmanager.yml", settings)
    port = free_port()
    command = [
        "prometheus-alertmanager",
        f"--config.file={file}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    running = Served(url=f"http://127.0.0.1:{port}", log=folder / "alertmanager.log")
    with _serving(command, running):
        yield running


def shipped_routes(folder: Path, key: str, url: str) -> dict[str, Any]:
    """Return the example's routes and receivers, all at one endpoint, with waits of a second."""
    settings: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    for route in (settings["route"], *settings["route"]["routes"]):
        route |= {name: "1s" for name in ("group_wait", "group_interval") if name in route}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pagerduty.key"
    file.write_text(key, encoding="ascii")
    for receiver in settings["receivers"]:
        for each in receiver.get("pagerduty_configs", ()):
            each |= {"routing_key_file": str(file), "url": f"{url}/v2/enqueue"}
        for each in receiver.get("webhook_configs", ()):
            each["url"] = f"{url}/alive"
    return settings


def _written(file: Path, settings: Mapping[str, Any]) -> Path:
    file.write_text(yaml.safe_dump(dict(settings), sort_keys=False), encoding="utf-8")
    return file


@contextlib.contextmanager
def _serving(command: Sequence[str], server: Served) -> Iterator[None]:
    with process(command, stderr=server.log) as started:

        def ready() -> bool:
            assert started.poll() is None, server.log.read_text("utf-8")
            try:
                return httpx.get(f"{server.url}/-/ready", trust_env=False).status_code == 200
            except httpx.HTTPError:
                return False

        wait_until(ready, START_SECONDS, f"{command[0]} is ready")
        yield
