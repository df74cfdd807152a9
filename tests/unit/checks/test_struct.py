"""STRUCT: tool calls and JSON answers parse, name what was offered, and fit."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.schema import fits
from monitor.checks.struct import CHECK
from monitor.model import Request, Status, Tool, ToolCall, VerdictClass
from tests.builders import Bench, a_trial, an_exchange, failures

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = Tool(name="get_weather", description="The weather.", parameters=json.dumps(SCHEMA))
RIGHT = '{"city": "Lyon", "days": 3}'


def an_asked(
    answer: str = "",
    *calls: ToolCall,
    tools: tuple[Tool, ...] = (WEATHER,),
    schema: str | None = None,
    finish: str = "stop",
    tool: str = "",
):
    response = {"finish_reason": "tool_calls" if calls else finish, "tool_calls": calls}
    exchange = an_exchange("the weather?", answer, response=response, tool=tool)
    messages = exchange.request.messages
    request = Request(messages=messages, max_output_tokens=64, tools=tools, json_schema=schema)
    return replace(exchange, request=request)


def variants(exchange) -> set[str]:
    signals = CHECK.judge(a_trial(exchange), exchange, Bench().history)
    return {s.variant if s.status is Status.FAIL else s.status.value for s in signals}


def called(arguments: str, name: str = "get_weather") -> set[str]:
    return variants(an_asked("", ToolCall(name=name, arguments=arguments), tool="get_weather"))


def test_a_call_that_fits_passes() -> None:
    assert called(RIGHT) == {"pass"}


def test_the_three_ways_a_call_fails_are_told_apart() -> None:
    assert called('{"city": "Ly') == {"arguments_not_json"}
    assert called(RIGHT, name="get_whether") == {"not_offered", "not_called"}
    assert called('{"city": 5}') == {"arguments_misfit"}
    assert called('{"days": 3}') == {"arguments_misfit"}
    assert called('{"city": "Lyon", "country": "France"}') == {"arguments_misfit"}


def test_a_call_without_any_tool_offered_is_of_none_that_was_offered() -> None:
    call = ToolCall(name="get_weather", arguments=RIGHT)
    assert variants(an_asked("", call, tools=())) == {"not_offered"}


def test_a_tool_that_was_asked_for_must_be_called() -> None:
    assert variants(an_asked("It will rain.", tool="get_weather")) == {"not_called"}
    assert variants(an_asked("It will rain.")) == {"pass"}


def test_an_answer_to_a_schema_parses_and_fits() -> None:
    def answered(answer: str) -> set[str]:
        return variants(an_asked(answer, tools=(), schema=json.dumps(SCHEMA)))

    assert answered(RIGHT) == {"pass"}
    assert answered(f"Here you are: {RIGHT}") == {"answer_not_json"}
    assert answered('{"city": "Lyon", "days": "three"}') == {"answer_misfit"}
    assert answered("[" * 100_000) == {"answer_not_json"}


def test_an_answer_cut_by_the_allowed_tokens_is_not_judged() -> None:
    exchange = an_asked('{"city": "Ly', schema=json.dumps(SCHEMA), finish="length")
    assert variants(exchange) == {"skip"}


def test_plain_answers_are_not_judged() -> None:
    assert variants(an_asked("hi", tools=())) == {"skip"}


def test_what_a_model_does_wrong_is_tolerated_and_a_control_token_in_a_name_is_not() -> None:
    misfit = an_asked("", ToolCall(name="get_weather", arguments="{}"), tool="get_weather")
    verdict = Bench().judge(misfit)
    assert verdict.verdict_class is VerdictClass.WRONG
    name = "get_weather<|channel|>commentary"
    verdict = Bench().judge(an_asked("", ToolCall(name=name, arguments=RIGHT)))
    assert verdict.verdict_class is VerdictClass.CORRUPT
    assert {("SPECIAL", "control_token"), ("STRUCT", "not_offered")} <= failures(verdict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@given(json_values)
def test_any_value_fits_or_does_not(value) -> None:
    expected = (
        isinstance(value, dict)
        and set(value) <= {"city", "days"}
        and isinstance(value.get("city"), str)
    )
    assert not fits(value, SCHEMA) or expected


@given(st.text(max_size=20), st.integers())
def test_what_fits_fits(city, days) -> None:
    assert fits({"city": city, "days": days}, SCHEMA)
    assert not fits({"city": days, "days": city}, SCHEMA)


def test_a_truth_is_no_number_and_a_whole_float_is_an_integer() -> None:
    assert not fits(True, {"type": "integer"})
    assert not fits(1, {"type": "boolean"})
    assert fits(3.0, {"type": "integer"})
    assert not fits(float("nan"), {"type": "integer"})
    assert fits(None, {"type": "null"})
    assert not fits("b", {"type": "string", "enum": ["a"]})
    assert not fits(["a", 1], {"type": "array", "items": {"type": "string"}})
