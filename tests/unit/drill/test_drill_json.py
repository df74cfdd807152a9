"""The documented contract of ``davylamp drill --json`` is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.reports import drill
from monitor.reports.drill import DRILL_SCHEMA_VERSION, Record
from monitor.reports.drill_summary import summarise_drill
from tests.architecture.source import ROOT
from tests.unit.drill.made_up import CERTAIN, QUIET, SETTING

PAGE = (ROOT / "docs" / "drill-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for name, each in vars(drill).items()
    if isinstance(each, type) and issubclass(each, Record) and each is not Record
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = [f.alias or key for key, f in RECORDS[name].model_fields.items()]
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_the_version_stands_in_the_page() -> None:
    assert f"now **{DRILL_SCHEMA_VERSION}**" in PAGE


def test_every_promise_is_explained() -> None:
    made = {promise.promise for promise in summarise_drill(SETTING, [CERTAIN, QUIET], []).promises}
    assert set(re.findall(r"^- `(\w+)`:", SECTIONS["PromiseReport"], re.MULTILINE)) == made
    [line] = re.findall(r"^\| `promise` \|.*$", SECTIONS["PromiseReport"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {"promise", *made}
