"""``GET /probe`` of a daemon: guarded, of configured names, and read by a real Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
import yaml

from tests.architecture.source import ROOT
from tests.integration.alerting import Prometheus
from tests.integration.daemons import daemon, idle
from tests.integration.processes import (
    TARGET,
    Endpoint,
    Installation,
    free_port,
    install,
    process,
    wait_until,
)

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 60.0


@pytest.fixture(scope="module")
def watched(healthy_lab: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return idle(
        install(tmp_path_factory.mktemp("probed"), healthy_lab, probes=[{"name": "canary"}])
    )


def documented(installation: Installation, url: str) -> str:
    """Return the page's configuration of Prometheus, with names and places of this test."""
    page = (ROOT / "docs/probe-endpoint.md").read_text(encoding="utf-8")
    found = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    (job,) = found["scrape_configs"]
    job["scrape_interval"] = "1s"
    job["authorization"]["credentials_file"] = str(installation.store / "api.token")
    job["static_configs"][0]["targets"] = [TARGET]
    job["relabel_configs"][-1]["replacement"] = url.removeprefix("http://")
    text: str = yaml.safe_dump(found)
    return text


def test_prometheus_reads_the_last_verdict_as_the_page_says(
    watched: Installation, tmp_path: Path
) -> None:
    with daemon(watched) as running:
        file, port = tmp_path / "prometheus.yml", free_port()
        file.write_text(documented(watched, running.url), encoding="utf-8")
        command = [
            "prometheus",
            f"--config.file={file}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        log = tmp_path / "prometheus.log"
        with process(command, stderr=log):
            reader = Prometheus(url=f"http://127.0.0.1:{port}", log=log)
            success, known = (
                f'{name}{{target="{TARGET}"}}' for name in ("probe_success", "davylamp_probe_known")
            )
            wait_until(lambda: answered(reader, success) == 0.0, START_SECONDS, "no verdict yet")
            assert reader.value(known) == 0.0
            assert watched.check("--probe", "canary").exit_code == 0
            wait_until(lambda: answered(reader, success) == 1.0, START_SECONDS, "a good verdict")
            assert reader.value(known) == 1.0
            info = f'davylamp_probe_verdict_info{{target="{TARGET}",probe="canary",state="good"}}'
            assert reader.value(info) == 1.0
    with daemon(watched) as again:
        token = (watched.store / "api.token").read_text("ascii")
        page = again.get(f"/probe?target={TARGET}", Authorization=f"Bearer {token}").text
    assert "probe_success 1.0" in page, "the store is read at the start"
    assert "probe_duration_seconds" not in page


def answered(reader: Prometheus, query: str) -> float | None:
    try:
        return reader.value(query)
    except httpx.HTTPError:  # not up yet
        return None
