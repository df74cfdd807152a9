"""Generated pages are fresh, and every verb, signal and link of the documentation exists."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.checks import CHECKS, Check
from monitor.cli.main import VERBS
from monitor.verdicts import CONSEQUENCES
from tests.architecture.pages import COMMAND, DOCS, PAGES
from tests.architecture.source import ROOT

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WRITTEN = [
    *sorted(DOCS.rglob("*.md")),
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "README.md",
]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), f"run: {COMMAND}"


def test_every_verb_is_documented() -> None:
    page = (DOCS / "cli.md").read_text("utf-8")
    assert not [verb for verb in VERBS if f"## `davylamp {verb}`" not in page]


def test_every_signal_is_documented() -> None:
    page = (DOCS / "signals.md").read_text("utf-8")
    for code, variant in CONSEQUENCES:
        section = page.partition(f"\n## {code}\n")[2].partition("\n## ")[0]
        assert f"| `{variant}` |" in section, (code, variant)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_what_a_check_fails_with_has_a_row(check: Check) -> None:
    tree = ast.parse(inspect.getsource(inspect.getmodule(check.judge)))
    names = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    rows = {variant for code, variant in CONSEQUENCES if code == check.code}
    assert {v for v in _variants(tree, names) if v not in rows} == set()


def _variants(tree: ast.Module, names: dict[str, object]) -> Iterator[object]:
    """Yield the variants given to ``failed`` outright; a test of the contract finds the others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "failed" and len(node.args) > 2:
            match node.args[2]:
                case ast.Constant(value=value):
                    yield value
                case ast.Name(id=name) if name in names:
                    yield names[name]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]
