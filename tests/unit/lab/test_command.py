"""The command line, and what the lab may import."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import monitor.lab
from monitor.lab.mechanisms.catalogue import MECHANISMS

ROOT = Path(monitor.lab.__file__).parent


def test_the_list_has_every_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    assert monitor.lab.main(["--list-faults"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name}: " in listed for name in MECHANISMS)


@pytest.mark.parametrize(
    "argv",
    [
        ["--fault", "gremlins"],
        ["--set", "loops.tempo=1"],
        ["--set", "loops.rate"],
        ["--set", "loops.rate=often"],
        ["--set", "overlength_placeholder.usage=gateway"],
        ["--set", "overlength_placeholder.expose_nodes=perhaps"],
    ],
)
def test_what_does_not_exist_is_a_usage_error(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert monitor.lab.main(argv) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--context", "99999"], ["--host", "0.0.0.0"]])  # noqa: S104
def test_sizes_and_hosts_have_bounds(argv: list[str]) -> None:
    with pytest.raises(SystemExit):
        monitor.lab.main(argv)


def test_the_lab_imports_nothing_of_the_monitor() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            own = [name for name in names if name.split(".")[0] == "monitor"]
            assert all(name.startswith("monitor.lab") for name in own), path


def test_the_responder_is_given_slots_only() -> None:
    """No module of the responder may know requests, steps, settings or mechanisms."""
    for path in (ROOT / "responder").glob("*.py"):
        text = path.read_text("utf-8")
        for word in ("Job", "Steps", "settings", "mechanisms", "engine", "service"):
            assert f"import {word}" not in text, path
            assert f"monitor.lab.{word}" not in text, path
