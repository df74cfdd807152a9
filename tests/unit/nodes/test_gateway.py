"""What a gateway serves is read as it comes: null, wrong kinds, and never what may be secret."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import SystemClock
from monitor.config.nodes import Gateway
from monitor.nodes.credentials import Credentials
from monitor.nodes.gateway import (
    MAX_MODELS,
    GatewayModel,
    GatewayReading,
    held_to,
    read_gateway,
)

PLANTED = "sk-live-PLANTED0123456789abcdef"
TOKEN = "gateway-token"  # noqa: S105 - a made-up one


def _gateway(engine: str = "litellm", **more: Any) -> Gateway:
    return Gateway.model_validate({"engine": engine, "url": "http://gateway:4000/v1", **more})


def _read(
    answer: Callable[[httpx.Request], httpx.Response],
    gateway: Gateway | None = None,
    asked: tuple[str, ...] = (),
) -> GatewayReading:
    return asyncio.run(
        read_gateway(
            "glm",
            gateway or _gateway(),
            asked=asked,
            credential=TOKEN,
            clock=SystemClock(),
            timeout_seconds=5.0,
            transport=httpx.MockTransport(answer),
        )
    )


def _said(value: object, gateway: Gateway | None = None, asked: tuple[str, ...] = ()) -> Any:
    body = json.dumps(value).encode()
    return _read(lambda _: httpx.Response(200, content=body), gateway, asked)


def _deployment(name: object, **info: object) -> dict[str, object]:
    params = {"model": "openai/x", "api_key": PLANTED, "api_base": f"http://u:{PLANTED}@h"}
    return {"model_name": name, "litellm_params": params, "model_info": info}


@pytest.mark.parametrize(("engine", "path"), [("litellm", "/model/info"), ("openai", "/v1/models")])
def test_it_is_asked_once_with_its_own_token(engine: str, path: str) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"data": []})

    _read(answer, _gateway(engine))
    [request] = seen
    assert (request.method, request.url.path) == ("GET", path)
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_the_context_of_a_model_is_the_largest_prompt_of_its_deployments() -> None:
    reading = _said(
        {
            "data": [
                _deployment("glm", max_input_tokens=200_000),
                _deployment("glm", max_input_tokens=262_144),
                _deployment("qwen", max_input_tokens=None, max_tokens=8_192),
            ]
        }
    )
    assert reading.models == (
        GatewayModel(name="glm", context_tokens=262_144),
        GatewayModel(name="qwen", context_tokens=None),
    )
    assert reading.context_of({"glm", "qwen"}) == 262_144
    assert reading.context_of({"qwen"}) is None
    assert reading.gaps == ()


BAD_SIZES = ["262144", "2M", True, -1, 0, 1.5, float("nan"), 2e18, 10**30, [262_144], {}]


@pytest.mark.parametrize("info", [{}, {"max_input_tokens": None}, {"max_tokens": 8_192}])
def test_a_size_that_is_missing_says_nothing(info: dict[str, object]) -> None:
    reading = _said({"data": [_deployment("glm", **info)]})
    assert reading.models == (GatewayModel(name="glm"),)
    assert held_to(reading, {"glm"}).gaps == ()


@pytest.mark.parametrize("size", BAD_SIZES)
@pytest.mark.parametrize("others", [(), (262_144,)], ids=["alone", "beside one that is told"])
def test_a_size_that_is_no_number_of_tokens_may_be_any(
    size: object, others: tuple[int, ...]
) -> None:
    deployments = [_deployment("glm", max_input_tokens=each) for each in (*others, size)]
    reading = _said({"data": [*deployments, _deployment("qwen", max_input_tokens=5)]})
    assert reading.context_of({"glm"}) == (262_144 if others else None)
    [gap] = held_to(reading, {"glm"}).gaps
    assert "no number of tokens" in gap.why
    assert held_to(reading, {"qwen"}).gaps == ()


@pytest.mark.parametrize("size", BAD_SIZES)
@pytest.mark.parametrize("key", ["context_length", "max_model_len", "max_input_tokens"])
def test_a_listed_size_that_is_no_number_of_tokens_may_be_any(key: str, size: object) -> None:
    reading = _said({"data": [{"id": "glm", key: size}]}, _gateway("openai"))
    assert [gap.fact for gap in held_to(reading, {"glm"}).gaps] == ["context_tokens"]


@pytest.mark.parametrize("listed", [[], ["GLM"], ["zai/glm"], ["*"], ["other"]])
def test_a_model_that_is_not_listed_is_promised_nobody_knows_what(listed: list[str]) -> None:
    reading = _said({"data": [_deployment(name, max_input_tokens=5) for name in listed]})
    assert reading.gaps == ()
    [gap] = held_to(reading, {"glm"}).gaps
    assert gap.why == "the target's model is not among those it lists"


def test_what_was_not_read_at_all_is_said_once() -> None:
    reading = _said({"data": None})
    assert held_to(reading, {"glm"}) == reading


@pytest.mark.parametrize(
    "more", [{"has_more": True}, {"next": "/models?page=2"}, {"next_page_token": "x"}]
)
def test_a_listing_of_several_pages_is_not_whole(more: dict[str, object]) -> None:
    reading = _said({"data": [{"id": "glm"}], **more}, _gateway("openai"))
    assert [gap.why for gap in reading.gaps] == ["only the first page of them was read"]
    whole = {"data": [{"id": "glm"}], **dict.fromkeys(more, None), "has_more": False}
    assert _said(whole, _gateway("openai")).gaps == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"context_length": 100},
        {"max_model_len": 100},
        {"meta": {"n_ctx": 100}},
        {"top_provider": {"context_length": 100}},
        {"context_length": None, "context_window": 100},
        {"max_input_tokens": 100},
    ],
)
def test_an_openai_listing_states_a_context_in_the_words_of_its_maker(entry: Any) -> None:
    reading = _said({"data": [{"id": "glm", **entry}]}, _gateway("openai"))
    assert reading.models == (GatewayModel(name="glm", context_tokens=100),)


def test_models_that_nobody_asks_are_named_but_not_those_known_and_wanted() -> None:
    listing = {"data": [_deployment(name) for name in ("b", "a", "glm", "old", "a")]}
    reading = _said(listing, _gateway(unprobed=["old"]), asked=("glm", "other"))
    assert reading.unprobed == ("a", "b")


@pytest.mark.parametrize(
    "value", [None, [], "data", {"data": None}, {"data": {}}, {"models": []}, 7]
)
def test_no_list_of_models_is_a_gap(value: object) -> None:
    reading = _said(value)
    assert (reading.models, [gap.why for gap in reading.gaps]) == ((), ["no list of models"])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (httpx.Response(401, content=PLANTED.encode()), "HTTP 401"),
        (httpx.Response(200, content=PLANTED.encode()), "no JSON document: not JSON"),
        (
            httpx.Response(307, headers={"location": f"http://x/{PLANTED}"}),
            "redirect, not followed",
        ),
    ],
)
def test_what_cannot_be_read_is_a_gap_in_our_own_words(answer: httpx.Response, why: str) -> None:
    reading = _read(lambda _: answer)
    assert [gap.why for gap in reading.gaps] == [why]


@pytest.mark.parametrize(
    "name",
    [None, 7, "", "x" * 300, "a\x1b[31m", "a b", "\u202egpt", PLANTED, f"m-{TOKEN}", ["a"]]
    + [TOKEN.upper(), TOKEN[::-1], f"m:{'PLANTED0123456789abcdef0123456789'}"]
    + [f"glm{mark}{PLANTED}" for mark in "_.:/+@*-"],
)
def test_a_name_that_cannot_be_shown_is_counted_and_not_kept(name: object) -> None:
    reading = _said({"data": [_deployment(name), _deployment("glm")]}, asked=("glm",))
    assert [model.name for model in reading.models] == ["glm"]
    assert [gap.why for gap in reading.gaps] == ["1 without a name that can be shown"]


def test_a_credential_of_a_node_is_not_shown_as_a_model_either() -> None:
    body = {"data": [_deployment("tok-NODE-secret-7781-x"), _deployment("glm")]}
    reading = asyncio.run(
        read_gateway(
            "glm",
            _gateway(),
            asked=(),
            credential=TOKEN,
            clock=SystemClock(),
            timeout_seconds=5.0,
            transport=httpx.MockTransport(lambda _: httpx.Response(200, json=body)),
            credentials=Credentials([TOKEN, "tok-NODE-secret-7781"]),
        )
    )
    assert [model.name for model in reading.models] == ["glm"]


def test_more_models_than_are_read_is_a_gap() -> None:
    reading = _said({"data": [_deployment(f"m{i}") for i in range(MAX_MODELS + 5)]})
    assert len(reading.models) == MAX_MODELS
    assert [gap.why for gap in reading.gaps] == ["only the first 2000 were read"]


def test_parameters_of_a_deployment_are_kept_nowhere() -> None:
    reading = _said({"data": [_deployment("glm", key=PLANTED, max_input_tokens=5)]})
    assert PLANTED not in repr(reading)
    assert TOKEN not in repr(reading)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["data", "model_name", "model_info", "max_input_tokens", "id", "meta"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from(["litellm", "openai"]))
def test_whatever_it_says_it_is_models_or_a_gap(value: object, engine: str) -> None:
    reading = _said({"data": value}, _gateway(engine))
    assert reading.models or reading.gaps or value == []
    for model in reading.models:
        assert model.name.isascii()
        assert model.name.isprintable()
        assert model.context_tokens is None or model.context_tokens > 0
