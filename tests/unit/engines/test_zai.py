"""z.ai: OpenAI's shapes, its own words for errors, thinking and endings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from monitor.engines import ENGINES
from monitor.engines.base import Manner
from monitor.model import FailureKind, Message, Outcome, Request, Tool, Usage
from tests.builders import Bench, an_exchange
from tests.fakes.hostile import HostileServer, reply, stream
from tests.unit.engines.asking import (
    CREDENTIAL,
    HEALTHY,
    HEALTHY_STREAM,
    USAGE_EVENT,
    chunk,
    completion,
    content,
    engine_for,
    question,
)

if TYPE_CHECKING:
    from monitor.engines.base import Reply
    from tests.fakes.hostile import Behaviour, Received

PATH = "/api/paas/v4"


def asked(
    behaviour: Behaviour,
    request: Request | None = None,
    *,
    manner: Manner | None = None,
    **options: object,
) -> tuple[Reply, Received]:
    """Return the reply to one question, and what the server received."""

    async def run() -> tuple[Reply, Received]:
        async with HostileServer(behaviour) as server:
            engine = engine_for(server, kind="zai", path=PATH, options=options, manner=manner)
            reply_ = await engine.ask(
                request or question(), credential=CREDENTIAL, timeout_seconds=5
            )
            await engine.aclose()
            return reply_, server.received[0]

    return asyncio.run(run())


def ended(reason: str, text: str = "", **changes: object) -> dict[str, object]:
    """Return a completion that ended for ``reason``."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return completion(choices=[choice], **changes)


def test_a_request_holds_what_the_reference_names() -> None:
    tool = Tool(name="add", description="adds", parameters='{"type": "object"}')
    request = Request(
        messages=(Message(role="user", content="hi"),),
        max_output_tokens=16,
        tools=(tool,),
        tool_choice="required",
        json_schema='{"type": "array"}',
        seed=4,
        logprobs=2,
        cache_salt="s",
        stream=True,
    )
    _, received = asked(HEALTHY_STREAM, request)
    assert (received.method, received.path) == ("POST", f"{PATH}/chat/completions")
    assert received.headers["authorization"] == f"Bearer {CREDENTIAL}"
    body = received.json()
    assert body.pop("tools")
    assert body == {
        "model": "qwen-27b",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 16,
        "stream": True,
        "do_sample": False,
        "response_format": {"type": "json_object"},
    }


def test_its_lack_of_json_schemas_is_known() -> None:
    assert ENGINES["zai"].lacks == ("json_schema",)


def test_sampling_may_be_left_to_the_temperature() -> None:
    body = asked(HEALTHY, sampling="default")[1].json()
    assert (body["temperature"], "do_sample" in body) == (0.0, False)


@pytest.mark.parametrize(
    ("effort", "expected"),
    [
        (None, None),
        ("none", {"type": "disabled"}),
        ("minimal", {"type": "disabled"}),
        ("low", {"type": "enabled"}),
        ("high", {"type": "enabled"}),
    ],
)
def test_effort_turns_thinking_on_or_off(effort: str | None, expected: object) -> None:
    body = asked(HEALTHY, manner=Manner(effort=effort))[1].json()
    assert body.get("thinking") == expected
    assert "reasoning_effort" not in body


def test_probes_are_tagged() -> None:
    manner = Manner(tag_header="X-Davylamp-Probe", tag_metadata=True)
    received = asked(HEALTHY, manner=manner)[1]
    assert received.headers["x-davylamp-probe"] == "probe"
    assert received.json()["metadata"] == {"davylamp": "probe"}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_healthy_answer(*, streamed: bool) -> None:
    usage = {
        "prompt_tokens": 19,
        "completion_tokens": 2,
        "total_tokens": 21,
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    whole = completion(usage=usage, request_id="2026112919340-1")
    events = stream(
        chunk({"role": "assistant", "reasoning_content": "hm"}, request_id="2026112919340-1"),
        content("ok"),
        chunk(finish_reason="stop", usage=usage),
    )
    reply_, _ = asked(events if streamed else reply(whole), question(streamed=streamed))
    assert reply_.failure is None
    response = reply_.response
    assert response is not None
    assert (response.text, response.finish_reason) == ("ok", "stop")
    counted = Usage(input_tokens=19, output_tokens=2, cached_tokens=16, total_tokens=21)
    assert response.usage == counted
    assert response.headers == (("body.request_id", "2026112919340-1"),)
    assert response.protocol_faults == ()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("reason", ["network_error", "sensitive"])
def test_an_ending_that_went_wrong_is_a_cut_answer(reason: str, *, streamed: bool) -> None:
    events = stream(content("so f"), chunk(finish_reason=reason), USAGE_EVENT)
    behaviour = events if streamed else reply(ended(reason, "so f"))
    reply_, _ = asked(behaviour, question(streamed=streamed))
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.CUT_STREAM
    assert reason in reply_.failure.detail
    assert reply_.response is not None
    assert reply_.response.text == "so f"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_prompt_that_does_not_fit_may_be_told_as_an_ending(*, streamed: bool) -> None:
    reason = "model_context_window_exceeded"
    events = stream(chunk({"role": "assistant", "content": ""}, finish_reason=reason, usage=None))
    behaviour = events if streamed else reply(ended(reason, usage=None))
    reply_, _ = asked(behaviour, question(streamed=streamed))
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.REFUSED
    exchange = replace(
        an_exchange("long", None, failure=reply_.failure, boundary="over"),
        response=reply_.response,
    )
    assert Bench().judge(exchange).outcome is Outcome.GOOD


def test_an_answer_that_fills_the_context_is_no_refusal() -> None:
    reply_, _ = asked(reply(ended("model_context_window_exceeded", "so far")))
    assert reply_.failure is None
    assert reply_.response is not None
    assert (reply_.response.text, reply_.response.finish_reason) == ("so far", "length")


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("message", ["Prompt exceeds max length", "Prompt 超长"])
@pytest.mark.parametrize("code", ["1261", 1261])
def test_an_over_length_prompt_is_refused(status: int, message: str, code: object) -> None:
    error = {"error": {"code": code, "message": message}}
    for streamed in (False, True):
        reply_, _ = asked(reply(error, status=status), question(streamed=streamed))
        assert reply_.failure is not None
        assert reply_.failure.kind is FailureKind.REFUSED


@pytest.mark.parametrize(
    ("status", "code", "detail"),
    [
        (401, "1002", "unauthorised: the credential was not accepted (error code 1002)"),
        (429, "1113", "the quota is used up (error code 1113)"),
        (400, "1210", "request not accepted (error code 1210)"),
        (400, "1211", "request not accepted (error code 1211)"),
        (400, "1214", "request not accepted (error code 1214)"),
        (400, "1301", "request not accepted (error code 1301)"),
        (429, "1302", "rate limited (error code 1302)"),
        (429, "1308", "the quota is used up (error code 1308)"),
        (500, "1234", "server error (error code 1234)"),
    ],
)
def test_business_codes_are_told(status: int, code: str, detail: str) -> None:
    error = {"error": {"code": code, "message": "words of theirs"}}
    reply_, _ = asked(reply(error, status=status))
    assert reply_.failure is not None
    assert (reply_.failure.kind, reply_.failure.detail) == (FailureKind.HTTP_STATUS, detail)


@pytest.mark.parametrize(
    ("code", "status"), [("1302", 429), ("1113", 402), ("1301", 400), ("1234", 500)]
)
def test_business_codes_in_a_200_are_told_alike(code: str, status: int) -> None:
    error = {"error": {"code": code, "message": "words of theirs"}}
    reply_, _ = asked(stream(error), question(streamed=True))
    assert reply_.failure is not None
    assert (reply_.failure.kind, reply_.failure.code) == (FailureKind.HTTP_STATUS, status)


def test_inline_reasoning_is_set_apart() -> None:
    reply_, _ = asked(reply(ended("stop", "<think>hm</think>ok")), inline_reasoning=True)
    assert reply_.response is not None
    assert (reply_.response.text, reply_.response.reasoning_text) == ("ok", "hm")


def test_models_are_listed_and_nothing_is_counted() -> None:
    async def run() -> tuple[list[str], list[str], int | None]:
        models = {"object": "list", "data": [{"id": "glm-5.2", "owned_by": "z-ai"}]}
        async with HostileServer(reply(models)) as server:
            engine = engine_for(server, kind="zai", path=PATH)
            found = await engine.discover(credential=CREDENTIAL)
            paths = [each.path for each in server.received]
            count = await engine.count_tokens("text", credential=CREDENTIAL)
            assert len(server.received) == len(paths)
            return [model.id for model in found.models], paths, count

    assert asyncio.run(run()) == (["glm-5.2"], [f"{PATH}/models"], None)
