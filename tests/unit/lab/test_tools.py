"""Tool calls and objects after a schema: over HTTP, whole and streamed."""

# ruff: noqa: E501 (conversations read best whole)
from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.lab.client import Client
from tests.unit.lab.helpers import code, lab

if TYPE_CHECKING:
    from collections.abc import Iterator

A, B, C = (code(Random(90 + number)) for number in range(3))
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def tool(name: str, description: str, **parameters: Any) -> dict[str, Any]:
    """Return a function to offer, all of its parameters required."""
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


BOOK = tool("book_crate", "Book one crate.", crate=NUMBER, reference_code=TEXT)
SEND = tool("send_letter", "Send one letter.", city=TEXT, reference_code=TEXT)
TRACK = tool("track_parcel_7301", "Track one parcel.", reference_code=TEXT, shelf_code=TEXT)
TRACK_TOO = tool("track_parcel_730", "Track one parcel.", reference_code=TEXT, shelf_code=TEXT)
TOTAL = tool("report_total", "Report a total.", total=NUMBER, code=TEXT)


@pytest.fixture(name="client")
def _client() -> Iterator[Client]:
    with Client(lab()) as client:
        yield client


def post(client: Client, messages: list[dict[str, Any]] | str, **options: Any) -> Any:
    """Return the reply to a conversation, or to one prompt."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    body = {"model": "lamp-lab-1", "messages": messages, "max_tokens": 200, **options}
    headers = {"authorization": "Bearer sk-a"}
    return client.post("/v1/chat/completions", json=body, headers=headers)


def choice(client: Client, messages: list[dict[str, Any]] | str, **options: Any) -> dict[str, Any]:
    """Return the only choice of the whole answer."""
    (only,) = post(client, messages, **options).json()["choices"]
    return dict(only)


def events(response: Any) -> list[Any]:
    """Return the chunks of a stream, its end left out."""
    lines = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


@pytest.mark.parametrize(
    ("prompt", "tools", "name", "arguments"),
    [
        (f"Use the tool to book crate 31 under the reference code {A}.", [BOOK], "book_crate", {"crate": 31, "reference_code": A}),
        (f'Please call the tool book_crate. The crate is 31. The reference code is "{A}".', [BOOK, SEND], "book_crate", {"crate": 31, "reference_code": A}),
        (f"Book crate 31 under the reference code {A}.", [SEND, BOOK], "book_crate", {"crate": 31, "reference_code": A}),
        (f"Call book_crate with crate 31 and reference code {A}.", [BOOK], "book_crate", {"crate": 31, "reference_code": A}),
        (f"Call the function book_crate with crate=31 and reference_code={A}.", [BOOK], "book_crate", {"crate": 31, "reference_code": A}),
        (f'Call book_crate with the crate number 31 and the reference code "{A}".', [BOOK], "book_crate", {"crate": 31, "reference_code": A}),
        (f'Send the letter to the city of Lyon with the reference code "{A}". Use the tool.', [BOOK, SEND], "send_letter", {"city": "Lyon", "reference_code": A}),
        (f'Please call the tool track_parcel_7301. The reference code is "{A}". The shelf code is "{B}".', [TRACK_TOO, TRACK], "track_parcel_7301", {"reference_code": A, "shelf_code": B}),
        (f'Please call the tool track_parcel_730. The reference code is "{A}". The shelf code is "{B}".', [TRACK_TOO, TRACK], "track_parcel_730", {"reference_code": A, "shelf_code": B}),
        (f"What is 17 + 25? Report the total with the tool, under the code {A}.", [TOTAL], "report_total", {"total": 42, "code": A}),
    ],
)  # fmt: skip
def test_a_tool_is_called_with_what_the_turn_says(
    client: Client, prompt: str, tools: list[Any], name: str, arguments: dict[str, Any]
) -> None:
    answer = choice(client, prompt, tools=tools)
    assert answer["finish_reason"] == "tool_calls"
    assert answer["message"]["content"] is None
    (call,) = answer["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        name,
        arguments,
    )


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (f'The reference code of this ticket is "{A}". Please repeat the reference code.', A),
        ("What is 17 + 25?", "42"),
        (f"Here is a list of crates and their shelf codes:\ncrate 17: {A}\ncrate 31: {B}\nWhich shelf code belongs to crate 31?", B),
    ],
)  # fmt: skip
def test_what_needs_no_tool_is_answered(client: Client, prompt: str, answer: str) -> None:
    assert choice(client, prompt, tools=[BOOK, SEND])["message"]["content"] == answer


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("required", "book_crate"), ({"type": "function", "function": {"name": "send_letter"}}, "send_letter")],
)  # fmt: skip
def test_a_tool_may_be_forced(client: Client, wanted: Any, name: str) -> None:
    answer = choice(client, f"The code is {A}.", tools=[BOOK, SEND], tool_choice=wanted)
    (call,) = answer["message"]["tool_calls"]
    assert call["function"]["name"] == name
    assert json.loads(call["function"]["arguments"])["reference_code"] == A


ASKED = f'Please call the tool book_crate. The crate is 31. The reference code is "{A}".'


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        (f"Booked. The receipt number is {B}.", "What did the tool say?", f"Booked. The receipt number is {B}."),
        (f"Booked. The receipt number is {B}.", "What is the receipt number?", B),
        (f"Booked under receipt {B}.", "Which receipt did the tool give?", B),
        (json.dumps({"status": "booked", "receipt_code": B}), "What is the receipt code?", B),
        (json.dumps({"status": "booked", "receipt": B}), "Which receipt did the tool return?", B),
        (json.dumps({"status": "booked", "receipt": B}), "Please repeat the receipt of the booking.", B),
        (json.dumps({"result": B}), "What did the tool return?", B),
        (json.dumps({"result": B}), "Please repeat the result.", B),
        (B, "What was the result of the tool?", B),
        (B, "", B),
    ],
)  # fmt: skip
@pytest.mark.parametrize("offered", [[BOOK], []])
def test_the_tools_answer_is_reported(
    client: Client, said: str, question: str, answer: str, offered: list[Any]
) -> None:
    call = choice(client, ASKED, tools=[BOOK])["message"]
    messages = [
        {"role": "user", "content": ASKED},
        call,
        {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": said},
    ]
    if question:
        messages.append({"role": "user", "content": question})
    got = choice(client, messages, **({"tools": offered} if offered else {}))
    assert answer in got["message"]["content"]
    assert got["finish_reason"] == "stop"


def test_a_tool_may_be_called_again_after_its_answer(client: Client) -> None:
    call = choice(client, ASKED, tools=[BOOK])["message"]
    messages = [
        {"role": "user", "content": ASKED},
        call,
        {"role": "tool", "tool_call_id": "call_1", "content": B},
        {"role": "assistant", "content": B},
        {"role": "user", "content": ASKED.replace("31", "47").replace(A, C)},
    ]
    (again,) = choice(client, messages, tools=[BOOK])["message"]["tool_calls"]
    assert json.loads(again["function"]["arguments"]) == {"crate": 47, "reference_code": C}


def deltas(client: Client, **options: Any) -> tuple[list[Any], str, Any]:
    """Return the calls' deltas of a streamed answer, its finish reason and its usage."""
    options = {
        "tools": [BOOK],
        "stream": True,
        "stream_options": {"include_usage": True},
        **options,
    }
    chunks = events(post(client, ASKED, **options))
    choices = [one for chunk in chunks for one in chunk["choices"]]
    found = [part for one in choices for part in one["delta"].get("tool_calls", ())]
    return found, choices[-1]["finish_reason"], chunks[-1]["usage"]


def test_a_streamed_call_comes_bit_by_bit(client: Client) -> None:
    found, reason, usage = deltas(client)
    whole = post(client, ASKED, tools=[BOOK]).json()
    (call,) = whole["choices"][0]["message"]["tool_calls"]
    assert found[0]["function"] == {"name": "book_crate", "arguments": ""}
    assert found[0]["id"]
    assert all(set(part) == {"index", "function"} for part in found[1:])
    assert len(found) > 4
    assert "".join(part["function"]["arguments"] for part in found) == call["function"]["arguments"]
    assert reason == "tool_calls"
    assert usage["completion_tokens"] == whole["usage"]["completion_tokens"]


@pytest.mark.parametrize("limit", [4, 14, 24])
def test_a_cut_call_says_length(client: Client, limit: int) -> None:
    found, reason, _ = deltas(client, max_tokens=limit)
    assert reason == "length"
    whole = choice(client, ASKED, tools=[BOOK], max_tokens=limit)
    assert whole["finish_reason"] == "length"
    calls = whole["message"]["tool_calls"] or [{"function": {"arguments": ""}}]
    joined = "".join(part["function"]["arguments"] for part in found)
    assert calls[0]["function"]["arguments"] == joined


SCHEMA = {
    "type": "object",
    "properties": {
        "reference_code": TEXT,
        "sum": NUMBER,
        "words": {"type": "array", "items": TEXT},
        "crate": NUMBER,
    },
    "required": ["reference_code", "sum", "words", "crate"],
    "additionalProperties": False,
}


def object_of(client: Client, prompt: str, *keys: str, **options: Any) -> Any:
    """Return the object that a prompt was answered with, after a schema of these keys."""
    schema = {
        **SCHEMA,
        "properties": {key: SCHEMA["properties"][key] for key in keys},
        "required": list(keys),
    }
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }
    return json.loads(
        choice(client, prompt, response_format=wanted, **options)["message"]["content"]
    )


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (f'The reference code of this ticket is "{A}". What is 17 + 25? Answer as JSON.', {"reference_code": A, "sum": 42}),
        (f'Please answer both questions.\n1. The reference code of this ticket is "{A}". What is the reference code?\n2. What is 17 + 25?', {"reference_code": A, "sum": 42}),
        (f"The reference code is {A}. The crate is 31.", {"reference_code": A, "crate": 31}),
        (f"Fill in the form for crate 31 under the reference code {A}.", {"reference_code": A, "crate": 31}),
        (f"The reference code is {A}. The words are plum, cedar and lamp.", {"reference_code": A, "words": ["plum", "cedar", "lamp"]}),
        (f'The reference code is "{A}". The words are: plum, cedar, lamp.', {"reference_code": A, "words": ["plum", "cedar", "lamp"]}),
    ],
)  # fmt: skip
def test_a_schema_is_filled_from_the_prompt(
    client: Client, prompt: str, expected: dict[str, Any]
) -> None:
    assert object_of(client, prompt, *expected) == expected


def test_logprobs_are_those_of_the_content_in_both_ways(client: Client) -> None:
    options = {"logprobs": True, "top_logprobs": 3, "seed": 7}
    whole = choice(client, f"Please repeat the code {A}", **options)
    entries = whole["logprobs"]["content"]
    assert "".join(entry["token"] for entry in entries) == whole["message"]["content"]
    streamed = [
        entry
        for chunk in events(post(client, f"Please repeat the code {A}", stream=True, **options))
        for one in chunk["choices"]
        if one["logprobs"]
        for entry in one["logprobs"]["content"]
    ]
    assert streamed == entries
    for entry in entries:
        assert len(entry["top_logprobs"]) == 3
        assert entry["top_logprobs"][0]["token"] == entry["token"]
        assert all(one["logprob"] < 0 for one in entry["top_logprobs"])


def test_no_logprobs_unless_asked_for(client: Client) -> None:
    assert choice(client, "Hello.")["logprobs"] is None


@pytest.mark.parametrize(
    "options",
    [{"top_logprobs": 3}, {"logprobs": True, "top_logprobs": 21}, {"seed": "x"}, {"cache_salt": 3}],
)
def test_options_that_make_no_sense_are_refused(client: Client, options: dict[str, Any]) -> None:
    assert post(client, "Hello.", **options).status_code == 400


def test_a_salt_parts_the_prefix_cache(client: Client) -> None:
    def cached(salt: str) -> int:
        body = post(client, "The boat is green. " * 40 + "What is 2 + 2?", cache_salt=salt).json()
        return int(body["usage"]["prompt_tokens_details"]["cached_tokens"])

    assert cached("one") == 0
    assert cached("two") == 0
    assert cached("one") > 100
