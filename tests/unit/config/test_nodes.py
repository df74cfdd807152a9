"""Nodes, where they are found, and what lists models: read from the file, and shown again."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from monitor.config import NodeTarget, Target
from monitor.config.nodes import host_and_port
from monitor.config.proofs import config_warnings, impossible_proofs, node_warnings
from monitor.config.show import render_effective
from tests.unit.config.known import GOOD, load_text

TODAY = date(2026, 11, 1)
FOUND = """\
    node_sources:
      - {dns: "prefill.svc:30000", role: prefill, token_env: NODE_TOKEN}
      - {file_sd: "./nodes/*.json", scheme: https, engine: vllm}
"""
GATEWAY = "    gateway: {engine: litellm, url: 'http://127.0.0.1:4000', unprobed: [old-model]}\n"
READING = """\
nodes:
  interval: 1m
  strict: true
  addresses: [10.0.0.0/8, "fd00::/8", 192.0.2.1]
  rules_max_age: 60d
"""
NODES_ONLY = """\
version: 1
targets:
  - name: glm-prod
    nodes: [{url: "http://n:30000"}, {name: decode-0, url: "http://m:30000", role: decode}]
"""
ACCEPTED = "accepted: [{rule: some-rule, owner: a-team, reason: known, expires: 2026-10-31}]"


@pytest.mark.parametrize("text", [GOOD + FOUND + GATEWAY + READING, NODES_ONLY])
def test_what_is_shown_of_nodes_loads_to_the_same(tmp_path: Path, text: str) -> None:
    config = load_text(tmp_path, text)
    assert load_text(tmp_path, render_effective(config)).hash == config.hash


def test_how_nodes_are_read_is_in_seconds_and_ranges(tmp_path: Path) -> None:
    nodes = load_text(tmp_path, GOOD + FOUND + READING).nodes
    assert (nodes.interval_seconds, nodes.rules_max_age_seconds) == (60.0, 60 * 86_400.0)
    assert nodes.addresses == ("10.0.0.0/8", "fd00::/8", "192.0.2.1/32")


def test_a_target_with_nodes_alone_is_read_and_never_asked(tmp_path: Path) -> None:
    config = load_text(tmp_path, NODES_ONLY)
    assert config.targets == ()
    [served] = config.served
    assert isinstance(served, NodeTarget)
    assert [node.name for node in served.nodes] == ["n:30000", "decode-0"]
    assert [node.role for node in served.nodes] == [None, "decode"]


def test_a_target_that_is_asked_keeps_its_place_beside_one_that_is_not(tmp_path: Path) -> None:
    only_read = '  - {name: only-read, nodes: [{url: "http://n:1"}]}\n'
    config = load_text(tmp_path, GOOD.replace("targets:\n", f"targets:\n{only_read}") + GATEWAY)
    [asked] = config.targets
    assert isinstance(asked, Target)
    assert asked.place_of("model").path == "targets[1].model"
    assert [each.name for each in config.served] == ["only-read", "glm-prod"]


def test_a_target_without_nodes_is_not_among_those_whose_nodes_are_read(tmp_path: Path) -> None:
    assert load_text(tmp_path, GOOD).served == ()


def test_found_nodes_count_as_nodes(tmp_path: Path) -> None:
    [target] = load_text(tmp_path, GOOD + FOUND + READING).targets
    assert not any("no nodes are listed" in proof for proof in impossible_proofs(target))


def test_an_expired_acceptance_is_warned_of(tmp_path: Path) -> None:
    text = GOOD + f'    nodes: [{{url: "http://n:1", {ACCEPTED}}}]\n'
    [target] = load_text(tmp_path, text).targets
    [warning] = config_warnings(target, TODAY)
    assert warning == (
        "the accepted rule some-rule expired on 2026-10-31 (owner a-team): it alerts again; "
        "renew or remove it"
    )
    assert node_warnings(target, date(2026, 10, 31)) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodes: [{url: 'http://n:1', token_env: NODE_TOKEN}]", "the token of node n:1 travels"),
        ("gateway: {engine: openai, url: 'http://g:1', token_env: G}", "the token of the gateway"),
        (
            "node_sources: [{dns: 'n.svc:1', token_env: T}]\nnodes: {addresses: [10.0.0.0/8]}",
            "the token of nodes found by n.svc:1",
        ),
    ],
)
def test_a_token_in_clear_is_warned_of(tmp_path: Path, text: str, words: str) -> None:
    [target] = load_text(tmp_path, GOOD + f"    {text}\n").targets
    [warning] = node_warnings(target, TODAY)
    assert words in warning


def test_the_folder_of_rules_is_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    config = load_text(tmp_path, NODES_ONLY + "nodes: {rules: ./ours}\n")
    assert config.rules_path == tmp_path / "ours"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://n", "n:80"),
        ("https://n/v1", "n:443"),
        ("http://10.0.0.1:30000", "10.0.0.1:30000"),
        ("http://[fd00::1]:30000", "[fd00::1]:30000"),
    ],
)
def test_a_node_without_a_name_goes_by_host_and_port(url: str, name: str) -> None:
    assert host_and_port(url) == name
