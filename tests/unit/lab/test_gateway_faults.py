"""Faults and nulls of the gateway, over HTTP: who gets which reply, and what it says of itself."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from monitor.lab.server import application
from tests.unit.lab.client import Client
from tests.unit.lab.helpers import code, lab
from tests.unit.lab.test_tools import BOOK, TEXT, tool

if TYPE_CHECKING:
    from monitor.lab.mechanisms.base import Value
    from monitor.lab.service import Service

A, B, C, D = (code(Random(30 + number)) for number in range(4))
LONG = "Count from 1 to 60 in digits, separated by spaces."
BOOKING = f'Please call the tool book_crate. The crate is 31. The reference code is "{A}".'


def repeat(marker: str) -> str:
    """Return the prompt that asks for a code."""
    return f'The reference code of this ticket is "{marker}". Please repeat the reference code.'


def body(prompt: str, **options: Any) -> dict[str, Any]:
    """Return a request with one user turn, after a system message if one is given."""
    messages = [{"role": "user", "content": prompt}]
    if system := options.pop("system", ""):
        messages.insert(0, {"role": "system", "content": system})
    return {"model": "lamp-lab-1", "messages": messages, "max_tokens": 200, **options}


def post(client: Client, prompt: str, key: str = "sk-a", **options: Any) -> Any:
    """Return the reply to a request."""
    headers = {"authorization": f"Bearer {key}"}
    response = client.post("/v1/chat/completions", json=body(prompt, **options), headers=headers)
    assert response.status_code == 200
    return response


def content(client: Client, prompt: str, key: str = "sk-a", **options: Any) -> str:
    """Return the text of the answer that came whole."""
    return str(post(client, prompt, key, **options).json()["choices"][0]["message"]["content"])


def streamed(client: Client, prompt: str, **options: Any) -> tuple[str, Any, Any]:
    """Return text, finish reason and usage of a stream."""
    options |= {"stream": True, "stream_options": {"include_usage": True}}
    lines = post(client, prompt, **options).text.splitlines()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    return text, choices[-1]["finish_reason"], chunks[-1]["usage"]


@dataclass
class Leaver:
    """A client that hangs up after some pieces of the reply, as ASGI servers tell it."""

    request: dict[str, Any]
    key: str
    after: int
    got: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Prepare what the server is told."""
        self._gone = asyncio.Event()
        self._asked = False
        if not self.after:
            self._gone.set()

    async def receive(self) -> dict[str, Any]:
        """Give the body, and then the news that the client is gone."""
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": json.dumps(self.request).encode()}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Take a piece; hang up after the last one wanted."""
        if message["type"] == "http.response.body":
            self.got.append(message["body"])
            if len(self.got) >= self.after:
                self._gone.set()
        await asyncio.sleep(0)


async def _leave(service: Service, leaver: Leaver) -> None:
    engine = asyncio.create_task(service.run())
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": "POST",
        "path": "/v1/chat/completions",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {leaver.key}".encode())],
    }
    await application(service)(scope, leaver.receive, leaver.send)
    # The loop closes generators that were left, one inside the other.
    for _ in range(10):
        await asyncio.sleep(0)
    engine.cancel()


def leave(service: Service, client: Client, prompt: str, after: int, **options: Any) -> bytes:
    """Ask as tenant-a and hang up after some pieces; return what had come."""
    leaver = Leaver(body(prompt, **options), "sk-a", after)
    client.run(_leave(service, leaver))
    return b"".join(leaver.got)


def counts(service: Service) -> tuple[int, int]:
    """Return how many requests met the condition of the only mechanism, and how many it hit."""
    (trigger,) = service.steps.triggers
    return trigger.exposed, trigger.struck


SAY_MUCH = f"Write the word {A} thirty times, separated by spaces."


@pytest.mark.parametrize("stream", [True, False])
def test_the_next_client_gets_the_reply_that_was_left_unread(*, stream: bool) -> None:
    service = lab("reply_pool_crossed")
    with Client(service) as client:
        assert content(client, repeat(C), "sk-b") == C
        leave(service, client, SAY_MUCH, 2 if stream else 0, stream=stream)
        ask = streamed if stream else lambda *args, **more: (content(*args, **more),)
        assert A in ask(client, repeat(B), key="sk-b")[0]
        assert ask(client, repeat(D), key="sk-b")[0] == D
    assert counts(service) == (1, 1)
    assert list(service.report()["foreign"].values()) == [["tenant-a"]]


def test_a_connection_may_stay_behind_for_some_replies() -> None:
    service = lab("reply_pool_crossed", values={"reply_pool_crossed": {"replies": 2}})
    with Client(service) as client:
        leave(service, client, SAY_MUCH, 0)
        assert A in content(client, repeat(B), "sk-b")
        assert content(client, repeat(C), "sk-b") == B
        assert content(client, repeat(D), "sk-b") == D


@pytest.mark.parametrize("stream", [True, False])
def test_a_healthy_gateway_closes_the_connection_of_who_hung_up(*, stream: bool) -> None:
    service = lab()
    with Client(service) as client:
        leave(service, client, SAY_MUCH, 2 if stream else 0, stream=stream)
        assert streamed(client, repeat(B), key="sk-b")[0] == B
        assert content(client, repeat(B), "sk-b") == B
    assert service.report()["foreign"] == {}


def test_a_hidden_prompt_is_another_tenants_and_is_counted() -> None:
    service = lab("hidden_prompt", values={"hidden_prompt": {"rate": 1.0}})
    system = f"You are the desk of tenant A. End every answer with the code {C}."
    with Client(service) as client, Client(lab()) as healthy:
        content(client, repeat(A), system=system)
        assert counts(service) == (0, 0)
        reply = post(client, repeat(B), "sk-b").json()
        assert reply["choices"][0]["message"]["content"] == f"{B} {C}"
        plain = post(healthy, repeat(B), "sk-b").json()
        assert plain["choices"][0]["message"]["content"] == B
        assert reply["usage"]["prompt_tokens"] > plain["usage"]["prompt_tokens"] + 10
        assert content(client, repeat(D)) == D
    assert counts(service) == (1, 1)
    assert list(service.report()["foreign"].values()) == [["tenant-a"]]


def test_ids_repeat_for_different_prompts_and_stay_the_same_within_a_reply() -> None:
    service = lab("ids_repeated", values={"ids_repeated": {"rate": 1.0}})
    with Client(service) as client:
        first = post(client, repeat(A)).json()
        chunks = post(client, repeat(B), stream=True).text.splitlines()
        assert {json.loads(line[6:])["id"] for line in chunks if "data: {" in line} == {first["id"]}
    with Client(lab()) as client:
        assert len({post(client, repeat(marker)).json()["id"] for marker in (A, B, C)}) == 3


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_chunk_is_lost_in_streams_alone(place: int) -> None:
    service = lab("stream_chunk_lost", values={"stream_chunk_lost": {"rate": 1.0, "place": place}})
    with Client(service) as client:
        whole = content(client, LONG)
        text, reason, usage = streamed(client, LONG)
        assert text != whole
        assert len(whole) - 16 < len(text) < len(whole)
        assert whole.startswith(text[:1]) is (place > 0)
        assert reason == "stop"
        assert usage["completion_tokens"] == post(client, LONG).json()["usage"]["completion_tokens"]
    assert counts(service) == (1, 1)


@pytest.mark.parametrize(
    ("count", "field_name"), [("prompt", "prompt_tokens"), ("completion", "completion_tokens")]
)
def test_the_usage_of_streams_is_wrong(count: str, field_name: str) -> None:
    values: dict[str, dict[str, Value]] = {"usage_stream_wrong": {"count": count}}
    service = lab("usage_stream_wrong", values=values)
    with Client(service) as client:
        whole, usage = post(client, LONG).json()["usage"], streamed(client, LONG)[2]
        assert whole["prompt_tokens"] > 10
        assert usage[field_name] < whole[field_name] / 3
        others = {"prompt_tokens", "completion_tokens"} - {field_name}
        assert all(usage[other] == whole[other] for other in others)
    assert counts(service) == (1, 1)


@pytest.mark.parametrize(("fault", "reason"), [("tool_call_cut", "tool_calls"), ("", "length")])
def test_a_cut_call_says_tool_calls_in_streams_alone(fault: str, reason: str) -> None:
    with Client(lab(*([fault] if fault else []))) as client:
        options = {"tools": [BOOK], "max_tokens": 24}
        assert streamed(client, BOOKING, **options)[1] == reason
        assert post(client, BOOKING, **options).json()["choices"][0]["finish_reason"] == "length"
        assert streamed(client, BOOKING, tools=[BOOK])[1] == "tool_calls"
        assert streamed(client, LONG, max_tokens=4)[1] == "length"


@pytest.mark.parametrize("fault", ["stop_lost", ""])
def test_an_answer_goes_on_past_lost_stop_strings(fault: str) -> None:
    values: dict[str, dict[str, Value]] = {fault: {"rate": 1.0}} if fault else {}
    service = lab(*([fault] if fault else []), values=values)
    with Client(service) as client:
        assert ("60" in content(client, LONG, stop=["17"])) is bool(fault)
        assert ("60" in streamed(client, LONG, stop=["17"])[0]) is bool(fault)
        assert "60" in content(client, LONG)
    assert not fault or counts(service) == (2, 2)


@pytest.mark.parametrize("fault", ["form_kept", ""])
def test_the_form_of_one_request_is_that_of_the_next(fault: str) -> None:
    properties = {"shelf": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["shelf"]}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    with Client(lab(*([fault] if fault else []))) as client:
        asked = content(client, f'The shelf is "{A}".', response_format=form)
        assert json.loads(asked) == {"shelf": A}
        assert ("shelf" in content(client, repeat(B), key="sk-b")) is bool(fault)
        assert content(client, repeat(C)) == C


def test_control_tokens_stay_in_the_name_of_a_tool() -> None:
    service = lab("tool_name_tokens", values={"tool_name_tokens": {"rate": 1.0}})
    with Client(service) as client:
        offered = [BOOK, tool("send_letter", "Send one letter.", code=TEXT)]
        message = post(client, BOOKING, tools=offered).json()["choices"][0]["message"]
        assert message["tool_calls"][0]["function"]["name"] == "book_crate<|channel|>commentary"
        assert content(client, repeat(A), tools=offered) == A
    assert counts(service) == (1, 1)


def test_a_new_tokenizer_counts_a_little_more_for_the_same_answer() -> None:
    service = lab("counts_shift", values={"counts_shift": {"onset": 1}})
    with Client(service) as client:
        before, after = (post(client, LONG + " " + repeat(A) * 20).json() for _ in range(2))
        assert before["choices"][0]["message"] == after["choices"][0]["message"]
        share = after["usage"]["prompt_tokens"] / before["usage"]["prompt_tokens"]
        assert 1.02 < share < 1.04


def test_runs_of_requests_are_late_together() -> None:
    service = lab("late_in_runs", values={"late_in_runs": {"rate": 0.5, "run": 4}})
    late = [service.steps.gate(service.caller()).delay_seconds > 0 for _ in range(200)]
    assert 40 < sum(late) < 160
    runs = [late[at : at + 4] for at in range(3, 195, 4)]
    assert all(len(set(run)) == 1 for run in runs)
