"""What is shipped to deploy the exporter is what Prometheus and the command take."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import typer

from monitor.cli.exporter_verb import app
from tests.architecture.source import ROOT


def test_the_unit_runs_a_command_that_exists() -> None:
    unit = (ROOT / "deploy/systemd/davylamp-exporter.service").read_text("utf-8")
    started = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    [words] = [shlex.split(line.removeprefix("ExecStart=")) for line in started]
    assert words[:2] == ["/usr/local/bin/davylamp", "exporter"]
    hinted = [line for line in unit.splitlines() if line.startswith("#   --")]
    further = [word for line in hinted for word in shlex.split(line.removeprefix("#"))]
    command = typer.main.get_command(app)
    with command.make_context("exporter", [*words[2:], *further], resilient_parsing=False) as made:
        assert made.params["listen"] == "127.0.0.1:18152"
        assert str(made.params["model_config"]) == "/srv/model/config.json"


def test_prometheus_takes_the_example(tmp_path: Path) -> None:
    text = (ROOT / "deploy/prometheus/exporter.example.yml").read_text("utf-8")
    file = tmp_path / "prometheus.yml"
    file.write_text(text.replace("/etc/prometheus/davylamp", str(ROOT / "alerts/rules")), "utf-8")
    done = subprocess.run(
        ["promtool", "check", "config", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
