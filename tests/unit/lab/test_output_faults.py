"""Faults and nulls of prompts, sampling and wording: what strikes, what it does, what it leaves."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.lab.client import Client
from tests.unit.lab.helpers import ask, code, finish, lab, repeat, send, text_of
from tests.unit.lab.test_gateway_faults import BOOKING, content, counts, post
from tests.unit.lab.test_tools import BOOK

if TYPE_CHECKING:
    from monitor.lab.mechanisms.base import Value
    from monitor.lab.service import Service

A, B, C = (code(Random(50 + number)) for number in range(3))
SUM = repeat(A, "What is 17 + 25?")
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"reference_code": {"type": "string"}, "sum": {"type": "integer"}},
    }
)


def sure(name: str, **values: Value) -> Service:
    """Return a lab whose only mechanism strikes whatever it can."""
    return lab(name, values={name: {"rate": 1.0, **values}})


def turns(number: int) -> tuple[tuple[str, str], ...]:
    """Return the history of so many turns before the last; the first tells a code."""
    first = f"Remember: the code of locker 17 is {B}."
    told = [first, *(f"What is {n} + {n}?" for n in range(2, number + 1))][:number]
    return tuple(said for text in told for said in (("user", text), ("assistant", "Noted.")))


@pytest.mark.parametrize("role", ["developer", "system"])
def test_the_developers_message_alone_is_dropped(role: str) -> None:
    service = sure("developer_dropped")
    told = ((role, f"End every answer with the code {C}."),)
    dropped = role == "developer"
    answer = ask(service, "What is 2 + 2?", earlier=told)
    assert answer.parser.content == ("4" if dropped else f"4 {C}")
    healthy = ask(lab(), "What is 2 + 2?", earlier=told)
    assert (answer.usage.prompt_tokens < healthy.usage.prompt_tokens) is dropped
    assert counts(service) == ((1, 1) if dropped else (0, 0))


@pytest.mark.parametrize("turn", [2, 3, 4])
def test_earlier_turns_are_left_out_from_a_turn_on(turn: int) -> None:
    service = sure("history_dropped", turn=turn)
    question, system = "Which code did I give you for locker 17?", f"Say {C} when asked."
    for earlier in range(1, 6):
        answer, healthy = (
            ask(each, question, system=system, earlier=turns(earlier)) for each in (service, lab())
        )
        assert healthy.parser.content == B
        dropped = earlier + 1 >= turn
        assert (B not in answer.parser.content) is dropped
        assert (answer.usage.prompt_tokens < healthy.usage.prompt_tokens) is dropped
    assert counts(service) == (7 - turn, 7 - turn)


def test_a_tools_result_stays_with_the_last_turn() -> None:
    service = sure("history_dropped", turn=2)
    with Client(service) as client:
        call = post(client, BOOKING, tools=[BOOK]).json()["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": C}
        earlier = [{"role": role, "content": text} for role, text in turns(2)]
        messages = [*earlier, {"role": "user", "content": BOOKING}, call, result]
        assert content(client, "", tools=[BOOK], messages=messages) == C


def strange(text: str) -> int:
    """Return how many letters of other scripts a text has."""
    return sum(letter.isalpha() and not letter.isascii() for letter in text)


def test_a_conversation_rots_turn_by_turn() -> None:
    service = sure("turns_rot", turn=3, share=0.25)
    prompt = "Count from 1 to 40 in digits, separated by spaces."
    rotten = [strange(text_of(service, prompt, earlier=turns(earlier))) for earlier in range(6)]
    assert rotten[:2] == [0, 0]
    assert 0 < rotten[2] < rotten[3] < rotten[5]
    assert counts(service) == (4, 4)


def with_schema(service: Service, marker: str) -> Any:
    """Admit a request for an object."""
    return send(service, repeat(marker, "What is 17 + 25?"), wanted_format=SCHEMA)


def is_object(text: str) -> bool:
    """Return whether a text is one JSON object and nothing else."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def test_objects_break_beside_plain_text_in_the_batch() -> None:
    service = sure("json_broken_in_batch")
    seen = set()
    for _ in range(12):
        wanted, plain = with_schema(service, A), send(service, repeat(B))
        finish(service, wanted, plain)
        assert plain.parser.content == B
        assert not is_object(wanted.parser.content)
        assert A in wanted.parser.content
        seen.add(wanted.parser.content)
    assert len(seen) == 3
    assert counts(service) == (12, 12)


def test_objects_break_beside_plain_text_that_comes_while_they_are_said() -> None:
    service = sure("json_broken_in_batch")
    seen = set()
    for _ in range(12):
        wanted = with_schema(service, A)
        service.engine.step()
        begun = len(wanted.job.output)
        finish(service, wanted, send(service, repeat(B)))
        assert 0 < begun < len(wanted.job.output)
        assert not is_object(wanted.parser.content)
        assert wanted.parser.content.startswith("{")
        seen.add(wanted.parser.content)
    assert len(seen) == 2
    assert counts(service) == (12, 12)


def test_objects_are_whole_alone_and_among_objects() -> None:
    service = sure("json_broken_in_batch")
    alone = with_schema(service, A)
    finish(service, alone)
    both = [with_schema(service, marker) for marker in (A, B)]
    finish(service, *both)
    assert all(is_object(answer.parser.content) for answer in (alone, *both))
    assert counts(service) == (0, 0)


@pytest.mark.parametrize("named", [False, True])
def test_a_weaker_model_answers_after_the_onset(*, named: bool) -> None:
    service = sure("model_swapped", onset=10, names_itself=named)
    with Client(service) as client:
        replies = [post(client, SUM).json() for _ in range(70)]
    texts = [reply["choices"][0]["message"]["content"] for reply in replies]
    assert all(A in text and "42" in text for text in texts[:10])
    assert 4 < sum(A not in text for text in texts[10:]) < 40
    assert 4 < sum("42" not in text for text in texts[10:]) < 40
    assert {reply["model"] for reply in replies[:10]} == {"lamp-lab-1"}
    after = {reply["model"] for reply in replies[10:]}
    assert after == {"lamp-lab-1-mini" if named else "lamp-lab-1"}


@pytest.mark.parametrize("kind", ["missing", "type", "name"])
def test_a_call_does_not_fit_what_was_offered(kind: str) -> None:
    service = sure("tool_schema_broken", kind=kind)
    with Client(service) as client:
        for _ in range(6):
            choice = post(client, BOOKING, tools=[BOOK]).json()["choices"][0]
            function = choice["message"]["tool_calls"][0]["function"]
            arguments = json.loads(function["arguments"])
            types = {key: type(value) for key, value in arguments.items()}
            fits = types == {"crate": int, "reference_code": str}
            assert choice["finish_reason"] == "tool_calls"
            assert fits is (kind == "name")
            assert (function["name"] == "book_crate") is (kind != "name")
            assert (len(arguments) < 2) is (kind == "missing")
        assert content(client, repeat(B), tools=[BOOK]) == B
    assert counts(service) == (6, 6)


def test_harmless_questions_are_declined() -> None:
    service = lab("refusal_spike", values={"refusal_spike": {"rate": 0.5, "onset": 20}})
    texts = [text_of(service, SUM) for _ in range(80)]
    assert all(A in text for text in texts[:20])
    declined = [text for text in texts if A not in text]
    assert 15 < len(declined) < 45
    assert all(
        "42" not in text and ("sorry" in text.lower() or "cannot" in text) for text in declined
    )


def test_a_model_that_thinks_answers_right_and_counts_its_thoughts() -> None:
    with Client(lab("thinks")) as client, Client(lab()) as plain:
        whole, usual = (post(each, SUM).json() for each in (client, plain))
        message = whole["choices"][0]["message"]
        assert message["content"] == usual["choices"][0]["message"]["content"]
        assert message["reasoning_content"]
        usage = whole["usage"]
        assert usage["reasoning_tokens"] > 5
        spoken = usage["completion_tokens"] - usage["reasoning_tokens"]
        # The two control tokens around the thought are counted as well.
        assert spoken == usual["usage"]["completion_tokens"] + 2
        lines = post(client, SUM, stream=True).text.splitlines()
        deltas = [
            choice["delta"]
            for line in lines
            if line.startswith("data: {")
            for choice in json.loads(line[6:])["choices"]
        ]
        thought = "".join(delta.get("reasoning_content") or "" for delta in deltas)
        said = "".join(delta.get("content") or "" for delta in deltas)
        assert (thought, said) == (message["reasoning_content"], message["content"])
        call = post(client, BOOKING, tools=[BOOK]).json()["choices"][0]
        assert call["finish_reason"] == "tool_calls"


def test_a_sum_in_a_hundred_is_wrong_and_codes_never_are() -> None:
    service = lab("sums_wobble")
    texts = [text_of(service, SUM) for _ in range(600)]
    assert all(A in text for text in texts)
    wrong = sum(not text.endswith("42") for text in texts)
    assert 0 < wrong < 20
    assert counts(service) == (600, wrong)
