"""``davylamp demo``: the incident in a minute. The lab leaks, HTTP says 200, we say what we see."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from monitor.app import Installation, open_installation
from monitor.checking import Selection, Step, run_check
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.drill.configuration import write_config
from monitor.drill.lab import Announcement, started_lab
from monitor.logs import set_up_logs
from monitor.model import Exchange, ExchangeVerdict
from monitor.passes import Done
from monitor.reports.check import CheckReport
from monitor.reports.terminal import printable, render

app = typer.Typer(add_completion=False, rich_markup_mode=None)

# Row A01 of docs/incidents.md: a refused long prompt becomes a one-token placeholder.
INCIDENT = "overlength_placeholder"
# The shapes of the incident and what a plain check would ask. The others leave more pages of every
# tenant behind, so that the victim may read its own tenant's text: CROSSED, and not the story.
_PROBES = ("golden", "canary", "tenant", "burst", "prefix", "boundary")
_LEFT_COLUMNS = 34
TARGET = "lab-model"


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
    config, report, codes = asyncio.run(_play(folder, healthy=healthy, seed=seed))
    for line in render(report):
        typer.echo(line)
    typer.echo(printable(_story(report)))
    typer.echo(_closing(report, config, healthy=healthy))
    shown = _shown(report, codes, healthy=healthy)
    if not shown:
        typer.echo("The demo did not show what it must.", err=True)
    return 0 if shown else 1


async def _play(
    folder: Path, *, healthy: bool, seed: int
) -> tuple[Path, CheckReport, set[int | None]]:
    """Start the lab, watch it, and stop it at the end."""
    arguments = ["--seed", str(seed)]
    if not healthy:
        arguments += ["--fault", INCIDENT]
    async with started_lab(arguments) as lab:
        config = write_config(
            folder,
            lab.ready,
            environment="demo",
            target=TARGET,
            store=folder / "store",
            more=["probes: quick"],
        )
        typer.echo(_opening(lab.ready, healthy=healthy))
        report, codes = await _watch(config)
    return config, report, codes


def _opening(lab: Announcement, *, healthy: bool) -> str:
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
