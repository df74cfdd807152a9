"""Every command that a document tells to run is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from monitor.cli.main import app
from tests.architecture.source import ROOT

WRITTEN = [
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "alerts" / "runbooks").glob("*.md")),
    ROOT / "README.md",
]
_COMMAND = re.compile(r"`(davylamp [^`]+)`")
# Stands for whatever else it takes.
_OPEN = "…"
# Words for a value of which not every word is one.
_PLACEHOLDERS = {"H", "P"}


def written(text: str) -> Iterator[str]:
    """Yield what stands in backticks, on one line; a|b|c is three commands."""
    for found in _COMMAND.findall(text):
        yield from _spelt_out(" ".join(found.split()))


def _spelt_out(command: str) -> Iterator[str]:
    choice = re.search(r"\S+\|\S+", command)
    if choice is None:
        yield command
        return
    for each in choice[0].split("|"):
        yield from _spelt_out(command.replace(choice[0], each, 1))


def refused(command: str) -> str:
    """Return why the command line takes it not; empty if it does. Nothing is run.

    A verb alone is its name, and asks for no argument.
    """
    words = shlex.split(re.sub(r"[][]", "", command))[1:]
    parsed: Any = typer.main.get_command(app)
    context = parsed.make_context("davylamp", [], resilient_parsing=True)
    while words and hasattr(parsed, "list_commands"):
        if words[0] == "VERB":
            return ""
        below = parsed.get_command(context, words[0])
        if below is None:
            return f"no verb {words[0]}"
        parsed, words = below, words[1:]
        context = parsed.make_context("davylamp", [], resilient_parsing=True)
    if not words:
        return ""
    try:
        parsed.make_context("davylamp", [word for word in words if word != _OPEN])
    except typer.Exit:
        return ""
    except typer.TyperException as error:
        kind = type(error).__name__
        forgiven = {"MissingParameter": _OPEN in words, "BadParameter": _PLACEHOLDERS & {*words}}
        return "" if forgiven.get(kind) else str(error)
    return ""


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.stem)
def test_a_written_command_is_taken(file: Path) -> None:
    found = {each: refused(each) for each in written(file.read_text("utf-8"))}
    assert not {each: why for each, why in found.items() if why}


@pytest.mark.parametrize(
    "command",
    [
        "davylamp nothing",
        "davylamp check TARGET",
        "davylamp check TARGET --profile quick",
        "davylamp findings resolve FINDING --reason WHY",
        "davylamp findings\nlist --nowhere",
        "davylamp findings list|nothing",
        "davylamp export --format csv",
        "davylamp findings show … --nowhere",
    ],
)
def test_one_that_is_not_taken_is_seen(command: str) -> None:
    assert any(refused(each) for each in written(f"Run `{command}` now."))


def test_what_an_alert_tells_to_run_is_taken() -> None:
    rules = (ROOT / "alerts" / "rules" / "answers.rules.yml").read_text("utf-8")
    commands = [re.sub(r"\{\{.*?\}\}", "TARGET", each) for each in _COMMAND.findall(rules)]
    assert "davylamp findings list --target TARGET" in commands
    assert not [each for each in commands if refused(each)]
