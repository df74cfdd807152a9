"""A survey: nodes and gateways in the order of the file, and what a gateway promises a target."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.clock import SystemClock
from monitor.nodes.discovery import NodeFinder
from monitor.nodes.record import Conformity
from monitor.nodes.ruleset import load_rules
from monitor.nodes.survey import Survey, Surveyor
from tests.unit.config.known import GOOD, load_text
from tests.unit.nodes.readers.shapes import info, listing

ENGINES = ("sglang",)
GATEWAY = "gateway-advertises-more"


class Pages(httpx.AsyncBaseTransport):
    """Answers with a JSON page for each URL, and closes when it is told to."""

    def __init__(self, pages: Mapping[str, Any]) -> None:
        self._pages = pages
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        where = str(request.url)
        self.asked.append(where)
        if where not in self._pages:
            return httpx.Response(404)
        return httpx.Response(200, content=json.dumps(self._pages[where]).encode())


def _node(port: int, **options: Any) -> dict[str, Any]:
    root = f"http://127.0.0.1:{port}"
    return {
        f"{root}/server_info": info(**{"pool": 98_304, "context": 98_304, **options}),
        f"{root}/v1/models": listing(),
    }


def _map(size: object) -> dict[str, Any]:
    entry = {"model_name": "glm-5.3", "model_info": {"max_input_tokens": size}}
    other = {"model_name": "lamp", "model_info": {"max_input_tokens": 500_000}}
    return {"http://127.0.0.1:4000/model/info": {"data": [entry, other]}}


def _survey(folder: Path, text: str, pages: Mapping[str, Any]) -> Survey:
    config = load_text(folder, text)
    clock = SystemClock()
    finder = NodeFinder.of(config, config.served, clock=clock, engines=ENGINES)
    surveyor = Surveyor(
        finder,
        config.nodes,
        load_rules(),
        asked=[target.model for target in config.targets],
        clock=clock,
        inner=Pages(pages),
    )
    return asyncio.run(surveyor.survey())


def _rules(survey: Survey) -> set[str]:
    return {match.rule for verdict in survey.verdicts for match in verdict.matches}


NODE = "    nodes: [{url: 'http://127.0.0.1:1', engine: sglang}]\n"
FRONT = "    gateway: {engine: litellm, url: 'http://127.0.0.1:4000'}\n"


def test_what_is_known_is_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        "version: 1\ntargets:\n"
        "  - name: b\n    nodes: [{url: 'http://127.0.0.1:1'}]\n"
        "    node_sources: [{file_sd: none.json}]\n"
        "  - name: a\n    nodes: [{url: 'http://127.0.0.1:2'}]\n"
        "nodes: {addresses: [127.0.0.0/8]}\n"
    )
    survey = _survey(tmp_path, text, _node(1) | _node(2))
    assert [(each.snapshot.target, each.snapshot.node) for each in survey.verdicts] == [
        ("b", "127.0.0.1:1"),
        ("b", "file_sd none.json"),
        ("a", "127.0.0.1:2"),
    ]
    assert [each.snapshot.target for each in survey.of("a").verdicts] == ["a"]


def test_a_source_that_was_not_read_is_never_well(tmp_path: Path) -> None:
    text = (
        "version: 1\ntargets:\n  - name: b\n    node_sources: [{file_sd: none.json}]\n"
        "nodes: {addresses: [127.0.0.0/8]}\n"
    )
    [verdict] = _survey(tmp_path, text, {}).verdicts
    assert verdict.conformity is Conformity.UNKNOWN


@pytest.mark.parametrize(
    ("size", "more"), [(500_000, True), (98_304, False), (None, False), ("500000", False)]
)
def test_a_target_is_promised_what_the_gateway_says_of_its_own_model(
    size: object, more: bool, tmp_path: Path
) -> None:
    survey = _survey(tmp_path, GOOD + NODE + FRONT, _node(1) | _map(size))
    assert (GATEWAY in _rules(survey)) is more
    assert survey.gateways[0].unprobed == ("lamp",)


def test_a_target_that_is_never_asked_is_promised_what_is_said_of_what_its_nodes_serve(
    tmp_path: Path,
) -> None:
    text = f"version: 1\ntargets:\n  - name: fleet\n{NODE}{FRONT}"
    survey = _survey(tmp_path, text, _node(1) | _map(None))
    assert GATEWAY in _rules(survey)


def test_a_gateway_that_was_not_read_promises_nothing_and_says_so(tmp_path: Path) -> None:
    survey = _survey(tmp_path, GOOD + NODE + FRONT, _node(1))
    assert GATEWAY not in _rules(survey)
    assert [gap.why for gap in survey.gateways[0].gaps] == ["HTTP 404"]


@pytest.mark.parametrize(
    ("text", "size", "why"),
    [
        (GOOD, "500000", "the context it states for the target's model is no number of tokens"),
        (GOOD, None, None),
        (
            GOOD.replace("model: glm-5.3", "model: glm"),
            98_304,
            "the target's model is not among those it lists",
        ),
    ],
    ids=["no number", "states none", "not listed"],
)
def test_what_a_gateway_promises_and_does_not_tell_is_a_gap(
    text: str, size: object, why: str | None, tmp_path: Path
) -> None:
    [gateway] = _survey(tmp_path, text + NODE + FRONT, _node(1) | _map(size)).gateways
    assert [gap.why for gap in gateway.gaps] == ([why] if why else [])


def test_no_token_of_a_target_is_shown_as_a_model_of_its_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_TOKEN", "tok-node-secret-7781")
    node = NODE.replace("engine: sglang", "engine: sglang, token_env: NODE_TOKEN")
    listed = [{"model_name": "TOK_NODE_secret-7781-x"}, {"model_name": "glm-5.3"}]
    pages = {"http://127.0.0.1:4000/model/info": {"data": listed}}
    [gateway] = _survey(tmp_path, GOOD + node + FRONT, _node(1) | pages).gateways
    assert [model.name for model in gateway.models] == ["glm-5.3"]
    assert [gap.why for gap in gateway.gaps] == ["1 without a name that can be shown"]


def test_an_accepted_rule_is_accepted_of_this_node_only(tmp_path: Path) -> None:
    unsafe = {"version": "0.5.18", "disaggregation_mode": "prefill"}
    accepted = "{rule: sglang-pd-over-length, owner: a, reason: b, expires: 2127-01-31}"
    text = (
        "version: 1\ntargets:\n  - name: fleet\n    nodes:\n"
        f"      - {{url: 'http://127.0.0.1:1', accepted: [{accepted}]}}\n"
        "      - {url: 'http://127.0.0.1:2'}\n"
    )
    survey = _survey(tmp_path, text, _node(1, **unsafe) | _node(2, **unsafe))
    until = [
        match.accepted_until is not None
        for verdict in survey.verdicts
        for match in verdict.matches
        if match.rule == "sglang-pd-over-length"
    ]
    assert until == [True, False]
