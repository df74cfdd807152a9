"""What an Ollama node says of itself: what is loaded, and how much of its context."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from monitor.nodes.reading import NodeAddress
from monitor.nodes.record import NodeSnapshot
from tests.unit.nodes.readers.serving import URL, Node, gaps_of, read_with, why


class _Ollama(Node):
    """A node that describes the models it is asked about."""

    def __init__(self, loaded: dict[str, Any], made_for: dict[str, Any], **pages: Any) -> None:
        entries = [{"name": name, "context_length": size} for name, size in loaded.items()]
        held = [{"name": name, "model": name} for name in made_for]
        served: dict[str, Any] = {
            "/api/version": {"version": "0.32.5"},
            "/api/ps": {"models": entries},
            "/api/tags": {"models": held},
        }
        super().__init__(served | {f"/api/{name}": page for name, page in pages.items()})
        self._made_for = made_for

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path != "/api/show":
            return super().answer(request)
        self.asked.append(request)
        name = json.loads(request.content)["model"]
        said = {"general.architecture": "lampish", "lampish.context_length": self._made_for[name]}
        return httpx.Response(200, json={"model_info": said, "license": "of great length"})


def _read(node: Node) -> NodeSnapshot:
    return read_with(node, NodeAddress(node="a", target="t", url=URL))


def test_a_model_that_is_loaded_with_less_than_it_was_made_for() -> None:
    facts = _read(_Ollama({"lamp:7b": 4_096}, {"lamp:7b": 131_072})).facts
    assert (facts.engine, facts.version, facts.models) == ("ollama", "0.32.5", ("lamp:7b",))
    assert (facts.enforced_tokens, facts.advertised_tokens) == (4_096, 131_072)


def test_of_several_models_the_one_with_the_least_of_its_context_counts() -> None:
    loaded = {"a:1b": 8_192, "b:1b": 32_768, "c:1b": 16_384}
    facts = _read(_Ollama(loaded, {"a:1b": 8_192, "b:1b": 131_072, "c:1b": 32_768})).facts
    assert (facts.enforced_tokens, facts.advertised_tokens) == (32_768, 131_072)


def test_only_a_loaded_model_is_asked_about_and_only_by_its_name() -> None:
    node = _Ollama({"lamp:7b": 4_096}, {"lamp:7b": 131_072, "other:7b": 8_192})
    _read(node)
    posted = [request for request in node.asked if request.method == "POST"]
    assert [(each.url.path, json.loads(each.content)) for each in posted] == [
        ("/api/show", {"model": "lamp:7b"})
    ]


@pytest.mark.parametrize("made_for", [None, 0, "131072", -1, [], True])
def test_a_model_that_does_not_say_what_it_was_made_for_is_a_gap(made_for: object) -> None:
    snapshot = _read(_Ollama({"lamp:7b": 4_096}, {"lamp:7b": made_for}))
    assert snapshot.facts.advertised_tokens is None
    assert "advertised_tokens" in gaps_of(snapshot)


def test_one_model_that_does_not_say_it_leaves_no_clean_bill() -> None:
    """The one that says it is whole; the other may hold less."""
    snapshot = _read(_Ollama({"a:1b": 8_192, "b:1b": 4_096}, {"a:1b": 8_192, "b:1b": None}))
    assert (snapshot.facts.enforced_tokens, snapshot.facts.advertised_tokens) == (None, None)
    short = _read(_Ollama({"a:1b": 4_096, "b:1b": 4_096}, {"a:1b": 8_192, "b:1b": None}))
    assert (short.facts.enforced_tokens, short.facts.advertised_tokens) == (4_096, 8_192)
    assert "advertised_tokens" in gaps_of(short)


def test_a_node_with_nothing_loaded_says_so() -> None:
    assert why(_read(_Ollama({}, {"a:1b": 8_192})), "enforced_tokens") == "no model is loaded"


@pytest.mark.parametrize("page", [404, 500, "no json", [], {"models": "x"}, {"models": [3]}])
def test_a_page_of_what_is_loaded_that_cannot_be_read_is_a_gap(page: object) -> None:
    snapshot = _read(_Ollama({}, {"a:1b": 8_192}, ps=page))
    assert snapshot.facts.enforced_tokens is None
    assert why(snapshot, "enforced_tokens") != "no model is loaded"


def test_more_models_than_are_asked_about_are_a_gap() -> None:
    names = {f"m{index}:1b": 4_096 for index in range(9)}
    node = _Ollama(names, dict.fromkeys(names, 8_192))
    assert "more than 8" in why(_read(node), "enforced_tokens")
    assert all(request.method == "GET" for request in node.asked)
