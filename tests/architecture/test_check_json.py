"""The documented contract of ``davylamp check --json`` is the one in the code."""

from __future__ import annotations

import re
from typing import Any

import pytest

from monitor.conventions import NotProbed
from monitor.model import Outcome, Part, Status
from monitor.reports import check
from monitor.reports.check import SCHEMA_VERSION, CheckReport, Record
from tests.architecture.pages import DOCS

PAGE = (DOCS / "check-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))


def _records() -> dict[str, type[Record]]:
    made = {name: each for name, each in vars(check).items() if isinstance(each, type)}
    return {n: each for n, each in made.items() if issubclass(each, Record) and each is not Record}


@pytest.mark.parametrize("name", _records())
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = [f.alias or key for key, f in _records()[name].model_fields.items()]
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == _records().keys()


def test_the_version_stands_in_the_page() -> None:
    assert f"now **{SCHEMA_VERSION}**" in PAGE


@pytest.mark.parametrize(
    ("record", "field", "values"),
    [
        ("NotProbedReport", "code", NotProbed),
        ("ExchangeReport", "part", Part),
        ("ExchangeReport", "outcome", Outcome),
        ("TrialReport", "outcome", Outcome),
        ("SignalReport", "status", Status),
    ],
)
def test_values_that_are_listed_are_complete(record: str, field: str, values: Any) -> None:
    [line] = re.findall(rf"^\| `{field}` \|.*$", SECTIONS[record], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {field, *values}


def test_the_example_fits_the_contract_and_says_what_the_page_says() -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    report = CheckReport.model_validate_json(example)
    assert report.schema_version == SCHEMA_VERSION
    assert report.targets[0].found[0].verdict_class == "LEAK"
    assert report.exit_code == report.targets[0].exit_code == 1
