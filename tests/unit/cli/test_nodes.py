"""``davylamp nodes`` against small servers: exits, what is shown, and what must never be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitor.cli.main import main
from monitor.configured import read_config
from monitor.daemon.token import api_token
from monitor.nodes.record import Conformity
from monitor.reports.nodes import NodesReport
from monitor.store.lock import StoreLock
from tests.fakes.node_pages import PLANTED, Page, Pages, document, exposition, litellm, vllm
from tests.fakes.node_servers import NodeServer, serving
from tests.unit.nodes.readers.shapes import info, listing, sglang_metrics
from tests.unit.reports.nodes import report, verdict

TOKEN = "node-token-PLANTED"  # noqa: S105 - a made-up one
HEAD = "version: 1\nenvironment: test\nstorage: {path: ./data}\ntargets:\n  - name: glm\n"


def sglang(**options: Any) -> Pages:
    """Return the pages of an SGLang node whose pool holds its context, unless told otherwise."""
    said = info(**{"pool": 98_304, "context": 98_304, **options}, launch_command=PLANTED)
    role = str(said["disaggregation_mode"])
    role = role if role in {"prefill", "decode"} else "unified"
    return {
        "GET /server_info": document(said),
        "GET /v1/models": document(listing()),
        "GET /metrics": exposition(sglang_metrics(engine_type=role).splitlines()),
    }


ASKED = """\
    engine: openai
    base_url: http://a/v1
    model: m
    tenants: [{name: a}]
"""
MISSPELT = "{rule: sglang-pd-over-lenght, owner: a, reason: b, expires: 2027-01-31}"
UNSAFE = {"version": "0.5.18", "disaggregation_mode": "prefill", "pool": 40_960}


def _written(folder: Path, text: str) -> str:
    file = folder / "davylamp.yaml"
    file.write_text(HEAD + text, "utf-8")
    return str(file)


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, NodesReport, str]:
    code = main(["nodes", *arguments, "--json", "-"])
    said = capsys.readouterr()
    return code, NodesReport.model_validate_json(said.out), said.err


def test_a_node_of_an_unsafe_version_in_prefill_and_decode_mode_fails_without_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(NodeServer(sglang(**UNSAFE))) as [url]:
        assert main(["nodes", "--node", url]) == 1
        said = capsys.readouterr().out
    assert "FAIL     127.0.0.1:" in said
    assert "sglang  0.5.18   prefill      98,304    40,954" in said
    assert "public since 2026-07-06" in said
    assert said.splitlines()[-1] == "1 fails: BAD (exit 1)"
    assert PLANTED not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("open_pages", [(), ("GET /metrics",)])
def test_a_refused_token_is_the_first_thing_that_is_said(
    open_pages: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    refused = {name: replace(page, status=401) for name, page in sglang().items()}
    pages = {**refused, **{name: sglang()[name] for name in open_pages}}
    with serving(NodeServer(pages, token=None if open_pages else TOKEN)) as [url]:
        assert main(["nodes", "--node", url]) == 3
        said = capsys.readouterr().out.splitlines()
    # A long line is wrapped to the terminal: what is said first goes on in the next line.
    row, why = said[2], " ".join(" ".join(line for line in said[3:] if line).split())
    assert ("unified" in row) == bool(open_pages)
    first = "UNKNOWN its token is refused, or it wants one (HTTP 401): set token_env or token_file"
    assert why.startswith(first)
    assert "--token-env" in why[: len(first) + 60]


def test_a_pool_bound_single_node_that_refuses_warns_and_exits_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(NodeServer(sglang(pool=40_960))) as [url]:
        code, said, _ = _said(capsys, "--node", url)
    [node] = said.nodes
    assert node.pool_bound
    assert node.conformity is not Conformity.FAIL
    assert code == (3 if node.conformity is Conformity.UNKNOWN else 0)
    assert "WARN" in {rule.conformity.name for rule in node.rules}


def test_a_node_that_is_not_reached_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(NodeServer({})) as [url]:
        pass
    code, said, _ = _said(capsys, "--node", url)
    assert code == 3
    assert said.nodes[0].reason == "the connection was refused"


def test_a_page_of_another_kind_of_server_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(NodeServer({"GET /metrics": Page(body=b"<html>")})) as [url]:
        code, said, _ = _said(capsys, "--node", url)
    assert (code, said.nodes[0].conformity) == (3, Conformity.UNKNOWN)


def test_roles_and_engines_are_given_once_or_once_for_each_node(
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = ["--engine", "sglang", "--role", "prefill", "--role", "decode"]
    with serving(NodeServer(sglang()), NodeServer(sglang())) as [one, two]:
        _, said, _ = _said(capsys, "--node", one, "--node", two, *named)
    assert [node.role for node in said.nodes] == ["prefill", "decode"]
    assert {node.engine for node in said.nodes} == {"sglang"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--node", "ftp://a"], "--node: nodes[0].url:"),
        (["--node", "a:1", "--node", "http://a:1/v1"], "two nodes named 'a:1' (give one --node"),
        (["--node", "a:1", "--engine", "sglng"], "unknown node engine 'sglng' (did you mean"),
        (["--node", "a:1", "--role", "prefil"], "unknown value 'prefil' (use one of: unified"),
        (
            ["--node", "a:1", "--node", "b:1", "--node", "c:1", *["--role", "decode"] * 2],
            "2 times --role for 3 nodes (give one, or one for each)",
        ),
        (["--node", "a:1", "--target", "glm"], "--target is of a configuration"),
        (["--role", "prefill"], "are of nodes named with --node"),
        (["--node", "a:1", "--token-env", "NO_SUCH"], "environment variable NO_SUCH is not set"),
        (["--config", "/no/such.yaml"], "cannot be read: no such file (name nodes with --node URL"),
        (["--config", "/no/such.yaml", "--node", "a:1"], "--config has no part in"),
    ],
)
def test_a_command_line_that_cannot_be_meant_exits_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nodes", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (
            ASKED,
            [],
            "no nodes are configured (add some, or name them with --node URL)",
        ),
        (
            "    nodes: [{url: 'http://a:1'}]\n",
            ["--target", "qwen"],
            "no nodes of a target 'qwen' (use one of: glm)",
        ),
        (
            f"    nodes: [{{url: 'http://a:1', accepted: [{MISSPELT}]}}]\n",
            [],
            "no rule 'sglang-pd-over-lenght' (did you mean 'sglang-pd-over-length'?)",
        ),
    ],
)
def test_an_empty_or_wrong_selection_exits_2(
    text: str,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["nodes", "--config", _written(tmp_path, text), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_target_may_be_there_for_its_nodes_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_TOKEN", TOKEN)
    with serving(NodeServer(sglang(**UNSAFE), token=TOKEN)) as [url]:
        file = _written(tmp_path, f"    nodes: [{{url: '{url}', token_env: NODE_TOKEN}}]\n")
        code, said, err = _said(capsys, "--config", file)
    assert (code, said.environment, said.nodes[0].version) == (1, "test", "0.5.18")
    shown = said.model_dump_json() + err
    assert TOKEN not in shown
    assert PLANTED not in shown
    assert not (tmp_path / "data").exists()


def test_an_accepted_rule_counts_for_nothing_and_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted = "{owner: a, reason: b, expires: 2127-01-31}"
    with serving(NodeServer(sglang(**UNSAFE))) as [url]:
        _, before, _ = _said(capsys, "--node", url)
        failing = [each.rule for each in before.nodes[0].rules if each.conformity == "fail"]
        listed = ", ".join(f"{accepted[:-1]}, rule: {rule}}}" for rule in failing)
        file = _written(tmp_path, f"    nodes: [{{url: '{url}', accepted: [{listed}]}}]\n")
        _, after, _ = _said(capsys, "--config", file)
    assert failing
    assert after.nodes[0].conformity is not Conformity.FAIL
    shown = {each.rule for each in after.nodes[0].rules if each.accepted_until}
    assert shown == set(failing)


def test_a_fleet_is_found_in_a_file_and_read_only_where_addresses_allow_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "    node_sources: [{file_sd: ./nodes.json, engine: vllm}]\n"
    with serving(NodeServer(vllm()), NodeServer(vllm())) as urls:
        targets = [url.removeprefix("http://") for url in urls]
        groups = [{"targets": targets, "labels": {"password": PLANTED}}]
        (tmp_path / "nodes.json").write_text(json.dumps(groups), "utf-8")
        file = _written(tmp_path, source + "nodes: {addresses: [127.0.0.0/8]}\n")
        _, said, _ = _said(capsys, "--config", file)
        assert [node.reached for node in said.nodes] == [True, True]
        file = _written(tmp_path, source + "nodes: {addresses: [10.0.0.0/8]}\n")
        code, said, _ = _said(capsys, "--config", file)
    assert code == 3
    assert {node.reason for node in said.nodes} == {
        "its address is not among those that may be read"
    }
    assert PLANTED not in said.model_dump_json()


def test_what_a_gateway_serves_and_nobody_asks_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(NodeServer(litellm("lamp", "other", "old"))) as [url]:
        file = _written(
            tmp_path, f"    gateway: {{engine: litellm, url: '{url}', unprobed: [old]}}\n"
        )
        code, said, _ = _said(capsys, "--config", file)
        assert main(["nodes", "--config", file]) == 0
    assert (code, said.gateways[0].unprobed) == (0, ["lamp", "other"])
    assert "UNPROBED  the gateway serves other, and no target asks it" in capsys.readouterr().out
    assert PLANTED not in said.model_dump_json()


def test_a_gateway_that_states_more_than_a_node_admits_is_held_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway, node = NodeServer(litellm("lamp", most=500_000)), NodeServer(sglang())
    with serving(gateway, node) as [front, back]:
        text = f"    nodes: [{{url: '{back}'}}]\n"
        _, alone, _ = _said(capsys, "--config", _written(tmp_path, text))
        text += f"    gateway: {{engine: litellm, url: '{front}'}}\n"
        _, both, _ = _said(capsys, "--config", _written(tmp_path, text))
    names = [{rule.rule for rule in each.nodes[0].rules} for each in (alone, both)]
    assert any("gateway" in rule for rule in names[1] - names[0])


def test_strict_holds_nodes_to_what_their_vendor_advises(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = {"version": "0.5.21", "disaggregation_mode": "prefill"}
    with serving(NodeServer(sglang(**said))) as [url]:
        _, lenient, _ = _said(capsys, "--node", url)
        code, strict, _ = _said(capsys, "--node", url, "--strict")
    assert lenient.nodes[0].conformity is not Conformity.FAIL
    assert (code, strict.strict, strict.nodes[0].conformity) == (1, True, Conformity.FAIL)


@contextmanager
def _daemon(folder: Path, file: str, answer: Page) -> Iterator[NodeServer]:
    """Own the store of a configuration as a daemon does, and give this answer about nodes."""
    config = read_config(file)
    config.storage_path.mkdir(exist_ok=True)
    server = NodeServer({"GET /api/nodes": answer}, token=api_token(config))
    lock = StoreLock.take(config.storage_path)
    try:
        with serving(server) as [url]:
            lock.announce(url)
            yield server
    finally:
        lock.release()


def test_beside_a_daemon_it_says_what_that_read_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _written(tmp_path, "    nodes: [{url: 'http://127.0.0.1:9', token_env: NOT_SET}]\n")
    told = report(verdict(Conformity.FAIL)).model_copy(
        update={"configuration_hash": read_config(file).hash, "read_by": "daemon"}
    )
    with _daemon(tmp_path, file, Page(body=told.model_dump_json().encode())):
        code, said, err = _said(capsys, "--config", file)
    assert (code, said.read_by, err) == (1, "daemon", "")
    assert said.nodes == told.nodes


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (document({"error": "no node was read yet"}), "no node was read yet"),
        (document({"nodes": []}), "it is of another version"),
        (Page(body=b"", status=404), "gave no answer that can be read"),
        (Page(body=report().model_dump_json().encode()), "the daemon runs configuration"),
    ],
)
def test_where_a_daemon_cannot_say_the_nodes_are_read_by_the_command(
    answer: Page, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(NodeServer(sglang(**UNSAFE))) as [url]:
        file = _written(tmp_path, f"    nodes: [{{url: '{url}'}}]\n")
        with _daemon(tmp_path, file, answer):
            code, said, err = _said(capsys, "--config", file)
    assert (code, said.read_by) == (1, "command")
    assert words in err
    assert "the nodes are read by this command" in err


def test_strict_is_not_asked_of_a_daemon_that_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(NodeServer(sglang())) as [url]:
        file = _written(tmp_path, f"    nodes: [{{url: '{url}'}}]\n")
        with _daemon(tmp_path, file, document({})) as server:
            _, said, _ = _said(capsys, "--config", file, "--strict")
    assert (said.strict, said.read_by, sum(server.asked.values())) == (True, "command", 0)


@pytest.mark.parametrize("arguments", [["plan"], ["plan", "glm"], ["calibrate", "glm"]])
def test_a_verb_that_asks_says_that_a_target_is_read_for_its_nodes_only(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _written(tmp_path, "    nodes: [{url: 'http://127.0.0.1:9'}]\n")
    assert main([*arguments, "--config", file]) == 2
    assert "every target is read for its nodes only" in capsys.readouterr().err
