"""Thinking is no answer, wherever a model puts it; all thinking and no answer is no fault."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.base import only_reasoned
from monitor.engines.reasoning import set_reasoning_apart
from monitor.model import Outcome, Response, Status
from tests.builders import Bench, an_exchange
from tests.fakes.hostile import HostileServer, reply, stream
from tests.unit.engines.asking import (
    CREDENTIAL,
    USAGE_EVENT,
    chunk,
    completion,
    content,
    engine_for,
    question,
)


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("ok", "ok", ""),
        ("<think>hm</think>ok", "ok", "hm"),
        ("<think>\nhm\nso\n</think>\n\nok", "ok", "hm\nso"),
        ("\n<think>hm</think>ok", "ok", "hm"),
        ("<thinking>hm</thinking> ok", "ok", "hm"),
        ("<think></think>ok", "ok", ""),
        ("<think>hm, and no end", "", "hm, and no end"),
        ("hm\n</think>\n\nok", "ok", "hm"),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>", "a"),
        ("2 < 3 and <thought is no tag", "2 < 3 and <thought is no tag", ""),
    ],
)
def test_a_leading_block_is_set_apart(text: str, answer: str, thought: str) -> None:
    response = set_reasoning_apart(Response(text=text))
    assert (response.text, response.reasoning_text) == (answer, thought)


def test_reasoning_of_a_field_of_its_own_stays() -> None:
    response = set_reasoning_apart(Response(text="<think>b</think>ok", reasoning_text="a"))
    assert (response.text, response.reasoning_text) == ("ok", "a\nb")


@given(text=st.text(alphabet="<think>/ ok\n", max_size=60))
def test_nothing_is_lost_or_made_up(text: str) -> None:
    response = set_reasoning_apart(Response(text=text))
    assert text.endswith(response.text)
    assert response.reasoning_text in text
    assert "<" in text or response.text == text


@given(words=st.text(alphabet="ab \n", max_size=40))
def test_an_answer_without_tags_is_left_alone(words: str) -> None:
    assert set_reasoning_apart(Response(text=words)) == Response(text=words)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("inline", [False, True])
def test_thinking_that_used_up_the_tokens_is_no_empty_answer(
    *, inline: bool, streamed: bool
) -> None:
    """EMPTY cannot tell, and no check calls the exchange bad."""
    usage = {"prompt_tokens": 19, "completion_tokens": 8, "total_tokens": 27}
    thought = "<think>hm, let me see" if inline else "hm, let me see"
    message = {"content": thought} if inline else {"content": None, "reasoning_content": thought}
    choice = {"index": 0, "message": message, "finish_reason": "length"}
    events = [chunk(message), chunk(finish_reason="length"), chunk(choices=[], usage=usage)]
    behaviour = stream(*events) if streamed else reply(completion(choices=[choice], usage=usage))

    async def run() -> Response:
        async with HostileServer(behaviour) as server:
            engine = engine_for(server, options={"inline_reasoning": inline})
            answer = await engine.ask(
                question(streamed=streamed), credential=CREDENTIAL, timeout_seconds=5
            )
            assert answer.failure is None
            assert answer.response is not None
            return answer.response

    response = asyncio.run(run())
    assert response.text == ""
    assert response.reasoning_text == "hm, let me see"
    assert only_reasoned(response)
    bench = Bench()
    nonce = bench.mint()
    plain = an_exchange(f"say {nonce}", max_output_tokens=8, nonce=nonce)
    verdict = bench.judge(replace(plain, response=response))
    [empty] = (signal for signal in verdict.signals if signal.code == "EMPTY")
    assert empty.status is Status.ERROR
    assert verdict.outcome is not Outcome.BAD
    assert not [signal.code for signal in verdict.signals if signal.status is Status.FAIL]


def test_a_think_block_of_a_stream_is_set_apart_whatever_its_pieces() -> None:
    async def run() -> Response:
        pieces = [content(piece) for piece in ("<th", "ink>h", "m</thi", "nk>\n", "\no", "k")]
        behaviour = stream(*pieces, chunk(finish_reason="stop"), USAGE_EVENT)
        async with HostileServer(behaviour) as server:
            engine = engine_for(server, options={"inline_reasoning": True})
            answer = await engine.ask(question(streamed=True), credential=None, timeout_seconds=5)
            assert answer.response is not None
            return answer.response

    response = asyncio.run(run())
    assert (response.text, response.reasoning_text) == ("ok", "hm")
