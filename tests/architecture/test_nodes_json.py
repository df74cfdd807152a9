"""The documented contract of ``davylamp nodes --json`` is the one in the code."""

from __future__ import annotations

import pytest

from monitor.reports import nodes
from monitor.reports.check import Record
from monitor.reports.nodes import NODES_SCHEMA_VERSION
from tests.architecture.json_pages import fields_of, records_of
from tests.architecture.pages import DOCS

PAGE = (DOCS / "nodes-json.md").read_text("utf-8")
DOCUMENTED = fields_of(PAGE)
RECORDS = records_of(nodes, Record)


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    assert DOCUMENTED[name] == list(RECORDS[name].model_fields)


def test_nothing_is_documented_that_is_not_there() -> None:
    assert DOCUMENTED.keys() == RECORDS.keys()


def test_the_version_stands_in_the_page() -> None:
    assert f"now **{NODES_SCHEMA_VERSION}**" in PAGE
