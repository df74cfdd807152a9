"""``davylamp drill``: every fault of the lab against a pass, and what was promised of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import JsonOption, write_text
from monitor.cli.progress import show_progress
from monitor.clock import SystemClock
from monitor.drill.command import OnResult, OnStart, Order
from monitor.drill.command import drill as run_drill
from monitor.errors import UsageError
from monitor.reports.drill import RunReport
from monitor.reports.drill_picture import drill_picture
from monitor.reports.drill_table import drill_page, render_drill

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def drill(
    faults: Annotated[
        str, typer.Option(help="Names, comma-separated, or all, faults, nulls.")
    ] = "all",
    seeds: Annotated[int, typer.Option(help="Runs of each, with parameters of their own.")] = 3,
    first_seed: Annotated[int, typer.Option("--from-seed", help="The first seed.")] = 1000,
    profile: Annotated[str, typer.Option(help="quick, standard or deep.")] = "standard",
    workers: Annotated[int, typer.Option("--jobs", help="Processes side by side.")] = 2,
    whole: Annotated[
        bool, typer.Option("--whole", help="Send each plan to its end, even after a detection.")
    ] = False,
    json: JsonOption = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Write drill.md and drill.svg into this folder.")
    ] = None,
) -> int:
    """Run monitor against the lab, fault by fault, and hold what was caught against the promise.

    Exit 0 if every promise was kept: no false LEAK or CROSSED, nulls silent, deterministic faults
    always detected, the others as often as their exchanges allow. Exit 1 otherwise, and 3 if
    nothing was broken but some run could not be told.
    """
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            msg = f"{folder}: not a folder (name one for --out)"
            raise UsageError(msg)
        folder.mkdir(parents=True, exist_ok=True)
    order = Order(
        faults=faults,
        first_seed=first_seed,
        seeds=seeds,
        profile=profile,
        whole=whole,
        workers=workers,
    )
    with _progress(quiet=json == "-") as (on_start, on_result):
        report, left = run_drill(order, SystemClock(), on_start, on_result)
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if folder:
        (folder / "drill.md").write_text(drill_page(report), encoding="utf-8")
        (folder / "drill.svg").write_text(drill_picture(report), encoding="utf-8")
    if json != "-":
        for line in render_drill(report):
            typer.echo(line)
    if left is not None:
        typer.echo(f"what the workers wrote is kept in {left}", err=True)
    return report.exit_code


@contextmanager
def _progress(*, quiet: bool) -> Iterator[tuple[OnStart, OnResult]]:
    total = done = 0

    def on_start(runs: int) -> None:
        nonlocal total
        total = runs

    with show_progress(sys.stderr, quiet=quiet) as shown:

        def on_result(run: RunReport) -> None:
            nonlocal done
            done += 1
            shown.words("drill", _words(run), done, total)

        yield on_start, on_result


def _words(run: RunReport) -> str:
    """Say what became of a run; what is as it should be ends in good."""
    place = f"{run.fault} {run.seed}"
    if not run.told:
        return f"{place}: could not tell ({run.reason})"
    if run.null:
        return f"{place}: good" if run.silent else f"{place}: FALSE ALARM {run.worst}"
    return f"{place} {run.first.verdict_class}: good" if run.first else f"{place}: missed"
