"""Every value that people meet has its line in the glossary, and no line is about nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from monitor.checks import CHECKS
from monitor.conventions import BodyState, NotProbed
from monitor.conventions.pages import PageOutcome
from monitor.findings import FindingState
from monitor.model import FailureKind, Lane, Outcome, Part, SignalKind, Status, VerdictClass
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind
from monitor.store import Action
from tests.architecture.pages import DOCS

GLOSSARY = (DOCS / "glossary.md").read_text("utf-8")
VALUES: dict[str, Iterable[str]] = {
    "Classes": tuple(each.label for each in VerdictClass),
    "Outcomes": Outcome,
    "Statuses": Status,
    "Kinds of failed signals": SignalKind,
    "Lanes": Lane,
    "Parts": Part,
    "Failures": FailureKind,
    "Why a stratum was not probed": NotProbed,
    "States of a finding": FindingState,
    "Actions of the audit chain": Action,
    "Budgets": BudgetKind,
    "What becomes of bodies": BodyState,
    "What becomes of a page": PageOutcome,
    "Probes": PROBES,
    "Checks": tuple(check.code for check in CHECKS),
}


@pytest.mark.parametrize("heading", VALUES)
def test_every_value_has_a_line(heading: str) -> None:
    section = GLOSSARY.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert sorted(lines) == sorted(map(str, VALUES[heading]))


def test_the_words_are_in_order_each_once() -> None:
    words = re.findall(r"^\| \*\*([^*]+)\*\* \|", GLOSSARY, re.MULTILINE)
    assert words == sorted(set(words))
