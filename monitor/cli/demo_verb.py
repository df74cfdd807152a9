"""``davylamp demo``: the incident in a minute. The lab leaks, HTTP says 200, we say what we see."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from monitor.app import Installation, open_installation, read_config
from monitor.checking import Selection, Step, run_check
from monitor.clock import SystemClock
from monitor.logs import set_up_logs
from monitor.model import Exchange, ExchangeVerdict
from monitor.passes import Done
from monitor.reports.check import CheckReport
from monitor.reports.terminal import printable, render

app = typer.Typer(add_completion=False, rich_markup_mode=None)

# Row A01 of docs/incidents.md: a refused long prompt becomes a one-token placeholder.
INCIDENT = "overlength_placeholder"
LAB_START_SECONDS = 20.0
# The shapes of the incident and what a plain check would ask. The others leave more pages of every
# tenant behind, so that the victim may read its own tenant's text: CROSSED, and not the story.
_PROBES = ("golden", "canary", "tenant", "burst", "prefix", "boundary")
_LEFT_COLUMNS = 34
TARGET = "lab-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A running lab: where it answers, and its tenants' keys."""

    url: str
    model: str
    context_tokens: int
    keys: dict[str, str]


@app.command()
def demo(
    healthy: Annotated[
        bool, typer.Option("--healthy", help="The same without the fault; ends clean.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the lab.")] = 7,
) -> int:
    """Start a lab with the incident in it, watch it, and print what HTTP and what answers say.

    Exit 0 when the demo showed what it must: the leak, or with --healthy nothing at all.
    """
    set_up_logs("error", "text")
    folder = Path(tempfile.mkdtemp(prefix="davylamp-demo-"))
    with _lab(healthy=healthy, seed=seed) as lab:
        config = _write_config(folder, lab)
        typer.echo(_opening(lab, healthy=healthy))
        report, codes = asyncio.run(_watch(config))
    for line in render(report):
        typer.echo(line)
    typer.echo(printable(_story(report)))
    typer.echo(_closing(report, config, healthy=healthy))
    shown = _shown(report, codes, healthy=healthy)
    if not shown:
        typer.echo("The demo did not show what it must.", err=True)
    return 0 if shown else 1


@contextlib.contextmanager
def _lab(*, healthy: bool, seed: int) -> Iterator[Lab]:
    """Start the lab as a process of its own and stop it at the end."""
    arguments = [sys.executable, "-m", "monitor.lab", "--port", "0", "--seed", str(seed)]
    if not healthy:
        arguments += ["--fault", INCIDENT]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)  # noqa: S603
    watchdog = threading.Timer(LAB_START_SECONDS, process.kill)
    watchdog.start()
    try:
        line = process.stdout.readline() if process.stdout else ""
        watchdog.cancel()
        if not line:
            typer.echo("the lab did not start", err=True)
            raise typer.Exit(1)
        ready: dict[str, Any] = json.loads(line)
        yield Lab(
            url=ready["url"],
            model=ready["model"],
            context_tokens=ready["context_tokens"],
            keys=ready["keys"],
        )
    finally:
        watchdog.cancel()
        process.terminate()
        process.wait(timeout=10)


def _write_config(folder: Path, lab: Lab) -> Path:
    """Write a configuration for the lab, with its keys in files beside it."""
    tenants = []
    for name, key in lab.keys.items():
        file = folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_text(key, encoding="ascii")
        tenants.append(f"      - {{name: {name}, api_key_file: {file}}}")
    lines = [
        "version: 1",
        "environment: demo",
        f"storage: {{path: {folder / 'store'}}}",
        "targets:",
        f"  - name: {TARGET}",
        "    engine: openai",
        f"    base_url: {lab.url}",
        f"    model: {lab.model}",
        f"    context_tokens: {lab.context_tokens}",
        "    probes: quick",
        "    tenants:",
        *tenants,
    ]
    config = folder / "davylamp.yaml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def _opening(lab: Lab, *, healthy: bool) -> str:
    what = "healthy" if healthy else f"with the fault {INCIDENT}"
    head = f"{'WHAT HTTP SAYS':<{_LEFT_COLUMNS}}WHAT THE ANSWERS SAY"
    return (
        f"A lab cluster at {lab.url} ({what}), {len(lab.keys)} tenants, "
        f"advertised context {lab.context_tokens} tokens.\n\n{head}\n{'-' * 100}"
    )


async def _watch(config: Path) -> tuple[CheckReport, set[int | None]]:
    installation = open_installation(read_config(str(config)), SystemClock())
    codes: set[int | None] = set()

    def on_step(step: Step) -> None:
        for line in _rows(step):
            typer.echo(printable(line))
        if isinstance(step.result, Done):
            codes.update(e.http_status for e in step.result.trial.exchanges if not e.refused)

    try:
        with _metrics(installation) as url:
            typer.echo(f"{'':<{_LEFT_COLUMNS}}(metrics meanwhile at {url})")
            selection = Selection(profile="quick", probes=_PROBES)
            report = await run_check(installation, selection, on_step)
    finally:
        await installation.aclose()
    return report, codes


@contextlib.contextmanager
def _metrics(installation: Installation) -> Iterator[str]:
    from prometheus_client import start_http_server

    server, thread = start_http_server(0, addr="127.0.0.1", registry=installation.metrics)
    try:
        yield f"http://127.0.0.1:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _rows(step: Step) -> Iterator[str]:
    if not isinstance(step.result, Done):
        yield f"{'(not sent)':<{_LEFT_COLUMNS}}{step.words}: {step.result.reason}"
        return
    trial, verdict = step.result.trial, step.result.verdict
    for exchange, judged in zip(trial.exchanges, verdict.exchanges, strict=True):
        yield f"{_http(exchange):<{_LEFT_COLUMNS}}{_answer(exchange, judged, step)}"


def _http(exchange: Exchange) -> str:
    status = exchange.http_status or "no status"
    milliseconds = exchange.timing.total_seconds * 1000
    return f"{status}  {milliseconds:5.0f} ms  {(exchange.request_id or '')[:16]}"


def _answer(exchange: Exchange, judged: ExchangeVerdict, step: Step) -> str:
    place = f"{step.plan.probe} {exchange.part.value}"
    label = judged.verdict_class.label
    return f"{place:<18}{judged.outcome.value if label == 'none' else label}: {judged.reason}"


def _story(report: CheckReport) -> str:
    """Return in one sentence what HTTP saw and what the answers carried."""
    leaks = [f for t in report.targets for f in t.found if f.verdict_class == "LEAK"]
    if not leaks:
        return "HTTP saw nothing wrong, and neither did the answers."
    leak = leaks[0]
    return (
        f"HTTP saw a {leak.http_status}. The answer carried text of {leak.owner_tenant} to "
        f"{leak.tenant}, at {leak.size_tokens} tokens: below the {leak.limit_tokens} that are "
        "advertised, above what the prefill pool holds, where a 400 was due."
    )


def _closing(report: CheckReport, config: Path, *, healthy: bool) -> str:
    trial = next((f.trial for t in report.targets for f in t.found), None)
    first = f"davylamp explain {trial} --config {config}" if trial else "davylamp demo"
    commands = [
        first,
        "davylamp demo" if healthy and trial else "davylamp demo --healthy",
        "davylamp init --from https://YOUR-GATEWAY/v1 --key-env YOUR_KEY",
    ]
    if healthy and not trial:
        commands[1] = "davylamp lab --list-faults"
    return "\nThree commands to try next:\n" + "\n".join(f"  {command}" for command in commands)


def _shown(report: CheckReport, codes: set[int | None], *, healthy: bool) -> bool:
    """True if the demo showed its point: the leak behind nothing but 200s, or a clean pass."""
    if healthy:
        return report.exit_code == 0
    classes = {found.verdict_class for target in report.targets for found in target.found}
    return "LEAK" in classes and codes == {200}
