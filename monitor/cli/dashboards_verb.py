"""``davylamp dashboards build|check|push``: the shipped Grafana dashboards."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import monitor
from monitor.clock import SystemClock
from monitor.config.secrets import Place, SecretRef, resolve_secret
from monitor.config.values import in_clear
from monitor.errors import UsageError
from monitor.grafana import (
    Grafana,
    dashboards_folder,
    dashboards_in,
    faults_of,
    known_names,
    push,
    schema_of,
)
from monitor.http import origin_of
from monitor.slo import sources_folder

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Grafana dashboards: build them in a checkout, check them, take them to a Grafana.",
)

GOOD, BAD, UNSURE = 0, 1, 3
_HERE = Path("--token")
FolderArgument = Annotated[
    Path | None, typer.Argument(help="A folder of dashboards; the shipped ones if left out.")
]


@app.callback()
def dashboards() -> None:
    """Do nothing by itself; the verbs do."""


@app.command()
def build(
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write into; dashboards/generated if left out."),
    ] = None,
) -> int:
    """Write the dashboards, and the alerts as Grafana's own rules, from their sources.

    It needs a checkout and grafanalib, which `make install` installs; the result is shipped.
    Exit 0, or 2 if it cannot be built here.
    """
    folder = dashboards_folder()
    root = folder.parent.parent
    if folder.name != "generated" or not (root / "dashboards" / "panels.py").is_file():
        msg = f"dashboards are built in a checkout of Davylamp; they lie ready in {folder}"
        raise UsageError(msg)
    if find_spec("grafanalib") is None:
        raise UsageError("grafanalib is not installed (run make install in the checkout)")
    where = out.absolute() if out is not None else folder
    command = [sys.executable, "-m", "dashboards", "--out", str(where)]
    # The checkout's own module, with a path that was given as one argument.
    done = subprocess.run(command, cwd=root, check=False)  # noqa: S603
    if done.returncode:
        raise UsageError("the dashboards could not be built; what went wrong stands above")
    return GOOD


@app.command()
def check(folder: FolderArgument = None) -> int:
    """Say whether dashboards are what Grafana reads, and what of theirs nobody exports.

    Shapes are held against Grafana's own types, metrics against this version and the shipped rules,
    tables against the store. Exit 0 if all is well, 1 if not, 2 for usage.
    """
    where = folder or dashboards_folder()
    found = dashboards_in(where)
    schema = schema_of()
    known = known_names(sources_folder() / "rules")
    bad = 0
    for dashboard in found:
        for fault in faults_of(dashboard, schema, known):
            typer.echo(f"{dashboard.file}: {fault.where}: {fault.words}")
            bad += 1
    if bad:
        return BAD
    typer.echo(f"{where}: {len(found)} dashboards; every metric and table they name is there")
    return GOOD


@app.command("push")
def send(
    url: Annotated[str, typer.Option(metavar="URL", help="Where Grafana is.")],
    folder: FolderArgument = None,
    token_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds a service account's token.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="File that holds it.")] = None,
    into: Annotated[
        str, typer.Option("--folder", metavar="UID", help="The folder, made if it is not there.")
    ] = "davylamp",
    title: Annotated[str, typer.Option(help="What a folder that is made is called.")] = "Davylamp",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace dashboards that are there already.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")
    ] = False,
) -> int:
    """Take dashboards to a Grafana over its HTTP API.

    Exit 0 if all were saved, 1 if Grafana refused one, 2 for usage, 3 if it gave no answer.
    """
    token = _token(token_env, token_file)
    _refuse(url, token)
    _refuse_folder(into)
    found = dashboards_in(folder or dashboards_folder())
    if dry_run:
        typer.echo(f"folder {into}")
        for dashboard in found:
            typer.echo(f"{dashboard.uid}: {dashboard.title} ({dashboard.file})")
        typer.echo(f"nothing was sent to {url}")
        return GOOD
    grafana = Grafana(url=url, folder=into, title=title, token=token, overwrite=overwrite)
    message = f"davylamp {monitor.__version__}"
    done = asyncio.run(push(grafana, found, SystemClock(), message=message))
    for each in done:
        typer.echo(f"{each.name}: {each.words}")
    if not all(each.reached for each in done):
        return UNSURE
    return GOOD if all(each.good for each in done) else BAD


def _token(env: str | None, file: Path | None) -> str | None:
    if env is not None and file is not None:
        raise UsageError("give --token-env or --token-file, not both")
    if env is not None:
        place = Place(file=_HERE, line=None, path="--token-env")
        return resolve_secret(SecretRef(kind="env", name=env, place=place))
    if file is not None:
        place = Place(file=Path.cwd() / "x", line=None, path="--token-file")
        return resolve_secret(SecretRef(kind="file", name=str(file), place=place))
    return None


def _refuse_folder(uid: str) -> None:
    """Raise unless the uid is one that Grafana takes; it goes into the path of a request."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", uid):
        raise UsageError("--folder: a uid is up to 40 letters, digits, - and _ (change it)")


def _refuse(url: str, token: str | None) -> None:
    try:
        origin_of(url)
    except ValueError as error:
        raise UsageError(f"--url: {error}") from None
    if token is not None and in_clear(url):
        raise UsageError("--url: would send the token in clear (name an https:// URL)")
