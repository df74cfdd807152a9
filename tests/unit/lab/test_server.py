"""The HTTP face, over ASGI; and one real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.unit.lab.client import Client
from tests.unit.lab.helpers import KEYS, lab

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTH = {"Authorization": f"Bearer {KEYS['tenant-a']}"}
CODE = "bafot-gitiz-lusab-dunor"
ECHO = f"The reference code of this ticket is {CODE}. Please repeat the reference code."
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(lab()) as healthy:
        yield healthy


def _body(content: str = ECHO, **options: Any) -> dict[str, Any]:
    return {"model": "lamp-lab-1", "messages": [{"role": "user", "content": content}], **options}


def _post(client: Client, content: str = ECHO, **options: Any) -> httpx.Response:
    return client.post("/v1/chat/completions", headers=AUTH, json=_body(content, **options))


def _events(response: httpx.Response) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def _streamed(events: list[dict[str, Any]]) -> str:
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


def test_an_answer_has_its_id_twice(client: Client) -> None:
    response = _post(client)
    body = response.json()
    assert response.headers["x-request-id"] == body["id"]
    assert body["choices"][0]["message"]["content"] == CODE
    assert body["choices"][0]["finish_reason"] == "stop"


def test_usage_adds_up_and_the_second_time_comes_from_the_cache(client: Client) -> None:
    first, second = (_post(client).json()["usage"] for _ in range(2))
    assert first["total_tokens"] == first["prompt_tokens"] + first["completion_tokens"]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    cached = second["prompt_tokens_details"]["cached_tokens"]
    assert 0 < cached < second["prompt_tokens"]
    assert cached % 16 == 0


@pytest.mark.parametrize("content", [ECHO, "What is 17 + 25?", "列出三种颜色。", "Is this known?"])
def test_a_stream_says_what_a_whole_answer_says(client: Client, content: str) -> None:
    whole = _post(client, content).json()
    events = _events(_post(client, content, stream=True, stream_options={"include_usage": True}))
    assert _streamed(events) == whole["choices"][0]["message"]["content"]
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    for count in ("prompt_tokens", "completion_tokens"):
        assert events[-1]["usage"][count] == whole["usage"][count]
    assert len({event["id"] for event in events}) == 1


def test_usage_in_a_stream_only_if_asked_for(client: Client) -> None:
    assert all("usage" not in event for event in _events(_post(client, stream=True)))


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_string_ends_the_answer_before_it(client: Client, stream: bool) -> None:
    response = _post(client, stop="-lusab", stream=stream)
    content = (
        _streamed(_events(response))
        if stream
        else response.json()["choices"][0]["message"]["content"]
    )
    assert content == "bafot-gitiz"


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_the_token_limit_cuts(client: Client, limit: str) -> None:
    body = _post(client, **{limit: 3}).json()
    assert body["usage"]["completion_tokens"] == 3
    assert body["choices"][0]["finish_reason"] == "length"


def test_a_tool_call_is_the_same_in_both_ways(client: Client) -> None:
    options = {"tools": [WEATHER]}
    content = "What is the weather in Lyon for 3 days? Use the tool."
    whole = _post(client, content, **options).json()["choices"][0]
    assert whole["finish_reason"] == "tool_calls"
    call = whole["message"]["tool_calls"][0]["function"]
    assert call["name"] == "get_weather"
    assert json.loads(call["arguments"]) == {"city": "Lyon", "days": 3}
    events = _events(_post(client, content, stream=True, **options))
    deltas = [
        c["delta"]["tool_calls"][0]
        for e in events
        for c in e["choices"]
        if "tool_calls" in c["delta"]
    ]
    assert "".join(delta["function"]["arguments"] for delta in deltas) == call["arguments"]


def test_a_tool_choice_of_none_hides_the_tools(client: Client) -> None:
    options = {"tools": [WEATHER], "tool_choice": "none"}
    choice = _post(client, "What is the weather in Lyon?", **options).json()["choices"][0]
    assert choice["message"]["tool_calls"] is None


def test_a_schema_is_filled(client: Client) -> None:
    schema = {
        "type": "object",
        "properties": {"code": {"type": "string"}, "sum": {"type": "integer"}},
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    content = _post(client, f"{ECHO} Then answer: what is 4 + 9?", response_format=wanted).json()
    filled = json.loads(content["choices"][0]["message"]["content"])
    assert filled == {"code": CODE, "sum": 13}


def test_json_mode_gives_an_object(client: Client) -> None:
    content = _post(client, response_format={"type": "json_object"}).json()
    assert CODE in json.loads(content["choices"][0]["message"]["content"]).values()


@pytest.mark.parametrize("key", ["", "Bearer wrong", KEYS["tenant-a"]])
def test_a_wrong_key_is_turned_away(client: Client, key: str) -> None:
    response = client.post(
        "/v1/chat/completions", json=_body(), headers={"Authorization": key} if key else {}
    )
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize(
    "raw", ["{", "[]", "{}", '{"messages": [{"role": "chorus", "content": "x"}]}',
            '{"messages": [{"role": "user", "content": 3}]}',
            '{"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}'],
)  # fmt: skip
def test_what_is_no_chat_request_is_400(client: Client, raw: str) -> None:
    response = client.post("/v1/chat/completions", content=raw, headers=AUTH)
    assert response.status_code == 400
    assert response.json()["object"] == "error"


def test_half_a_character_does_no_harm(client: Client) -> None:
    raw = '{"messages": [{"role": "user", "content": "Repeat exactly: \\ud83d"}]}'
    assert client.post("/v1/chat/completions", content=raw, headers=AUTH).status_code == 200


def test_the_node_says_its_sizes(client: Client) -> None:
    card = client.get("/v1/models", headers=AUTH).json()["data"][0]
    info = client.get("/server_info", headers=AUTH).json()
    assert card["max_model_len"] == 4096
    assert info["max_req_input_len"] == 4090
    assert (
        info["max_total_num_tokens"] == info["internal_states"][0]["memory_usage"]["token_capacity"]
    )
    assert client.get("/get_server_info", headers=AUTH).json() == info


def test_metrics_fit_together(client: Client) -> None:
    _post(client)
    lines = client.get("/metrics").text.splitlines()
    values = {
        line.split("{")[0].removeprefix("sglang:"): float(line.rsplit(" ", 1)[1])
        for line in lines
        if not line.startswith("#") and "bucket" not in line
    }
    kept = values["kv_used_tokens"] + values["kv_available_tokens"] + values["kv_evictable_tokens"]
    assert kept <= values["max_total_num_tokens"]
    assert values["num_requests_total"] == 1


def test_a_refusal_in_a_stream_is_400_or_an_event() -> None:
    values = {"lab": {"prefill_share": 0.5}}
    for mechanisms, status in (((), 400), (("in_stream_refusal",), 200)):
        with Client(lab(*mechanisms, values=values)) as client:
            response = _post(client, " cat" * 3000, stream=True)
            assert response.status_code == status
            assert "exceeds the maximum allowed length" in response.text


@pytest.mark.parametrize(("null", "status"), [("burst_429", 429), ("burst_5xx", 503)])
def test_some_requests_are_turned_away(null: str, status: int) -> None:
    with Client(lab(null, values={null: {"rate": 0.5}})) as client:
        assert {_post(client).status_code for _ in range(24)} == {200, status}


def test_the_gateway_hides_the_nodes_of_a_broken_cluster() -> None:
    for expose, status in ((False, 404), (True, 200)):
        values = {"overlength_placeholder": {"expose_nodes": expose}}
        with Client(lab("overlength_placeholder", values=values)) as client:
            assert client.get("/server_info", headers=AUTH).status_code == status
            assert client.get("/v1/models", headers=AUTH).status_code == 200


def test_two_node_kinds_have_metrics_of_their_own() -> None:
    values = {"overlength_placeholder": {"expose_nodes": True}}
    with Client(lab("overlength_placeholder", values=values)) as client:
        _post(client, "cat " * 3000, max_tokens=5)
        text = client.get("/metrics").text
    prompts = {
        line.split('engine_type="')[1].split('"')[0]: float(line.rsplit(" ", 1)[1])
        for line in text.splitlines()
        if line.startswith("sglang:prompt_tokens_total")
    }
    assert prompts["prefill"] == 1
    assert prompts["decode"] > 3000


def test_the_command_says_where_it_is_and_stops_in_good_order() -> None:
    command = [
        sys.executable,
        "-m",
        "monitor.lab",
        "--port",
        "0",
        "--fault",
        "loops",
        "--seed",
        "7",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as lab_:
        assert lab_.stdout
        said = json.loads(lab_.stdout.readline())
        headers = {"Authorization": f"Bearer {said['keys']['tenant-b']}"}
        url = f"{said['url']}/chat/completions"
        reply = httpx.post(url, headers=headers, json=_body(max_tokens=60), timeout=20)
        lab_.terminate()
        assert lab_.wait(20) == 0
    assert reply.json()["choices"][0]["finish_reason"] == "length"
    assert set(said) == {"url", "base", "model", "context_tokens", "keys", "seed", "nodes"}
    assert "loops" not in json.dumps(said)
