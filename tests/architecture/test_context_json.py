"""The documented contract of ``davylamp context verify --json`` is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.detect.ladder import Read
from monitor.reports import ladder
from monitor.reports.check import LimitReport, Record
from monitor.reports.ladder import LADDER_SCHEMA_VERSION
from tests.architecture.pages import DOCS

PAGE = (DOCS / "context-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for name, each in vars(ladder).items()
    if isinstance(each, type) and issubclass(each, Record) and each not in (Record, LimitReport)
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = [f.alias or key for key, f in RECORDS[name].model_fields.items()]
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_version_and_outcomes_stand_in_the_page() -> None:
    assert f"now **{LADDER_SCHEMA_VERSION}**" in PAGE
    [line] = re.findall(r"^\| `outcome` \|.*$", SECTIONS["RungReport"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {"outcome", *Read}
