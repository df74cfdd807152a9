"""``davylamp nodes`` against labs and against nodes of other engines: no token is spent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from monitor.reports.nodes import NodeReport, NodesReport
from tests.fakes.node_pages import PLANTED, litellm, llama_cpp, ollama, vllm
from tests.fakes.node_servers import NodeServer, serving
from tests.integration.node_labs import NodeLab, node_labs, nodes_only
from tests.integration.processes import davylamp, fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.integration.processes import Installation, Run

A01 = fault("overlength_placeholder")
SMALL_PREFILL = ["--set", "lab.prefill_share=0.65"]
LABS: dict[str, Sequence[str]] = {
    "a01": A01,
    "unequal": ["--mode", "pd", "--set", "lab.version=0.5.22", *SMALL_PREFILL],
    "equal": ["--mode", "pd", "--set", "lab.version=0.5.22"],
    "equal-and-small": [
        *("--mode", "pd", "--set", "lab.version=0.5.22", *SMALL_PREFILL),
        *("--set", "lab.decode_share=0.65"),
    ],
    "single": SMALL_PREFILL,
    "old-name": ["--set", "lab.version=0.5.5"],
    "development": ["--mode", "pd", "--set", "lab.version=0.0.0.dev1+g70df09b83"],
    "hanging": fault("node_hangs"),
    "half-hanging": [*A01, *fault("node_hangs", node="decode")],
    "bytes": fault("node_garbage", kind="bytes"),
    "cut": fault("node_garbage", kind="cut"),
    "page": fault("node_garbage", kind="page"),
    "locked": ["--set", "lab.node_auth=true"],
    "ranks": ["--mode", "pd", "--set", "lab.tp_size=4"],
}
READ = {
    *("/server_info", "/get_server_info", "/model_info", "/get_model_info", "/v1/models"),
    *("/v1/loads", "/metrics", "/health", "/version", "/props", "/api/version", "/api/ps"),
    *("/api/tags", "/get_load"),
}

# Ollama describes a model to a POST alone; it changes nothing.
DESCRIBES = "POST /api/show"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """All labs as one run of the command read them, and what they were asked for."""

    installation: Installation
    labs: dict[str, NodeLab]
    run: Run
    report: NodesReport

    def nodes(self, lab: str) -> dict[str, NodeReport]:
        return {node.node: node for node in self.report.nodes if node.target == lab}

    def states(self, lab: str) -> set[str]:
        return {node.conformity.value for node in self.nodes(lab).values()}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    with node_labs(LABS) as labs:
        nodes = {name: lab.nodes for name, lab in labs.items()}
        installation = nodes_only(tmp_path_factory.mktemp("nodes"), nodes)
        run = installation.davylamp("nodes", "--json", "-")
        assert run.stdout.startswith("{"), run.output
        report = NodesReport.model_validate_json(run.stdout)
        yield Read(installation=installation, labs=labs, run=run, report=report)


def exit_of(read: Read, *labs: str) -> int:
    selected = [part for lab in labs for part in ("--target", lab)]
    return read.installation.davylamp("nodes", *selected).exit_code


def test_the_incident_fails_before_any_probe_is_sent() -> None:
    with node_labs({"a01": A01}) as labs:
        run = davylamp("nodes", *labs["a01"].named, "--json", "-")
        told = labs["a01"].stop()
    report = NodesReport.model_validate(json.loads(run.stdout))
    assert (run.exit_code, report.exit_code) == (1, 1), run.output
    assert {node.conformity.value for node in report.nodes} == {"fail"}
    prefill, decode = sorted(report.nodes, key=lambda node: node.pool_tokens or 0)
    assert (prefill.role, decode.role) == ("prefill", "decode")
    assert (prefill.advertised_tokens, prefill.enforced_tokens) == (4096, 2650)
    assert prefill.pool_bound
    assert decode.pool_bound is False
    assert (prefill.public_days or 0) >= 147  # since 2026-07-06
    assert told["requests"] == 0
    assert "gateway" not in told["asked"]
    only_read(told)


def only_read(told: dict[str, Any]) -> None:
    """No port was asked for anything but pages that change nothing."""
    for port, asked in told["asked"].items():
        if port != "gateway":
            assert {what.split(" ")[0] for what in asked} == {"GET"}, asked
            assert {what.split(" ")[1] for what in asked} <= READ, asked


def test_a_decode_node_that_admits_more_fails_whatever_the_version(read: Read) -> None:
    assert {node.version for node in read.nodes("unequal").values()} == {"0.5.22"}
    assert read.states("unequal") == {"fail"}


def test_equal_pools_at_the_advised_version_do_not_fail(read: Read) -> None:
    for name in ("equal", "equal-and-small"):
        assert read.states(name) <= {"pass", "warn"}, name
    assert all(node.pool_bound for node in read.nodes("equal-and-small").values())
    assert not any(node.pool_bound for node in read.nodes("equal").values())


def test_a_single_node_bound_by_its_pool_is_a_warning(read: Read) -> None:
    (node,) = read.nodes("single").values()
    assert node.pool_bound
    assert node.conformity.value == "warn"
    assert exit_of(read, "single", "equal", "equal-and-small") == 0


def test_a_node_that_hangs_cannot_be_told(read: Read) -> None:
    (node,) = read.nodes("hanging").values()
    assert (node.reached, node.conformity.value) == (False, "unknown")
    assert exit_of(read, "hanging") == 3


def test_what_fails_is_told_although_its_peer_hangs(read: Read) -> None:
    states = {name: node.conformity.value for name, node in read.nodes("half-hanging").items()}
    assert states == {"prefill": "fail", "decode": "unknown"}


@pytest.mark.parametrize("kind", ["bytes", "cut", "page"])
def test_garbage_cannot_be_told(read: Read, kind: str) -> None:
    (node,) = read.nodes(kind).values()
    assert node.reached
    assert node.conformity.value == "unknown"
    assert (node.pool_tokens, node.version) == (None, None)


def test_a_build_that_is_no_release_is_not_judged_by_its_number(read: Read) -> None:
    assert read.states("development") == {"unknown"}


def test_older_names_and_more_ranks_are_the_same_facts(read: Read) -> None:
    (old,) = read.nodes("old-name").values()
    assert (old.version, old.pool_tokens, old.enforced_tokens) == ("0.5.5", 16_384, 4090)
    for node in read.nodes("ranks").values():
        assert node.pool_tokens == 16_384
        assert node.kv.free_tokens == 16_384


def test_a_node_shows_strangers_nothing_and_its_token_nobody(read: Read, tmp_path: Path) -> None:
    (locked,) = read.nodes("locked").values()
    assert locked.conformity.value == "unknown"
    lab = read.labs["locked"]
    (tmp_path / "node.key").write_text(lab.said["node_token"], encoding="ascii")
    nodes = [node | {"token_file": "node.key"} for node in lab.nodes]
    run = nodes_only(tmp_path, {"lab": nodes}).davylamp("nodes", "--json", "-")
    (node,) = NodesReport.model_validate_json(run.stdout).nodes
    assert node.conformity.value == "pass", run.output
    assert lab.said["node_token"] not in run.stdout + run.stderr


def test_no_lab_was_asked_for_anything_that_changes_it(read: Read) -> None:
    """The last of this module: it ends the labs."""
    for lab in read.labs.values():
        told = lab.stop()
        assert told["requests"] == 0
        only_read(told)


def test_nodes_of_other_engines_are_told_apart_and_give_no_secret_away(tmp_path: Path) -> None:
    servers = {
        "vllm": NodeServer(vllm()),
        "llama.cpp": NodeServer(llama_cpp()),
        "ollama": NodeServer(ollama()),
    }
    with serving(*servers.values()) as urls:
        targets = {
            name.replace(".", "-"): [{"url": url}] for name, url in zip(servers, urls, strict=True)
        }
        run = nodes_only(tmp_path, targets).davylamp("nodes", "--json", "-")
    report = NodesReport.model_validate_json(run.stdout)
    found = {node.engine: node for node in report.nodes}
    assert found.keys() == servers.keys(), run.output
    assert (found["vllm"].pool_tokens, found["vllm"].advertised_tokens) == (65_536, 4096)
    assert found["llama.cpp"].enforced_tokens == 2048
    assert (found["ollama"].enforced_tokens, found["ollama"].advertised_tokens) == (4096, 131_072)
    assert PLANTED not in run.stdout + run.stderr
    for server in servers.values():
        assert server.asked.keys() <= {f"GET {page}" for page in READ} | {DESCRIBES}


def test_a_gateways_models_that_nobody_probes_are_listed(tmp_path: Path) -> None:
    gateway, node = NodeServer(litellm("lamp", "stray", "known")), NodeServer(vllm())
    with serving(gateway, node) as (gateway_url, node_url):
        installation = nodes_only(tmp_path, {"front": [{"url": node_url}]})
        installation.settings["targets"][0]["gateway"] = {
            "engine": "litellm",
            "url": gateway_url,
            "unprobed": ["known"],
        }
        run = installation.write().davylamp("nodes", "--json", "-")
    (told,) = NodesReport.model_validate_json(run.stdout).gateways
    assert told.unprobed == ["lamp", "stray"], run.output
    assert PLANTED not in run.stdout + run.stderr
    assert {what.split(" ")[0] for what in gateway.asked} == {"GET"}
