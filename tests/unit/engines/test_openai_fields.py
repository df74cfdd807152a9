"""What a request may hold beyond a question, and what an answer may hold beyond a text."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.base import Manner
from monitor.engines.faults import FaultList
from monitor.engines.logprobs import MAX_ALTERNATIVES, MAX_TOKENS, read_logprobs
from monitor.engines.openai_fields import read_usage
from monitor.engines.openai_request import OpenAIOptions, encode_request
from monitor.model import Message, Request, TokenLogprob, Tool, ToolCall
from tests.fakes.hostile import HostileServer, reply, stream
from tests.unit.engines.asking import (
    HEALTHY,
    STOP,
    USAGE_EVENT,
    ask_once,
    chunk,
    completion,
    engine_for,
    question,
    with_message,
)

if TYPE_CHECKING:
    from monitor.model import Response

ADD = Tool(name="add", description="adds", parameters='{"type": "object"}')
CALL = ToolCall(name="add", arguments='{"a": 1}', id="call_7")


def sent(request: Request, *, manner: Manner | None = None, **options: object) -> dict[str, object]:
    """Return the body that asks ``request``."""
    checked = OpenAIOptions.model_validate(options)
    body = encode_request(request, model="m", options=checked, manner=manner)
    document = json.loads(body)
    assert isinstance(document, dict)
    return document


def test_a_plain_question_holds_no_more_than_it_must() -> None:
    assert sent(question()).keys() == {"model", "messages", "max_tokens", "stream", "temperature"}


def test_calls_and_their_results_keep_their_ids() -> None:
    messages = (
        Message(role="user", content="1+1?"),
        Message(role="assistant", content="", calls=(CALL, replace(CALL, id="call_8"))),
        Message(role="tool", content="2", call_id="call_7"),
    )
    assert sent(Request(messages=messages, max_output_tokens=9, tools=(ADD,)))["messages"] == [
        {"role": "user", "content": "1+1?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": 1}'},
                }
                for call_id in ("call_7", "call_8")
            ],
        },
        {"role": "tool", "content": "2", "tool_call_id": "call_7"},
    ]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("", None),
        ("required", "required"),
        ("add", {"type": "function", "function": {"name": "add"}}),
    ],
)
def test_a_tool_may_be_asked_for(choice: str, expected: object) -> None:
    body = sent(replace(question(), tools=(ADD,), tool_choice=choice))
    assert body.get("tool_choice") == expected


def test_a_choice_without_tools_is_not_sent() -> None:
    assert "tool_choice" not in sent(replace(question(), tool_choice="required"))


def test_seed_salt_and_logprobs_are_sent_if_asked_for() -> None:
    body = sent(replace(question(), seed=0, cache_salt="s1", logprobs=5))
    asked = {name: body[name] for name in ("seed", "cache_salt", "logprobs", "top_logprobs")}
    assert asked == {"seed": 0, "cache_salt": "s1", "logprobs": True, "top_logprobs": 5}


def test_a_server_may_refuse_a_seed() -> None:
    assert "seed" not in sent(replace(question(), seed=3), send_seed=False)


@pytest.mark.parametrize("field", ["seed", "tool_choice", "logprobs", "cache_salt"])
def test_extra_fields_cannot_replace_ours(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        OpenAIOptions(extra_body={field: 1})


@pytest.mark.parametrize("streamed", [False, True])
def test_ids_of_tool_calls_are_read(*, streamed: bool) -> None:
    first = {"index": 0, "id": "call_7", "function": {"name": "add", "arguments": '{"a"'}}
    rest = {"index": 0, "function": {"arguments": ": 1}"}}
    whole = {"id": "call_7", "function": {"name": "add", "arguments": '{"a": 1}'}}
    behaviour = (
        stream(chunk({"tool_calls": [first]}), chunk({"tool_calls": [rest]}), STOP, USAGE_EVENT)
        if streamed
        else reply(with_message(content=None, tool_calls=[whole]))
    )
    response = ask_once(behaviour, streamed=streamed).response
    assert response is not None
    assert response.tool_calls == (CALL,)


def test_an_id_that_is_no_text_is_none() -> None:
    call = {"id": 7, "function": {"name": "add", "arguments": "{}"}}
    response = ask_once(reply(with_message(content=None, tool_calls=[call]))).response
    assert response is not None
    assert response.tool_calls[0].id == ""


LOGPROBS: dict[str, object] = {
    "content": [
        {
            "token": "o",
            "logprob": -0.25,
            "bytes": [111],
            "top_logprobs": [
                {"token": "o", "logprob": -0.25},
                {"token": "O", "logprob": -2},
            ],
        },
        {"token": "k", "logprob": -1.5, "top_logprobs": []},
    ]
}
READ = (
    TokenLogprob(token="o", logprob=-0.25, top=(("o", -0.25), ("O", -2.0))),  # noqa: S106
    TokenLogprob(token="k", logprob=-1.5),  # noqa: S106
)


def _whole(logprobs: object) -> Response:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "ok"},
        "finish_reason": "stop",
        "logprobs": logprobs,
    }
    response = ask_once(reply(completion(choices=[choice]))).response
    assert response is not None
    return response


def test_logprobs_of_a_whole_answer_are_read() -> None:
    response = _whole(LOGPROBS)
    assert (response.logprobs, response.protocol_faults) == (READ, ())


def test_logprobs_of_a_stream_are_read_in_order() -> None:
    parts = LOGPROBS["content"]
    assert isinstance(parts, list)
    events = [
        chunk(choices=[{"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [part]}}])
        for part in parts
    ]
    response = ask_once(stream(*events, STOP, USAGE_EVENT), streamed=True).response
    assert response is not None
    assert (response.logprobs, response.protocol_faults) == (READ, ())


@pytest.mark.parametrize("nothing", [None, {"content": None}, {"content": []}])
def test_no_logprobs_are_no_fault(nothing: object) -> None:
    response = _whole(nothing)
    assert (response.logprobs, response.protocol_faults) == ((), ())


@pytest.mark.parametrize(
    "odd", [7, {"content": "o"}, {}, {"content": [{"token": "o", "logprob": "-1"}]}]
)
def test_odd_logprobs_are_a_fault_and_nothing_else(odd: object) -> None:
    response = _whole(odd)
    assert (response.logprobs, response.text) == ((), "ok")
    if odd == {}:
        assert response.protocol_faults == ()
    else:
        assert response.protocol_faults == ("logprobs_malformed",)


def test_logprobs_are_bounded() -> None:
    entry = {"token": "t" * 9_000, "logprob": -1}
    entry = entry | {"top_logprobs": [entry] * 500}
    found = read_logprobs({"logprobs": {"content": [entry] * (MAX_TOKENS + 9)}}, FaultList())
    assert len(found) == MAX_TOKENS
    assert len(found[0].token) == 200
    assert len(found[0].top) == MAX_ALTERNATIVES


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["logprobs", "content", "token", "logprob", "top_logprobs"]), inner
        )
    ),
    max_leaves=20,
)


@given(choice=st.dictionaries(st.just("logprobs"), JSON))
def test_no_logprobs_break_the_reader(choice: dict[str, object]) -> None:
    for entry in read_logprobs(choice, FaultList()):
        assert math.isfinite(entry.logprob)
        entry.token.encode()


def _headers(request: Request, manner: Manner) -> tuple[dict[str, str], dict[str, object]]:
    async def run() -> tuple[dict[str, str], dict[str, object]]:
        async with HostileServer(HEALTHY) as server:
            engine = engine_for(server, manner=manner)
            await engine.ask(request, credential=None, timeout_seconds=5)
            return server.received[0].headers, server.received[0].json()

    return asyncio.run(run())


TAGGED = Manner(tag_header="X-Davylamp-Probe", tag_metadata=True)


def test_probes_carry_a_header_and_metadata() -> None:
    headers, body = _headers(question(), TAGGED)
    assert headers["x-davylamp-probe"] == "probe"
    assert headers["user-agent"] == "davylamp"
    assert body["metadata"] == {"davylamp": "probe"}


def test_metadata_is_only_sent_if_wanted() -> None:
    headers, body = _headers(question(), Manner(tag_header="X-Probe"))
    assert headers["x-probe"] == "probe"
    assert "metadata" not in body


def test_the_untagged_twin_says_nothing_of_us() -> None:
    headers, body = _headers(replace(question(), tagged=False), TAGGED)
    twin, _ = _headers(question(), TAGGED)
    assert headers.keys() == twin.keys() - {"x-davylamp-probe"}
    assert "metadata" not in body
    assert "davylamp" not in repr((headers, body)).lower()


def test_metadata_of_the_options_is_kept_beside_ours() -> None:
    extra = {"metadata": {"team": "serving"}}
    assert sent(question(), manner=TAGGED, extra_body=extra)["metadata"] == {
        "team": "serving",
        "davylamp": "probe",
    }


@pytest.mark.parametrize(
    "reported",
    [
        {"prompt_tokens_details": {"cached_tokens": 16}},
        {"prompt_cache_hit_tokens": 16},
        {"cache_read_input_tokens": 16},
    ],
    ids=["openai", "deepseek", "anthropic behind a gateway"],
)
def test_cached_tokens_go_by_three_names(reported) -> None:
    faults = FaultList()
    assert read_usage({"prompt_tokens": 3, **reported}, faults).cached_tokens == 16
    assert not faults.codes()


@pytest.mark.parametrize(
    ("total", "reasoning"),
    [(150, 100), (50, None), (0, None), (None, None), (True, None), ("150", None)],
    ids=["thoughts", "none", "not added up", "absent", "no number", "text"],
)
def test_what_only_the_total_counts_was_thought(total, reasoning) -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 20, "total_tokens": total}
    assert read_usage(usage, FaultList()).reasoning_tokens == reasoning


@pytest.mark.parametrize(
    ("total", "reasoning"),
    [(450, None), (550, None), (150, None), (350, 300)],
    ids=["read", "read and stored", "stored", "neither"],
)
def test_cached_tokens_that_only_the_total_counts_were_not_thought(total, reasoning) -> None:
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 20,
        "total_tokens": total,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 100,
    }
    read = read_usage(usage, FaultList())
    assert (read.reasoning_tokens, read.cached_tokens, read.total_tokens) == (reasoning, 400, total)
