"""The documented contract of ``davylamp findings --json`` is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.reports import examination, findings, localisation, verification
from monitor.reports.check import Record
from monitor.reports.examination import ExaminationReport, Reading
from monitor.reports.localisation import Bearing
from tests.architecture.pages import DOCS

PAGE = (DOCS / "findings-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for module in (examination, findings, localisation, verification)
    for name, each in vars(module).items()
    if isinstance(each, type)
    and issubclass(each, Record)
    and each not in (Record, ExaminationReport)
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = [f.alias or key for key, f in RECORDS[name].model_fields.items()]
    if name == "LocalisationReport":  # those it shares with verify are told there
        fields = fields[len(ExaminationReport.model_fields) :]
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_versions_and_values_stand_in_the_page() -> None:
    versions = {
        findings.FINDINGS_SCHEMA_VERSION,
        verification.VERIFICATION_SCHEMA_VERSION,
        localisation.LOCALISATION_SCHEMA_VERSION,
    }
    told = re.findall(r"\*\*(\d+\.\d+)\*\*", PAGE)
    assert (len(told), set(told)) == (len(versions), versions)
    for section, field, values in (
        ("ExaminedTrial", "reading", Reading),
        ("PlaceReport", "reading", Reading),
        ("AxisReport", "bearing", Bearing),
    ):
        [line] = re.findall(rf"^\| `{field}` \|.*$", SECTIONS[section], re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", line)) == {field, *values}
