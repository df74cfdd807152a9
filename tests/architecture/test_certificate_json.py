"""The documented contract of an evidence certificate is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.certificate import record
from monitor.certificate.issuing import MOST_SIGHTINGS, MOST_VERDICTS
from monitor.certificate.record import CERTIFICATE_VERSION, LABEL, Part
from tests.architecture.pages import DOCS

PAGE = (DOCS / "certificate-json.md").read_text("utf-8")
_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(PAGE))
RECORDS = {
    name: each
    for name, each in vars(record).items()
    if isinstance(each, type) and issubclass(each, Part) and each is not Part
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    fields = list(RECORDS[name].model_fields)
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE) == fields


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == RECORDS.keys()


def test_pages_that_name_it_lead_to_it() -> None:
    named = re.compile(r"\[`?(?:docs/)?([\w-]+\.md)`?\]\(([^)#]+)")
    wrong = [
        (page.name, text, target)
        for page in sorted(DOCS.rglob("*.md"))
        for text, target in named.findall(page.read_text("utf-8"))
        if target.rpartition("/")[2] != text
    ]
    assert not wrong


def test_the_numbers_stand_in_the_page() -> None:
    assert f"now **{CERTIFICATE_VERSION}**" in PAGE
    assert f"`{LABEL.decode().strip()}`" in PAGE
    assert f"the first {MOST_SIGHTINGS}," in PAGE
    assert f"first {MOST_VERDICTS} verdicts" in PAGE
