"""``davylamp rules build|check``: Prometheus rules of objectives and alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.promtool import Said, ask_promtool
from monitor.cli.rule_sources import broken, built_from, checkout, found_in, shipped_folder
from monitor.errors import UsageError
from monitor.slo import Built, Links, differences

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Prometheus rules: of the shipped objectives and alerts, or of your own objectives.",
)

GOOD, BAD, UNSURE = 0, 1, 3

OwnOption = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", help="Of the objectives in this configuration, not of the shipped ones."
    ),
]
RunbooksOption = Annotated[
    str, typer.Option("--runbooks", metavar="URL", help="Where your runbooks are served.")
]
DashboardsOption = Annotated[
    str, typer.Option("--dashboards", metavar="URL", help="Where your Grafana is.")
]
_LINKS = Links()


@app.callback()
def rules() -> None:
    """Do nothing by itself; the verbs do."""


@app.command()
def build(
    config: OwnOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write into; the checkout's alerts/rules if left out."),
    ] = None,
    runbooks: RunbooksOption = _LINKS.runbooks,
    dashboards: DashboardsOption = _LINKS.dashboards,
) -> int:
    """Write the rules, and say which burn rates have none and what covers them.

    Exit 0, or 2 for usage or configuration. Without --config it needs a checkout.
    """
    if config is None:
        folder = out or checkout() / "rules"
    elif out is None:
        msg = "name the folder to write your own rules into with --out"
        raise UsageError(msg)
    else:
        folder = out
    built = built_from(config, Links(runbooks=runbooks, dashboards=dashboards))
    _write(folder, built)
    for line in built.words:
        typer.echo(line)
    typer.echo(f"{folder}: {', '.join(sorted(built.files))}")
    return GOOD


@app.command()
def check(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of rules; the shipped ones if left out.")
    ] = None,
    config: OwnOption = None,
    runbooks: RunbooksOption = _LINKS.runbooks,
    dashboards: DashboardsOption = _LINKS.dashboards,
) -> int:
    """Say whether rules are what would be built, and whether promtool reads them.

    Exit 0 if so, 1 if not, 2 for usage or configuration, 3 if nothing is wrong but promtool is not
    there to read the expressions.
    """
    where = folder or shipped_folder() / "rules"
    found = found_in(where)
    built = built_from(config, Links(runbooks=runbooks, dashboards=dashboards))
    bad = False
    for each in differences(built.files, found):
        typer.echo(f"{where / each.file}: {each.words} (run davylamp rules build)")
        bad = True
    for name, text in found.items():
        words = broken(text)
        if words is not None:
            typer.echo(f"{where / name}: {words}")
            bad = True
    said = ask_promtool([where / name for name in found])
    for line in said.lines:
        typer.echo(line)
    if bad or said.answer is Said.BAD:
        return BAD
    if said.answer is Said.ABSENT:
        return UNSURE
    typer.echo(f"{where}: {len(found)} files, as they would be built, and promtool reads them")
    return GOOD


def _write(folder: Path, built: Built) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in built.files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        msg = f"{folder} cannot be written: {reason}"
        raise UsageError(msg) from None
