"""The documented contract of ``davylamp calibrate --json`` is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.model import ToleranceSource
from monitor.reports import calibration
from monitor.reports.calibration import CALIBRATION_SCHEMA_VERSION
from monitor.reports.check import CalibratedReport, Record
from tests.architecture.pages import DOCS

PAGE = (DOCS / "calibration.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for name, each in vars(calibration).items()
    if isinstance(each, type)
    and issubclass(each, Record)
    and each not in (Record, CalibratedReport)
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = [f.alias or key for key, f in RECORDS[name].model_fields.items()]
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_the_version_and_the_sources_stand_in_the_page() -> None:
    assert f"now **{CALIBRATION_SCHEMA_VERSION}**" in PAGE
    section = SECTIONS["CalibrationReport"]
    [line] = re.findall(r"^\| `tolerance_source` \|.*$", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {"tolerance_source", *ToleranceSource}
