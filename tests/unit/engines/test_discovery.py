"""What servers say of themselves, in the shapes of real ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import SystemClock
from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.engines.openai import OpenAIEngine
from monitor.http import HttpClient, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

Pages = dict[str, object]


def _models(*entries: dict[str, object]) -> dict[str, object]:
    return {"object": "list", "data": list(entries)}


SGLANG: Pages = {
    "/v1/models": _models({"id": "qwen", "owned_by": "sglang", "max_model_len": 262144}),
    "/get_server_info": {
        "version": "0.0.0.dev1+g70df09b83",
        "context_length": None,
        "max_total_num_tokens": 1206208,
        "max_req_input_len": 262138,
        "launch_command": "serve --api-key hush",
    },
}
VLLM: Pages = {
    "/v1/models": _models({"id": "qwen", "owned_by": "vllm", "max_model_len": 262144}),
    "/version": {"version": "0.20.2rc1.dev9+g01d4d1ad3"},
}
LLAMA_CPP: Pages = {
    "/v1/models": _models(
        {"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_ctx_train": 32768}}
    ),
    "/props": {"build_info": "b9000-abc", "default_generation_settings": {"n_ctx": 4096}},
}
OLLAMA: Pages = {
    "/v1/models": _models({"id": "llama3", "owned_by": "library"}),
    "/api/version": {"version": "0.14.0"},
}
GATEWAY: Pages = {
    "/v1/models": _models(
        {"id": "a/b", "context_length": 131072, "top_provider": {"context_length": 65536}},
        {"id": "c", "context_window": 8192},
        {"id": "d", "max_context_length": 32000, "owned_by": "system"},
    )
}


def _engine(
    handler: Callable[[httpx.Request], httpx.Response], base_url: str = "http://host:9/v1"
) -> OpenAIEngine:
    http = HttpClient(
        origins=frozenset({origin_of(base_url)}),
        clock=SystemClock(),
        transport=httpx.MockTransport(handler),
    )
    return OpenAIEngine(base_url=base_url, model="configured", http=http)


def _discover(pages: Pages, base_url: str = "http://host:9/v1") -> Discovery:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.method == "GET"
        assert request.headers["authorization"] == "Bearer key"
        page = pages.get(request.url.path)
        if isinstance(page, httpx.Response):
            return page
        return httpx.Response(404) if page is None else httpx.Response(200, json=page)

    return asyncio.run(_engine(handler, base_url).discover(credential="key"))


def _limit(tokens: int, source: str) -> Limit:
    return Limit(tokens=tokens, source=source)


def test_sglang_through_the_old_name_of_its_page() -> None:
    assert _discover(SGLANG) == Discovery(
        engine="sglang",
        version="0.0.0.dev1+g70df09b83",
        models=(
            DiscoveredModel(
                id="qwen",
                limits=(
                    _limit(262144, "v1_models.max_model_len"),
                    _limit(262137, "server_info.max_req_input_len"),
                ),
            ),
        ),
    )


def test_vllm() -> None:
    assert _discover(VLLM) == Discovery(
        engine="vllm",
        version="0.20.2rc1.dev9+g01d4d1ad3",
        models=(DiscoveredModel(id="qwen", limits=(_limit(262144, "v1_models.max_model_len"),)),),
        can_tokenize=True,
    )


def test_llama_cpp() -> None:
    assert _discover(LLAMA_CPP) == Discovery(
        engine="llama.cpp",
        version="b9000-abc",
        models=(
            DiscoveredModel(
                id="tiny",
                limits=(
                    _limit(4096, "v1_models.meta.n_ctx"),
                    _limit(4096, "props.default_generation_settings.n_ctx"),
                ),
            ),
        ),
        can_tokenize=True,
    )


def test_ollama() -> None:
    found = _discover(OLLAMA)
    assert (found.engine, found.version, found.can_tokenize) == ("ollama", "0.14.0", False)


def test_a_gateway() -> None:
    found = _discover(GATEWAY)
    assert found.engine is None
    assert [model.limits for model in found.models] == [
        (
            _limit(131072, "v1_models.context_length"),
            _limit(65536, "v1_models.top_provider.context_length"),
        ),
        (_limit(8192, "v1_models.context_window"),),
        (_limit(32000, "v1_models.max_context_length"),),
    ]


def test_limits_of_a_server_that_lists_no_model_go_to_the_configured_one() -> None:
    found = _discover({"/server_info": SGLANG["/get_server_info"]})
    assert found.models == (
        DiscoveredModel(id="configured", limits=(_limit(262137, "server_info.max_req_input_len"),)),
    )


def test_pages_that_fail_are_notes_and_pages_that_are_not_there_are_none() -> None:
    found = _discover(
        {
            "/v1/models": httpx.Response(401, text="hush"),
            "/version": httpx.Response(200, text="<html>hush"),
            "/props": [1],
        }
    )
    assert found.notes == (
        "/models: HTTP 401",
        "/version: no JSON document: not JSON",
        "/props: not a JSON object",
    )


def test_a_base_url_that_is_no_engines_is_asked_for_its_models_alone() -> None:
    found = _discover({"/api/paas/v4/models": _models({"id": "glm"})}, "https://host/api/paas/v4")
    assert [model.id for model in found.models] == ["glm"]
    assert len(found.notes) == 1


@pytest.mark.parametrize("value", [None, True, "4096", -1, 0, 1, 10**12, 4096.5, [4096]])
def test_a_limit_that_is_no_plausible_number_is_none(value: object) -> None:
    found = _discover({"/v1/models": _models({"id": "m", "max_model_len": value})})
    assert found.models == (DiscoveredModel(id="m"),)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "data",
                    "id",
                    "owned_by",
                    "meta",
                    "n_ctx",
                    "max_model_len",
                    "version",
                    "max_req_input_len",
                    "default_generation_settings",
                    "top_provider",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(pages=st.dictionaries(st.sampled_from(["/v1/models", "/server_info", "/props"]), JSON))
def test_no_page_breaks_discovery(pages: Pages) -> None:
    _discover(pages)


def test_control_characters_do_not_reach_a_terminal() -> None:
    found = _discover({"/v1/models": _models({"id": "m\x1b[2J\u202e"})})
    assert found.models[0].id == "m?[2J?"


def _count(handler: Callable[[httpx.Request], httpx.Response], text: str) -> int | None:
    return asyncio.run(_engine(handler).count_tokens(text, credential="key"))


def test_tokens_are_counted_by_vllm() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/tokenize"
        assert b'"prompt": "some text"' in request.content
        return httpx.Response(200, json={"count": 2, "max_model_len": 9, "tokens": [1, 2]})

    assert _count(handler, "some text") == 2


def test_tokens_are_counted_by_llama_cpp() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        tokens = [1, 2, 3] if b'"content": "some text"' in request.content else []
        return httpx.Response(200, json={"tokens": tokens})

    assert _count(handler, "some text") == 3


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(404),
        httpx.Response(500),
        httpx.Response(200, text="no"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"count": "2"}),
    ],
)
def test_a_server_that_does_not_count_gives_none(response: httpx.Response) -> None:
    assert _count(lambda _: response, "some text") is None
