"""The page on the architecture names what there is."""

from __future__ import annotations

import re
import tomllib

from monitor.store.rows import TABLES
from tests.architecture.pages import DOCS
from tests.architecture.source import ROOT
from tests.architecture.test_source import BROAD_HANDLERS

PAGE = (DOCS / "architecture.md").read_text("utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_cells(heading: str) -> list[str]:
    cells = re.findall(r"^\| (`[^|]+) \|", section(heading), re.MULTILINE)
    return [", ".join(re.findall(r"`([\w./]+)`", cell)) for cell in cells]


def test_the_layers_are_those_of_the_import_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [contract] = (c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    layers = [re.sub(r"\s*[|:]\s*", ", ", layer) for layer in contract["layers"]]
    assert first_cells("Layers") == layers


def test_the_handlers_are_those_in_the_code() -> None:
    named = {f"monitor/{cell}" for cell in first_cells("Errors")}
    assert named == BROAD_HANDLERS.keys()


def test_the_tables_are_those_of_the_store() -> None:
    named = ", ".join(first_cells("What is stored")).split(", ")
    assert sorted(named) == sorted(TABLES.values())
