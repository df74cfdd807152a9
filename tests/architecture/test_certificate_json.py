"""The documented contract of an evidence certificate is the one in the code."""

from __future__ import annotations

import re

import pytest

from monitor.certificate import record
from monitor.certificate.issuing import MOST_SIGHTINGS, MOST_VERDICTS
from monitor.certificate.record import CERTIFICATE_VERSION, LABEL, Part
from tests.architecture.json_pages import fields_of, records_of
from tests.architecture.pages import DOCS

PAGE = (DOCS / "certificate-json.md").read_text("utf-8")
DOCUMENTED = fields_of(PAGE)
RECORDS = records_of(record, Part)


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    assert DOCUMENTED[name] == list(RECORDS[name].model_fields)


def test_nothing_is_documented_that_is_not_there() -> None:
    assert DOCUMENTED.keys() == RECORDS.keys()


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
