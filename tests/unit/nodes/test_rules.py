"""Every rule holds of what it is about, lets go of what is well, and does not pass the untold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from monitor.nodes import Conformity, NodeVerdict, RuleMatch
from monitor.nodes.judging import judge_nodes
from monitor.nodes.predicate import subjects_of
from monitor.nodes.readers import llama_cpp, sglang_live, vllm
from monitor.nodes.ruleset import ENGINES, SHIPPED, Rule, RuleSet
from monitor.nodes.view import Kind
from monitor.probes import PROBES
from tests.architecture.source import ROOT
from tests.unit.nodes.judged import RULES, STRICT, TODAY, node
from tests.unit.nodes.rule_rows import (
    EDGES,
    FAILS,
    FAILS_IN_STRICT_MODE,
    IN_STRICT_MODE_ONLY,
    ROWS,
    Fleet,
    Row,
)

FAIL, WARN = Conformity.FAIL, Conformity.WARN


def judged(fleet: Fleet, row: Row, rules: RuleSet = STRICT) -> NodeVerdict:
    """Return the verdict on the first node of a fleet."""
    advertised = {} if row.gateway is None else {fleet[0].target: row.gateway}
    return judge_nodes(fleet, rules, today=TODAY, advertised=advertised)[0]


def spoken(rule: str, fleet: Fleet, row: Row, rules: RuleSet = STRICT) -> RuleMatch | None:
    """Return what a rule says of the first node of a fleet."""
    matches = judged(fleet, row, rules).matches
    return next((match for match in matches if match.rule == rule), None)


def test_every_rule_has_a_row() -> None:
    assert ROWS.keys() == STRICT.ids == RULES.ids


@pytest.mark.parametrize("rule", ROWS)
def test_it_holds_of_what_it_is_about(rule: str) -> None:
    match = spoken(rule, ROWS[rule].holds, ROWS[rule])
    assert match is not None
    assert match.conformity is (FAIL if rule in FAILS_IN_STRICT_MODE else WARN)
    assert "{" not in match.why
    assert "unknown" not in match.why


@pytest.mark.parametrize("rule", ROWS)
def test_it_is_as_bad_in_the_ordinary_mode_as_is_written_down(rule: str) -> None:
    match = spoken(rule, ROWS[rule].holds, ROWS[rule], RULES)
    if rule in IN_STRICT_MODE_ONLY:
        assert match is None
    else:
        assert match is not None
        assert match.conformity is (FAIL if rule in FAILS else WARN)


def at(version: str, fleet: Fleet) -> Fleet:
    """Return the same nodes at another version."""
    return [replace(each, facts=replace(each.facts, version=version)) for each in fleet]


@pytest.mark.parametrize("rule", EDGES)
def test_a_range_ends_where_it_is_written_down(rule: str) -> None:
    row, edges = ROWS[rule], EDGES[rule]
    for version in edges.within():
        match = spoken(rule, at(version, row.holds), row)
        assert match is not None, version
        assert match.conformity is not Conformity.UNKNOWN, version
    for version in edges.beyond():
        assert spoken(rule, at(version, row.holds), row) is None, version


def test_every_range_is_written_down() -> None:
    assert EDGES.keys() == {rule.id for rule in STRICT.rules if rule.versions is not None}


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
    if rule in FAILS_IN_STRICT_MODE:
        assert conformity in (Conformity.UNKNOWN, Conformity.FAIL)
    assert conformity is not Conformity.PASS


BACKENDS = ("attention_backend", "prefill_attention_backend", "decode_attention_backend")
OF_A_BACKEND = {
    "sglang-hierarchical-cache-sparse": ("nsa", {"enable_hierarchical_cache": True}),
    "sglang-fp8-latent-attention": ("flashmla", {"dp_size": 8, "enable_dp_attention": True}),
}


@pytest.mark.parametrize("key", BACKENDS)
@pytest.mark.parametrize("rule", OF_A_BACKEND)
def test_a_backend_counts_wherever_it_is_set(rule: str, key: str) -> None:
    backend, beside = OF_A_BACKEND[rule]
    unset = dict.fromkeys(BACKENDS)
    match = spoken(rule, [node(settings={**beside, **unset, key: backend})], ROWS[rule])
    assert match is not None
    assert match.conformity is WARN


@pytest.mark.parametrize("rule", OF_A_BACKEND)
def test_a_backend_that_the_engine_chose_is_untold(rule: str) -> None:
    _, beside = OF_A_BACKEND[rule]
    match = spoken(rule, [node(settings={**beside, **dict.fromkeys(BACKENDS)})], ROWS[rule])
    assert match is not None
    assert match.conformity is Conformity.UNKNOWN


@pytest.mark.parametrize("rule", STRICT.rules, ids=lambda rule: rule.id)
def test_it_says_where_one_reads_about_it(rule: Rule) -> None:
    assert rule.link or rule.public is None, "a public fault has a link"
    assert rule.public is None or rule.public <= rule.reviewed
    assert rule.reviewed <= datetime.now(UTC).date()
    assert rule.shape is None or rule.shape in PROBES


@pytest.mark.parametrize("rule", STRICT.rules, ids=lambda rule: rule.id)
def test_what_was_reported_in_public_says_since_when(rule: Rule) -> None:
    reported = "/issues/" in rule.link or "/security/advisories/" in rule.link
    assert rule.public is not None or not reported


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
