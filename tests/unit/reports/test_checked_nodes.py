"""Nodes in the report of a check: their class, their part in the exit, and what is shown."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from monitor.findings import Findings
from monitor.nodes.gateway import GatewayReading
from monitor.nodes.record import Conformity, Gap, NodeVerdict
from monitor.nodes.survey import Survey
from monitor.reports.checked_nodes import (
    checked_gateways,
    checked_nodes,
    finding_lines,
    named_shapes,
    node_lines,
    nodes_exit,
)
from tests.builders import NOW
from tests.unit.nodewatch.building import failing
from tests.unit.nodewatch.test_verdicts import verdict_of
from tests.unit.reports.nodes import READ_AT, gateway, match, unreached, verdict
from tests.unit.test_findings import MemoryFindings

FAIL, WARN = Conformity.FAIL, Conformity.WARN
UNKNOWN, PASS = Conformity.UNKNOWN, Conformity.PASS
TODAY = READ_AT.date()


def _lines(*verdicts: NodeVerdict, gateways: tuple[GatewayReading, ...] = ()) -> list[Any]:
    survey = Survey(verdicts=verdicts, gateways=gateways)
    return list(node_lines(checked_nodes(survey, TODAY), checked_gateways(survey)))


@pytest.mark.parametrize(
    ("conformity", "outcome", "verdict_class", "code"),
    [
        (FAIL, "bad", "UNSAFE_NODE", 1),
        (UNKNOWN, "invalid", "none", 3),
        (WARN, "good", "SUSPECT", 0),
        (PASS, "good", "none", 0),
    ],
)
def test_each_conformity_has_its_outcome_class_and_exit(
    conformity: Conformity, outcome: str, verdict_class: str, code: int
) -> None:
    [node] = checked_nodes(Survey(verdicts=(verdict(conformity),)), TODAY)
    assert (node.outcome, node.verdict_class) == (outcome, verdict_class)
    assert nodes_exit([node], []) == code


def test_a_gateway_that_was_not_read_could_not_be_told() -> None:
    unread = gateway(gaps=(Gap(fact="models", why="HTTP 500"),))
    [checked] = checked_gateways(Survey(verdicts=(), gateways=(unread,)))
    assert nodes_exit([], [checked]) == 3
    assert nodes_exit([], checked_gateways(Survey(verdicts=(), gateways=(gateway("b"),)))) == 0


def test_the_rule_that_decided_is_named_with_its_age_and_probe() -> None:
    rules = (match(WARN, "a-rule"), match(FAIL, "b-rule", shape="boundary"))
    [node] = checked_nodes(Survey(verdicts=(verdict(FAIL, *rules),)), TODAY)
    assert (node.rule, node.shape, node.public_days) == ("b-rule", "boundary", 52)


def test_only_rules_that_hold_and_are_not_accepted_name_a_probe() -> None:
    rules = (
        match(FAIL, "a-rule", shape="boundary"),
        match(WARN, "b-rule", shape="abort"),
        match(UNKNOWN, "c-rule", shape="prefix"),
        match(FAIL, "d-rule", shape="turns", accepted_until=date(2027, 1, 31)),
        match(FAIL, "e-rule"),
    )
    found = named_shapes(Survey(verdicts=(verdict(FAIL, *rules),)))
    assert found == {"boundary": "a-rule", "abort": "b-rule"}


def test_nodes_alike_are_shown_together() -> None:
    nodes = [verdict(FAIL, match(FAIL), node=f"n{place}:1") for place in range(6)]
    assert _lines(*nodes, verdict(PASS, node="p:1"), unreached()) == [
        ("UNSAFE_NODE", "some-rule speaks (some-rule, public since 2026-07-06, 52 days)"),
        ("", "on n0:1, n1:1, n2:1, n3:1 and 2 more"),
        ("INVALID", "the connection was refused"),
        ("", "on b:1"),
        ("NODES", "1 of 8 pass every rule"),
    ]


def test_every_rule_that_speaks_is_shown_accepted_ones_too() -> None:
    rules = (
        match(FAIL, "a-rule"),
        match(WARN, "b-rule"),
        match(FAIL, "c-rule", accepted_until=date(2027, 1, 31)),
        match(FAIL, "d-rule", public_since=None),
    )
    assert [line for line in _lines(verdict(FAIL, *rules)) if line[0]] == [
        ("UNSAFE_NODE", "a-rule speaks (a-rule, public since 2026-07-06, 52 days)"),
        ("UNSAFE_NODE", "d-rule speaks (d-rule)"),
        ("SUSPECT", "b-rule speaks (b-rule, public since 2026-07-06, 52 days)"),
        (
            "ACCEPTED",
            "c-rule speaks (c-rule, public since 2026-07-06, 52 days, until 2027-01-31)",
        ),
    ]


def test_of_very_many_rules_the_rest_is_counted() -> None:
    rules = [match(UNKNOWN, f"rule-{number}") for number in range(15)]
    lines = _lines(verdict(UNKNOWN, *rules))
    assert len([line for line in lines if line[0] == "INVALID"]) == 8
    assert lines[-1] == ("", "… and 7 more (all are in --json)")


def test_the_finding_of_a_node_is_named_and_what_to_do_once_it_is_mended() -> None:
    book = Findings(MemoryFindings(), NOW)
    found = book.record(verdict_of(failing(node="a:1")))
    assert found is not None
    survey = Survey(verdicts=(verdict(FAIL, match(FAIL)), verdict(PASS, node="p:1")))
    nodes = checked_nodes(survey, TODAY, book.list_open())
    assert [node.finding for node in nodes] == [found.id, None]
    assert list(finding_lines(nodes)) == [("OPEN", f"finding {found.id}: UNSAFE_NODE in node a:1")]
    accepted = match(FAIL, accepted_until=date(2027, 1, 31))
    mended = Survey(verdicts=(verdict(PASS, accepted),))
    [(_, text)] = finding_lines(checked_nodes(mended, TODAY, book.list_open()))
    assert text.endswith(f"no rule fails it now: davylamp findings resolve {found.id}")


def test_what_nobody_asks_is_shown() -> None:
    models = tuple(f"m{place}" for place in range(7))
    lines = _lines(gateways=(gateway(*models),))
    assert lines[0] == ("UNPROBED", "the gateway serves m0, and no target asks it")
    assert lines[-1] == ("", "… and 2 more (all are in --json)")
