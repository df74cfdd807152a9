"""The report of nodes: its exits, its order, and a table that no node can break."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import Conformity, Gap, NodeFacts
from monitor.nodes.survey import Survey
from monitor.reports.nodes import NodesReport, nodes_report, selected_nodes
from monitor.reports.nodes_table import columns, nodes_lines
from tests.unit.reports.nodes import (
    READ_AT,
    RULES,
    gateway,
    match,
    report,
    unreached,
    verdict,
)

FAIL, WARN = Conformity.FAIL, Conformity.WARN
UNKNOWN, PASS = Conformity.UNKNOWN, Conformity.PASS
GONE = Gap(fact="models", why="HTTP 500")


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([PASS], 0),
        ([WARN], 0),
        ([PASS, UNKNOWN], 3),
        ([UNKNOWN, WARN], 3),
        ([FAIL, UNKNOWN], 1),
        ([FAIL, PASS], 1),
    ],
)
def test_a_fail_exits_1_an_unknown_3_and_a_warning_0(states: list[Conformity], code: int) -> None:
    verdicts = [verdict(state, node=f"n{place}:1") for place, state in enumerate(states)]
    assert report(*verdicts).exit_code == code


def test_a_gateway_that_was_not_read_is_no_success() -> None:
    assert report(verdict(PASS), gateways=(gateway(gaps=(GONE,)),)).exit_code == 3
    assert report(verdict(PASS), gateways=(gateway("other"),)).exit_code == 0


@pytest.mark.parametrize(
    ("state", "code"), [(LiveState.FAIL, 1), (LiveState.UNKNOWN, 0), (LiveState.PASS, 0)]
)
def test_a_failing_signal_is_a_fail(state: LiveState, code: int) -> None:
    signal = LiveSignal(target="glm", node="", kind=LiveKind.ABORTS, state=state, why="why")
    survey = Survey(verdicts=(verdict(PASS),))
    made = nodes_report(survey, RULES, read_at=READ_AT, signals=[signal])
    assert made.exit_code == code
    assert ("aborts: why" in "\n".join(nodes_lines(made))) == (state is LiveState.FAIL)


def test_each_signal_is_shown_and_why_one_is_not_known() -> None:
    signals = [
        LiveSignal(target="glm", node=node, kind=kind, state=state, why=why)
        for node, kind, state, why in (
            ("a:1", LiveKind.ABORTS, LiveState.PASS, "few"),
            ("b:1", LiveKind.ABORTS, LiveState.PASS, "fewer"),
            ("", LiveKind.PROMPT_TOKENS_DIVERGE, LiveState.UNKNOWN, "one reading so far"),
        )
    ]
    survey = Survey(verdicts=(verdict(PASS),))
    lines = list(nodes_lines(nodes_report(survey, RULES, read_at=READ_AT, signals=signals)))
    place = lines.index("  SIGNAL    prompt_tokens_diverge not known: one reading so far")
    assert lines[place + 1 : place + 4] == [
        "            on all its nodes together",
        "  SIGNAL    aborts passes",
        "            on a:1, b:1",
    ]


@pytest.mark.parametrize(
    ("why", "setting"),
    [
        ("its address is not among those that may be read", "nodes.addresses"),
        ("no whole answer in the time that a node has", "nodes.timeout"),
    ],
)
def test_what_a_setting_mends_names_it(why: str, setting: str) -> None:
    assert any(why in line and setting in line for line in nodes_lines(report(unreached(why=why))))


def test_a_role_that_is_not_known_is_said_before_the_rules_that_hang_on_it() -> None:
    gaps = (Gap(fact="pool", why="gone"), Gap(fact="role", why="the configuration says decode"))
    told = verdict(UNKNOWN, *(match(UNKNOWN, f"rule-{n}") for n in range(10)), gaps=gaps)
    said = [line for line in nodes_lines(report(told)) if line.startswith("  UNKNOWN   ")]
    assert "its role is not known" in said[0]


def test_lines_are_as_wide_as_asked_for_and_nothing_is_lost() -> None:
    told = report(verdict(FAIL, match(FAIL, why="word " * 60), node="a:1"))
    wide = list(nodes_lines(told))
    narrow = list(nodes_lines(told, columns=60))
    table = [line for line in wide if "sglang" in line or "VERDICT" in line]
    assert all(len(line) <= 60 for line in narrow if line not in table)
    assert " ".join(" ".join(narrow).split()) == " ".join(" ".join(wide).split())


def test_the_worst_node_stands_first_and_so_does_the_worst_rule() -> None:
    rules = (match(WARN, "b-rule"), match(FAIL, "c-rule"), match(UNKNOWN, "a-rule"))
    made = report(verdict(PASS, node="p:1"), verdict(WARN, node="w:1"), verdict(FAIL, *rules))
    assert [node.conformity for node in made.nodes] == [FAIL, WARN, PASS]
    assert [rule.rule for rule in made.nodes[0].rules] == ["c-rule", "a-rule", "b-rule"]
    assert made.nodes[0].reason == "c-rule speaks"


def test_what_decided_is_the_first_rule_that_says_what_the_verdict_says() -> None:
    rules = (match(UNKNOWN, "a-rule"), match(WARN, "z-rule"), match(WARN, "b-rule"))
    [node] = report(verdict(WARN, *rules)).nodes
    assert node.reason == "z-rule speaks"


def test_it_says_for_how_many_days_a_fault_has_been_public() -> None:
    [node] = report(verdict(FAIL, match(FAIL))).nodes
    assert (node.public_since, node.public_days) == (date(2026, 7, 6), 52)
    assert node.rules[0].public_days == 52


def test_an_accepted_rule_is_shown_and_decides_nothing() -> None:
    accepted = match(FAIL, accepted_until=date(2027, 1, 31))
    made = report(verdict(PASS, accepted))
    assert made.exit_code == 0
    assert made.nodes[0].public_days is None
    assert made.nodes[0].reason == "only accepted rules speak of it"
    assert "  ACCEPTED  some-rule, public since 2026-07-06 (52 days), until 2027-01-31" in list(
        nodes_lines(made)
    )


def test_a_part_of_a_report_has_its_own_exit() -> None:
    made = report(verdict(FAIL), verdict(PASS, target="qwen"), gateways=(gateway("other"),))
    part = selected_nodes(made, ["qwen"])
    assert [node.target for node in part.nodes] == ["qwen"]
    assert (part.exit_code, [node.target for node in part.nodes], part.gateways) == (
        0,
        ["qwen"],
        [],
    )


def test_the_table_has_a_row_for_each_node_and_what_is_not_known_is_a_question() -> None:
    lines = list(nodes_lines(report(verdict(FAIL, match(FAIL)), unreached())))
    assert lines[0] == "glm  2 nodes"
    fail = "FAIL a:1 sglang 0.5.18 prefill 1,048,576 681,274 681,280 12% 52 d"
    assert lines[2].split() == fail.split()
    assert lines[3].split() == ["UNKNOWN", "b:1", *("?" * 7)]
    assert "  UNKNOWN   not reached: the connection was refused" in lines
    assert lines[-1] == "1 fails, 1 cannot be told: BAD (exit 1)"


def test_what_holds_of_many_nodes_is_said_once() -> None:
    made = report(*(verdict(FAIL, match(FAIL), node=f"n{i}:1") for i in range(200)))
    lines = list(nodes_lines(made))
    assert sum("some-rule speaks" in line for line in lines) == 1
    assert "            on n0:1, n1:1, n2:1, n3:1 and 196 more" in lines


def test_models_that_nobody_asks_are_named() -> None:
    lines = list(nodes_lines(report(verdict(PASS), gateways=(gateway("b", "c"),))))
    assert "  UNPROBED  the gateway serves b, and no target asks it" in lines
    assert lines[-1] == "1 passes: GOOD (exit 0)"


def test_a_gateway_without_nodes_is_shown() -> None:
    lines = list(nodes_lines(report(gateways=(gateway(gaps=(GONE,)),))))
    assert "  UNKNOWN   what the gateway serves or promises could not be told: HTTP 500" in lines
    assert lines[-1] == "no node: COULD NOT TELL (exit 3)"


def test_facts_that_were_not_read_are_said() -> None:
    gaps = tuple(Gap(fact=f"fact{i}", why="no such page") for i in range(15))
    lines = list(nodes_lines(report(verdict(UNKNOWN, gaps=gaps))))
    assert "  NOT READ  fact0: no such page" in lines
    assert "            … and 3 more facts that could not be read (in --json)" in lines


HOSTILE = st.text(st.characters(), min_size=1, max_size=200) | st.sampled_from(
    ["\x1b[31mFAIL", "a\nb", "\u202egnp.exe", "\u200b" * 90, "e\u0301" * 90, "漢" * 90, "\u2028x"]
)


@given(HOSTILE, HOSTILE)
def test_no_word_of_a_node_breaks_the_table(name: str, version: str) -> None:
    facts = NodeFacts(engine="sglang", version=version)
    made = report(verdict(FAIL, match(FAIL, why=name), node=name, facts=facts))
    lines = list(nodes_lines(made))
    for line in lines:
        assert not any(unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} for c in line)
    head, row = lines[1], lines[2]
    assert columns(row) <= columns(head) + len("52 d")
    assert row.startswith("  FAIL     ")


def test_a_report_is_read_back_as_it_was_written() -> None:
    made = report(verdict(FAIL, match(FAIL)), unreached(), gateways=(gateway("b"),))
    assert NodesReport.model_validate_json(made.model_dump_json()) == made
