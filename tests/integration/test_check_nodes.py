"""``check`` with nodes: what rules say of them counts, and the probes they name are asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.integration.daemons import daemon
from tests.integration.node_labs import NodeLab, node_labs, nodes_only
from tests.integration.processes import fault, install, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.processes import Installation

SECONDS = 60.0
ACCEPTED = {"owner": "serving-team", "reason": "to be upgraded", "expires": "2127-01-31"}


@pytest.fixture(scope="module")
def unsafe() -> Iterator[NodeLab]:
    """The incident's cluster: prefill holds less than decode, at a version known to be unsafe."""
    with node_labs({"unsafe": fault("overlength_placeholder")}) as labs:
        yield labs["unsafe"]


@pytest.fixture(scope="module")
def sound() -> Iterator[NodeLab]:
    """One node of the vendor's recommended version, whose pool holds its context."""
    with node_labs({"sound": ["--set", "lab.version=0.5.22"]}) as labs:
        yield labs["sound"]


def _installed(folder: Path, lab: NodeLab, *probes: str, **more: object) -> Installation:
    entries = [{"name": name} for name in probes]
    return install(folder, lab.endpoint, nodes=lab.nodes, probes=entries, **more)


def test_an_unsafe_node_makes_check_bad_and_its_probe_is_asked(
    tmp_path: Path, unsafe: NodeLab
) -> None:
    run = _installed(tmp_path, unsafe, "golden").check()
    assert run.exit_code == run.target.exit_code == 1, run.output
    assert {node.node: node.verdict_class for node in run.report.nodes} == {
        "prefill": "UNSAFE_NODE",
        "decode": "UNSAFE_NODE",
    }
    assert {node.outcome for node in run.report.nodes} == {"bad"}
    assert all(node.public_days is not None and node.public_days > 52 for node in run.report.nodes)
    asked = {trial.probe for trial in run.target.trials} | {
        gap.probe for gap in run.target.not_probed
    }
    assert "boundary" in asked
    assert any("names the probe boundary: it is asked, too" in note for note in run.target.notes)
    # The same finding that a daemon opens, one a node.
    found = {finding.verdict_class for finding in run.target.open_findings}
    assert "UNSAFE_NODE" in found


def test_a_probe_that_a_rule_names_is_never_sent_beyond_the_budget(
    tmp_path: Path, unsafe: NodeLab
) -> None:
    installation = _installed(tmp_path, unsafe, "golden", boundary_budget={"tokens": 100})
    run = installation.check()
    gaps = [gap for gap in run.target.not_probed if gap.probe == "boundary"]
    assert gaps, run.output
    assert {gap.code for gap in gaps} == {"budget"}
    assert all(gap.answered_tokens for gap in gaps)
    assert not any(trial.probe == "boundary" for trial in run.target.trials)


def test_only_what_is_named_is_asked_where_probes_are_named(
    tmp_path: Path, unsafe: NodeLab
) -> None:
    run = _installed(tmp_path, unsafe, "golden").check("--probe", "golden")
    assert run.exit_code == 1
    assert {trial.probe for trial in run.target.trials} == {"golden"}
    assert any("it is left out because of --probe" in note for note in run.target.notes)


def test_a_probe_that_is_disabled_stays_so(tmp_path: Path, unsafe: NodeLab) -> None:
    entries = [{"name": "golden"}, {"name": "boundary", "disabled": True}]
    run = install(tmp_path, unsafe.endpoint, nodes=unsafe.nodes, probes=entries).check()
    assert not any(trial.probe == "boundary" for trial in run.target.trials)
    assert any("left out because its entry is disabled" in note for note in run.target.notes)


def test_sound_nodes_leave_a_good_check_good(tmp_path: Path, sound: NodeLab) -> None:
    run = _installed(tmp_path, sound, "golden").check()
    assert run.report.nodes
    assert {node.outcome for node in run.report.nodes} == {"good"}, run.output
    assert run.exit_code == 0, run.output


def test_a_node_that_is_away_could_not_be_told(tmp_path: Path, sound: NodeLab) -> None:
    away = {"name": "away", "url": "http://127.0.0.1:9"}
    run = install(
        tmp_path, sound.endpoint, nodes=[*sound.nodes, away], probes=[{"name": "golden"}]
    ).check()
    assert run.exit_code == run.target.exit_code == 3, run.output
    assert run.target.verdict == "could not tell"
    [invalid] = [node for node in run.report.nodes if node.outcome == "invalid"]
    assert (invalid.node, invalid.reason) == ("away", "the connection was refused")


def test_a_target_with_nodes_alone_is_read_and_spends_nothing(
    tmp_path: Path, unsafe: NodeLab
) -> None:
    junit = tmp_path / "junit.xml"
    installation = nodes_only(tmp_path / "here", {"glm": unsafe.nodes})
    run = installation.check("--junit", str(junit))
    assert run.exit_code == 1, run.output
    assert run.report.targets == []
    assert [node.target for node in run.report.nodes] == ["glm", "glm"]
    [suite] = ET.parse(junit).getroot()
    assert (suite.get("name"), suite.get("failures")) == ("nodes", "2")
    shown = installation.davylamp("check")
    assert "glm  read for its nodes only" in shown.stdout
    assert "  UNSAFE_NODE " in shown.stdout
    for rule in ("pool-bound-unsafe", "decode-admits-more", "pages-reused"):
        assert f"(sglang-pd-{rule}" in shown.stdout or f"(sglang-{rule}" in shown.stdout
    found = [node.finding for node in run.report.nodes]
    assert all(f"finding {each}: UNSAFE_NODE in node" in shown.stdout for each in found)
    assert f"davylamp findings show {found[0]}" in shown.stdout
    assert shown.stdout.rstrip().endswith("BAD (exit 1)")
    assert installation.contents()["exchanges"] == []


def test_what_is_accepted_leaves_the_worst_of_what_is_not(tmp_path: Path, unsafe: NodeLab) -> None:
    before = nodes_only(tmp_path / "before", {"glm": unsafe.nodes}).davylamp("nodes", "--json", "-")
    failing = {
        rule["rule"]
        for node in json.loads(before.stdout)["nodes"]
        for rule in node["rules"]
        if rule["conformity"] == "fail"
    }
    accepted = [{"rule": rule, **ACCEPTED} for rule in sorted(failing)]
    nodes = [{**node, "accepted": accepted} for node in unsafe.nodes]
    run = nodes_only(tmp_path / "after", {"glm": nodes}).write().check()
    assert failing == {
        "sglang-decode-admits-more",
        "sglang-pd-over-length",
        "sglang-pd-pool-bound-unsafe",
    }
    left = ("good", "SUSPECT", "sglang-pd-pages-reused")
    assert {
        node.node: (node.outcome, node.verdict_class, node.rule) for node in run.report.nodes
    } == {
        "prefill": left,
        "decode": left,
    }
    assert run.exit_code == 0, run.output


def test_beside_a_daemon_both_verbs_say_what_that_read_last(
    tmp_path: Path, unsafe: NodeLab
) -> None:
    installation = nodes_only(tmp_path, {"glm": unsafe.nodes}, nodes={"interval": "1s"})
    with daemon(installation) as running:
        wait_until(
            lambda: running.samples("davylamp_node_conforms") != [], SECONDS, "nodes to be judged"
        )
        nodes = installation.davylamp("nodes", "--json", "-")
        checked = installation.check()
    told = json.loads(nodes.stdout)
    assert (nodes.exit_code, told["read_by"]) == (1, "daemon"), nodes.output
    assert {node["conformity"] for node in told["nodes"]} == {"fail"}
    assert told["signals"]
    assert checked.exit_code == 1, checked.output
    assert {node.verdict_class for node in checked.report.nodes} == {"UNSAFE_NODE"}
