"""STRUCT: tool calls and JSON answers parse, name what was offered, and fit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.schema import MAX_DEPTH, MAX_VALUES, fits
from monitor.checks.struct import CHECK, is_json
from monitor.model import Request, Status, Tool, ToolCall, VerdictClass
from monitor.prompts import AnyOf, Expectation, GoldenPrompt, ListHas
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


def test_json_is_strict() -> None:
    assert called('{"city": "Lyon", "city": "Nice"}') == {"arguments_not_json"}
    assert called('{"city": "Lyon", "days": NaN}') == {"arguments_not_json"}
    exchange = an_asked('{"city": "Lyon", "city": "Nice"}', tools=(), schema=json.dumps(SCHEMA))
    assert variants(exchange) == {"answer_not_json"}
    assert is_json('{"city": "Lyon", "city": "Nice"}')  # whole, if not strict: it was not cut


def test_an_answer_cut_by_the_allowed_tokens_is_not_judged() -> None:
    exchange = an_asked('{"city": "Ly', schema=json.dumps(SCHEMA), finish="length")
    assert variants(exchange) == {"skip"}


def test_plain_answers_are_not_judged() -> None:
    assert variants(an_asked("hi", tools=())) == {"skip"}


# --- Code, lists and fences

ADD = "```python\ndef add(a, b):\n    return a + b\n```"


def a_golden(*expectations: Expectation, **fields: Any) -> GoldenPrompt:
    base = {"suite": "s", "id": "i", "language": "en", "prompt": "?", "max_output_tokens": 64}
    return GoldenPrompt(expectations=expectations, **(base | fields))


PYTHON = a_golden(AnyOf(strings=("a + b",)), structure="code", code_language="python")
COLOURS = a_golden(ListHas(items=3), AnyOf(strings=("red",)))


def answered(
    prompt: GoldenPrompt, answer: str, finish: str = "stop", version: str = ""
) -> set[str]:
    exchange = an_exchange(
        "?",
        answer,
        response={"finish_reason": finish},
        golden=prompt.name,
        golden_version=version or prompt.version,
    )
    history = replace(Bench().history, golden={prompt.name: prompt})
    signals = CHECK.judge(a_trial(exchange), exchange, history)
    return {s.variant if s.status is Status.FAIL else s.status.value for s in signals}


def test_code_that_was_asked_for_parses() -> None:
    assert answered(PYTHON, ADD) == {"pass"}
    assert answered(PYTHON, f"1. bafot-gitiz-lusab-dunor\n2. {ADD}") == {"pass"}
    assert answered(PYTHON, ADD.replace("):", ")")) == {"code_does_not_parse"}
    assert answered(PYTHON, "I would rather not.") == {"code_does_not_parse"}


def test_code_in_another_language_is_not_judged_but_its_fences_are() -> None:
    go = replace(PYTHON, code_language="go")
    assert answered(go, "func add(a, b int) int { return a + b }") == {"skip"}
    assert answered(go, "```go\nfunc add(a, b int) int { return a + b }\n```") == {"pass"}
    assert answered(go, "```go\nfunc add(a, b int) int { return a + b }") == {"fence_open"}


def test_a_fence_is_closed_whatever_was_asked() -> None:
    assert variants(an_asked("So:\n```\nls\n```", tools=())) == {"pass"}
    assert variants(an_asked("So:\n```\nls\n", tools=())) == {"fence_open"}
    assert answered(PYTHON, ADD[:-4]) == {"fence_open"}
    assert answered(PYTHON, ADD[:-6]) == {"fence_open", "code_does_not_parse"}


def test_a_list_has_as_many_items_as_were_asked_for() -> None:
    assert answered(COLOURS, "1. red\n2. green\n3. blue") == {"pass"}
    assert answered(COLOURS, "1. red\n2. green") == {"list_incomplete"}
    assert answered(COLOURS, "1. red\n3. blue\n4. green") == {"list_incomplete"}


def test_what_was_cut_for_length_is_left_to_finish() -> None:
    assert answered(PYTHON, ADD[:-6], finish="length") == {"skip"}
    assert answered(COLOURS, "1. red", finish="length") == {"skip"}


def test_a_prompt_that_was_edited_since_is_not_judged() -> None:
    assert answered(COLOURS, "1. red", version="000000000000") == {"skip"}


def test_fences_of_very_long_answers_are_not_counted() -> None:
    assert variants(an_asked("```\n" + "x" * 200_001, tools=())) == {"skip"}


@given(st.text(max_size=300))
def test_no_text_breaks_the_check(answer: str) -> None:
    allowed = {"pass", "code_does_not_parse", "list_incomplete", "fence_open"}
    assert answered(PYTHON, answer) <= allowed
    assert answered(COLOURS, answer) <= allowed


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


def test_what_is_too_deep_or_too_large_fits_nothing() -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert not fits(deep, {})
    assert fits([[1]], {})
    assert fits([1] * (MAX_VALUES - 1), {})
    assert not fits([1] * MAX_VALUES, {})


def test_a_schema_that_refers_to_itself_ends() -> None:
    chain = {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    assert fits({"n": {"n": {}}}, chain)
    assert not fits({}, {"$ref": "#"})


def test_nothing_is_fetched_and_formats_assert_nothing() -> None:
    with pytest.raises(Exception, match=r"example\.org"):
        fits({}, {"$ref": "https://example.org/schema.json"})
    assert fits("not an address", {"format": "email"})
    assert fits("ab", {"pattern": "^a"})
    assert not fits("ba", {"pattern": "^a"})


def test_draft_2020_12() -> None:
    assert not fits([1, "x", 2], {"prefixItems": [{}, {}], "items": {"type": "string"}})
    assert not fits({"a": 1}, {"dependentRequired": {"a": ["b"]}})
    assert fits(7, {"exclusiveMinimum": 6, "const": 7.0})


def test_a_truth_is_no_number_and_a_whole_float_is_an_integer() -> None:
    assert not fits(True, {"type": "integer"})
    assert not fits(1, {"type": "boolean"})
    assert fits(3.0, {"type": "integer"})
    assert not fits(float("nan"), {"type": "integer"})
    assert fits(None, {"type": "null"})
    assert not fits("b", {"type": "string", "enum": ["a"]})
    assert not fits(["a", 1], {"type": "array", "items": {"type": "string"}})


def test_one_call_that_was_asked_for_is_made_once() -> None:
    right, other = (ToolCall(name="get_weather", arguments=a) for a in (RIGHT, '{"city": "Bonn"}'))
    same = ToolCall(name="get_weather", arguments='{"days":3,"city":"Ly\\u006fn"}', id="call-2")
    assert variants(an_asked("", right, right, tool="get_weather")) == {"called_twice"}
    assert variants(an_asked("", right, same, tool="get_weather")) == {"called_twice"}
    assert variants(an_asked("", right, other, tool="get_weather")) == {"called_more"}
    assert variants(an_asked("", right, right, other, tool="get_weather")) == {
        "called_twice",
        "called_more",
    }


def test_calls_that_nobody_counted_may_be_many() -> None:
    right = ToolCall(name="get_weather", arguments=RIGHT)
    assert variants(an_asked("", right, right)) == {"pass"}


def test_the_same_call_twice_is_wrong_and_proves_nothing() -> None:
    right = ToolCall(name="get_weather", arguments=RIGHT)
    verdict = Bench().judge(an_asked("", right, right, tool="get_weather"))
    assert verdict.verdict_class is VerdictClass.WRONG
    assert failures(verdict) == {("STRUCT", "called_twice")}


@given(st.text(max_size=30), st.integers(2, 5))
def test_however_a_call_looks_its_copies_are_counted(arguments: str, times: int) -> None:
    call = ToolCall(name="get_weather", arguments=arguments)
    assert "called_twice" in variants(an_asked("", *[call] * times, tool="get_weather"))
    assert "called_twice" not in variants(an_asked("", call, tool="get_weather"))
