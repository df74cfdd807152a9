"""The daemon reads nodes: an unsafe one pages before anything was asked, a full one is spared."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.end_to_end.test_page_routes import last_was, pages, watched
from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.integration.daemons import Daemon, daemon, eager, idle
from tests.integration.node_labs import NodeLab, node_labs, nodes_only
from tests.integration.processes import ROOT, Installation, fault, install, wait_until
from tests.integration.test_nodes import A01, only_read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEEN_SECONDS = 90.0
RULES = ROOT / "alerts/rules/nodes.rules.yml"
READINGS = {"interval": "1s"}
QUIET_READINGS = 5
LARGE = ("--context", "16384")
PROMPT_TOKENS = 15_000
SLOW_TRANSFER = ("--set", "lab.transfer_turns=60", "--set", "lab.turn_seconds=0.05")
IN_FLIGHT = "sglang:num_prefill_inflight_queue_reqs{"


@pytest.fixture
def pager() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


def with_nodes(installation: Installation, lab: NodeLab) -> Installation:
    """List the nodes of a lab with the only target, and read them each second."""
    installation.settings["nodes"] = READINGS
    installation.settings["targets"][0]["nodes"] = lab.nodes
    return installation.write()


def question(lab: NodeLab, words: int, most: int = 4) -> dict[str, object]:
    """Return what a request of the first tenant with so many words is made of."""
    key = next(iter(lab.endpoint.keys.values()))
    content = " cat" * words + ".\n\nCount from 1 to 200 in digits."
    body = {"model": lab.endpoint.model, "max_tokens": most, "stream": most > 4}
    return {
        "url": f"{lab.endpoint.url}/chat/completions",
        "headers": {"Authorization": f"Bearer {key}"},
        "json": body | {"messages": [{"role": "user", "content": content}]},
        "timeout": SEEN_SECONDS,
    }


def ask(lab: NodeLab, words: int) -> int:
    """Send a prompt as a user would, and return the status."""
    return httpx.post(**question(lab, words), trust_env=False).status_code


def hang_up(lab: NodeLab) -> None:
    """Send a prompt and leave while its pages are on their way to decode."""
    with httpx.stream("POST", **question(lab, 100, most=100), trust_env=False):
        wait_until(lambda: on_their_way(lab), SEEN_SECONDS, "a prompt whose pages are under way")


def on_their_way(lab: NodeLab) -> bool:
    """Return whether a prompt has been read by prefill and has not come to decode."""
    prefill, _ = lab.nodes
    page = httpx.get(f"{prefill['url']}/metrics", trust_env=False).text
    told = [line for line in page.splitlines() if line.startswith(IN_FLIGHT)]
    assert told
    return any(float(line.rpartition(" ")[2]) for line in told)


def signal_states(running: Daemon, target: str, kind: str) -> set[str]:
    """Return the states that a live signal of a target's nodes has now."""
    found = running.samples("davylamp_node_signal")
    labels = {"target": target, "kind": kind}
    return {each["state"] for each, value in found if labels.items() <= each.items() and value}


def failing(running: Daemon, target: str) -> set[str]:
    """Return the kinds of live signals that fail."""
    return {
        each["kind"]
        for each, value in running.samples("davylamp_node_signal")
        if each["target"] == target and each["state"] == "fail" and value
    }


def test_an_unsafe_node_pages_before_anything_was_asked(pager: Endpoint, tmp_path: Path) -> None:
    with node_labs({"lab": A01}) as labs:
        installation = with_nodes(idle(install(tmp_path, labs["lab"].endpoint)), labs["lab"])
        (tmp_path / "pagerduty.key").write_text(ROUTING_KEY, encoding="ascii")
        installation.settings["pages"] = {
            "pagerduty": {"routing_key_file": "pagerduty.key", "url": pager.url},
            "routes": {"UNSAFE_NODE": "direct"},
        }
        with daemon(installation.write()) as running:
            wait_until(pager.accepted, SEEN_SECONDS, "the page")
            unsafe = {"class": "UNSAFE_NODE", "severity": "critical", "route": "direct"}
            assert running.count("davylamp_findings_open", **unsafe) >= 1
            assert running.count("davylamp_node_conforms") == 0
            assert len(running.samples("davylamp_node_conforms")) == 2
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(40.0) == 0
        told = labs["lab"].stop()
    assert {each["payload"]["class"] for each in pager.accepted()} == {"UNSAFE_NODE"}
    assert told["requests"] == 0
    only_read(told)
    rows = installation.contents()["node_snapshots"]
    assert rows
    assert "Traceback" not in running.log.read_text("utf-8")


def test_an_unsafe_node_and_what_it_does_are_pages_of_alertmanager(
    pager: Endpoint, tmp_path: Path
) -> None:
    with node_labs({"lab": [*A01, *LARGE]}) as labs:
        lab = labs["lab"]
        installation = with_nodes(idle(install(tmp_path / "davylamp", lab.endpoint)), lab)
        with watched(installation, pager, tmp_path, RULES) as running:
            wait_until(lambda: last_was("trigger", pager, "UNSAFE_NODE"), SEEN_SECONDS, "a page")
            assert {alert for alert, *_ in pages(pager).values()} == {"DavylampFinding"}
            after_quiet_readings(running)
            assert [ask(lab, PROMPT_TOKENS) for _ in range(3)] == [200] * 3
            wait_until(
                lambda: "DavylampPromptTokensDiverge" in {a for a, *_ in pages(pager).values()},
                SEEN_SECONDS,
                "a page that prompts reach decode which prefill did not read",
            )
        told = lab.stop()
    assert told["requests"] == 3
    only_read(told)


def after_quiet_readings(running: Daemon) -> None:
    """Wait until nodes were read a few times more."""
    seen: set[float] = set()

    def read() -> bool:
        seen.update(value for _, value in running.samples("davylamp_nodes_read_timestamp_seconds"))
        return len(seen) > QUIET_READINGS

    wait_until(read, SEEN_SECONDS, "readings")


def test_what_only_successive_readings_show_and_that_well_nodes_show_nothing(
    tmp_path: Path,
) -> None:
    twice = fault("page_freed_twice", rate=1.0, pages=32)
    arguments = {
        "well": ["--mode", "pd", *LARGE],
        "diverging": [*A01, *LARGE],
        "overfull": ["--mode", "pd", *LARGE, *twice, "--set", "lab.decode_share=1.0"],
        "left": ["--mode", "pd", *LARGE, *SLOW_TRANSFER],
        "restarting": ["--mode", "pd", *LARGE, *fault("node_restarts", rate=1.0)],
    }
    with node_labs(arguments) as labs:
        nodes = {name: lab.nodes for name, lab in labs.items()}
        installation = nodes_only(tmp_path, nodes, nodes=READINGS)
        with daemon(installation) as running:
            after_quiet_readings(running)
            for lab in labs.values():
                assert [ask(lab, PROMPT_TOKENS) for _ in range(3)] == [200] * 3
            for _ in range(5):
                hang_up(labs["left"])
            for target, kind, state in (
                ("diverging", "prompt_tokens_diverge", "fail"),
                ("overfull", "pool_overfull", "fail"),
                ("well", "prompt_tokens_diverge", "pass"),
                ("well", "pool_overfull", "pass"),
            ):
                wait_until(
                    lambda target=target, kind=kind, state=state: (
                        state in signal_states(running, target, kind)
                    ),
                    SEEN_SECONDS,
                    f"{target} {kind} {state}",
                )
            failed = {"target": "left", "kind": "transfer_failed"}
            wait_until(
                lambda: running.count("davylamp_node_events_total", **failed) > 0,
                SEEN_SECONDS,
                "a transfer that failed because its client had left",
            )
            found = {target: failing(running, target) for target in labs}
        for lab in labs.values():
            only_read(lab.stop())
    assert found == {
        "well": set(),
        "diverging": {"prompt_tokens_diverge"},
        "overfull": {"pool_overfull"},
        "left": set(),
        "restarting": set(),
    }


def test_probing_leaves_a_full_pool_alone_until_there_is_room(tmp_path: Path) -> None:
    # What a user holds of the pool is too much for probes, and leaves room for those under way.
    sizes = ["--set", "lab.prefill_share=1.0", "--set", "lab.turn_seconds=1"]
    with node_labs({"lab": [*LARGE, *sizes]}) as labs, contextlib.ExitStack() as user:
        lab = labs["lab"]
        golden = [{"name": "golden", "interval": "1s"}]
        installation = with_nodes(eager(install(tmp_path, lab.endpoint, probes=golden)), lab)
        with daemon(installation) as running:
            after_quiet_readings(running)
            user.enter_context(
                httpx.stream("POST", **question(lab, 14_000, most=600), trust_env=False)
            )
            wait_until(
                lambda: running.count("davylamp_schedule_skipped_runs_total", reason="pressure"),
                SEEN_SECONDS,
                "runs that are left out",
            )
            wait_until(
                lambda: 0.8 <= running.count("davylamp_target_pressure_ratio") < 0.95,
                SEEN_SECONDS,
                "a pool that holds what the user asked and has room for what is under way",
            )
            user.close()
            wait_until(
                lambda: running.count("davylamp_target_pressure_ratio") < 0.8,
                SEEN_SECONDS,
                "room",
            )
