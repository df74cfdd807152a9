"""Every rule holds of what it is about, lets go of what is well, and does not pass the untold."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from monitor.nodes import Conformity, NodeVerdict, RuleMatch
from monitor.nodes.judging import judge_nodes
from monitor.nodes.predicate import subjects_of
from monitor.nodes.readers import llama_cpp, sglang_live, vllm
from monitor.nodes.ruleset import ENGINES, SHIPPED, Rule
from monitor.nodes.view import Kind
from monitor.probes import PROBES
from tests.architecture.source import ROOT
from tests.unit.nodes.judged import RULES, STRICT, TODAY
from tests.unit.nodes.rule_rows import ROWS, Fleet, Row

BY_ID = {rule.id: rule for rule in STRICT.rules}


def judged(fleet: Fleet, row: Row) -> NodeVerdict:
    """Return the verdict on the first node of a fleet."""
    advertised = {} if row.gateway is None else {fleet[0].target: row.gateway}
    return judge_nodes(fleet, STRICT, today=TODAY, advertised=advertised)[0]


def spoken(rule: str, fleet: Fleet, row: Row) -> RuleMatch | None:
    """Return what a rule says of the first node of a fleet."""
    return next((match for match in judged(fleet, row).matches if match.rule == rule), None)


def test_every_rule_has_a_row() -> None:
    assert ROWS.keys() == STRICT.ids == RULES.ids


@pytest.mark.parametrize("rule", ROWS)
def test_it_holds_of_what_it_is_about(rule: str) -> None:
    match = spoken(rule, ROWS[rule].holds, ROWS[rule])
    assert match is not None
    assert match.conformity is STRICT.severity(BY_ID[rule])
    assert "{" not in match.why
    assert "unknown" not in match.why


@pytest.mark.parametrize("rule", ROWS)
def test_it_lets_go_of_what_is_well(rule: str) -> None:
    assert spoken(rule, ROWS[rule].clean, ROWS[rule]) is None


@pytest.mark.parametrize("rule", ROWS)
def test_what_is_not_told_is_unknown_and_no_pass(rule: str) -> None:
    row = ROWS[rule]
    match = spoken(rule, row.untold, row)
    assert match is not None
    assert match.conformity is Conformity.UNKNOWN
    assert match.why.startswith("cannot be told without ")
    conformity = judged(row.untold, row).conformity
    if STRICT.severity(BY_ID[rule]) is Conformity.FAIL:
        assert conformity in (Conformity.UNKNOWN, Conformity.FAIL)
    assert conformity is not Conformity.PASS


@pytest.mark.parametrize("rule", STRICT.rules, ids=lambda rule: rule.id)
def test_it_says_where_one_reads_about_it(rule: Rule) -> None:
    assert rule.link or rule.public is None, "a public fault has a link"
    assert rule.public is None or rule.public <= rule.reviewed
    assert rule.reviewed <= datetime.now(UTC).date()
    assert rule.shape is None or rule.shape in PROBES


COUNTED = {"llama.cpp": llama_cpp.COUNTERS, "sglang": sglang_live.COUNTERS, "vllm": vllm.COUNTERS}


@pytest.mark.parametrize("rule", STRICT.rules, ids=lambda rule: rule.id)
def test_it_asks_only_for_what_is_counted(rule: Rule) -> None:
    named = {each.name for each in subjects_of(rule.condition) if each.kind is Kind.COUNTER}
    assert named <= {str(each) for each in COUNTED.get(rule.engine, {})}


def test_every_engine_that_is_read_has_a_rule() -> None:
    assert set(ENGINES) <= {rule.engine for rule in RULES.rules}


def test_rules_are_in_the_wheel() -> None:
    included = {Path(file.path) for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert set(SHIPPED.glob("*.yaml")) <= included
