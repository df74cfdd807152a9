"""The page of incidents holds what the code refers to, and refers to what is in the code."""

from __future__ import annotations

import re

import pytest

from monitor.checks import CHECKS
from monitor.lab.mechanisms.catalogue import MECHANISMS
from monitor.nodes.ruleset import load_rules
from monitor.probes import PROBES
from tests.architecture.pages import DOCS
from tests.architecture.source import ROOT

_ROW = re.compile(r"^\| ([A-E]\d\d) \| (.*) \|$", re.MULTILINE)
REGRESSIONS = (ROOT / "tests/unit/test_regressions.py").read_text("utf-8")
DEMO = (ROOT / "monitor/cli/demo_verb.py").read_text("utf-8")
ROWS = dict(_ROW.findall((DOCS / "incidents.md").read_text("utf-8")))


def test_every_incident_the_code_refers_to_has_a_row() -> None:
    named = {found.upper() for found in re.findall(r"_([a-e]\d\d)_", REGRESSIONS)}
    named |= set(re.findall(r"\b[A-E]\d\d\b", REGRESSIONS + DEMO))
    assert named
    assert named <= ROWS.keys()


def test_every_regression_of_an_incident_is_named_in_its_row() -> None:
    for test, incident in re.findall(r"^def (test_\w*?([a-e]\d\d)_\w+)", REGRESSIONS, re.MULTILINE):
        assert f"`{test}`" in ROWS[incident.upper()]


@pytest.mark.parametrize("incident", ROWS)
def test_a_row_has_a_source_and_is_covered_by_something_that_exists(incident: str) -> None:
    *_, source, _trigger, _seen, covered = re.split(r"(?<!\\) \| ", ROWS[incident])
    assert "](https://" in source
    known = {*MECHANISMS, *PROBES, *(check.code for check in CHECKS), *load_rules().ids}
    names = re.findall(r"`([^`]+)`", covered)
    assert names
    for name in names:
        assert name in known or f"def {name}(" in REGRESSIONS, name
