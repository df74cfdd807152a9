"""The documented contract of ``davylamp evidence show --json`` is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.reports import evidence
from monitor.reports.check import Record
from monitor.reports.evidence import EVIDENCE_SCHEMA_VERSION
from tests.architecture.pages import DOCS

PAGE = (DOCS / "evidence-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for name, each in vars(evidence).items()
    if isinstance(each, type) and issubclass(each, Record) and each is not Record
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = list(RECORDS[name].model_fields)
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_the_version_stands_in_the_page() -> None:
    assert f"now **{EVIDENCE_SCHEMA_VERSION}**" in PAGE
