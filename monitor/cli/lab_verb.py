"""``davylamp lab``: hands over to the lab, a program of its own that shares no code with us."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def lab(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 0,
    fault: Annotated[
        list[str] | None, typer.Option(help="A fault to switch on; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    context: Annotated[int, typer.Option(help="Context in tokens, at most 16384.")] = 4096,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter: fault.name=value, or lab.name=value."),
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="unified (one node) or pd (a prefill and a decode node).")
    ] = None,
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw what is not set from the seed.")
    ] = False,
    list_faults: Annotated[bool, typer.Option(help="Print the faults and stop.")] = False,
) -> None:
    """Serve a simulated cluster and its nodes on 127.0.0.1.

    Prints one JSON line with URL, keys and nodes when ready.
    """
    arguments = ["--port", str(port), "--seed", str(seed), "--context", str(context)]
    for name in fault or ():
        arguments += ["--fault", name]
    for value in parameter or ():
        arguments += ["--set", value]
    arguments += ["--mode", mode] if mode else []
    if draw:
        arguments.append("--draw")
    if list_faults:
        arguments = ["--list-faults"]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "monitor.lab", *arguments])  # noqa: S606
