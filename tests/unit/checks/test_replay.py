"""REPLAY: what is compared, when it is proof, and how rarely a healthy model is accused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from monitor.checks.replay import CHECK
from monitor.history import History
from monitor.model import (
    Exchange,
    Expectation,
    Fact,
    Needle,
    Request,
    Status,
    Tool,
    ToolCall,
    VerdictClass,
)
from tests.builders import Bench, a_trial, an_exchange

BENCH = Bench()
HISTORY = BENCH.history
WEAK = replace(HISTORY, weak_model=True)
SERIES = 3
ORDERS = {
    "at once": [(p, c) for p in range(SERIES) for c in ("", "warm")],
    "later": [(p, c) for c in ("", "warm") for p in range(SERIES)],
}


class Prompt:
    """A prompt that is asked several times: its code, its answer, and what to expect."""

    def __init__(self) -> None:
        self.nonce, self.code = BENCH.mint(), BENCH.mint()
        self.right = f"{self.nonce} {self.code}"
        self.asks = {
            "nonce": self.nonce,
            "answers": (Fact(name="the shelf code", any_of=(self.code,)),),
            "answer_bits": 64.0,
        }

    def exchange(self, index: int, answer: str, **expectation) -> Exchange:
        prompt = f"Repeat {self.nonce}. The shelf code is {self.code}."
        return an_exchange(prompt, answer, index=index, **(self.asks | expectation))


PROMPTS = [Prompt() for _ in range(SERIES)]


def repeats(wrong: set[tuple[int, str]], order: str = "at once") -> list[Exchange]:
    """Return three prompts asked cold, warm and salted; ``wrong`` ones lose the shelf code."""
    cold: dict[int, int] = {}
    exchanges = []
    plan = [*ORDERS[order], *((p, "salted") for p in range(SERIES))]
    for index, (number, comparison) in enumerate(plan):
        prompt = PROMPTS[number]
        cold.setdefault(number, index)
        answer = prompt.nonce if (number, comparison) in wrong else prompt.right
        more = {"reference": cold[number], "comparison": comparison} if comparison else {}
        exchanges.append(prompt.exchange(index, answer, **more))
    return exchanges


def variants(exchanges: list[Exchange], history: History = HISTORY) -> list[tuple[int, str]]:
    trial = a_trial(*exchanges)
    return [
        (signal.exchange, signal.variant)
        for exchange in exchanges
        for signal in CHECK.judge(trial, exchange, history)
        if signal.status is Status.FAIL
    ]


def warm(*numbers: int) -> set[tuple[int, str]]:
    return {(number, "warm") for number in numbers}


@pytest.mark.parametrize("order", ORDERS)
def test_three_prompts_wrong_only_when_warm_are_proof_and_mark_the_last(order: str) -> None:
    found = variants(repeats(warm(0, 1, 2), order))
    assert [variant for _, variant in found] == ["differs", "differs", "warm_only"]
    verdict = BENCH.judge(*repeats(warm(0, 1, 2), order))
    assert verdict.verdict_class is VerdictClass.CORRUPT
    assert [e.hard for e in verdict.exchanges].count(True) == 1


@pytest.mark.parametrize(
    "also_wrong",
    [{(0, "")}, {(1, "salted")}, {(2, ""), (2, "salted")}],
    ids=["cold", "salted", "both"],
)
def test_a_prompt_the_model_cannot_answer_anyway_proves_nothing(also_wrong) -> None:
    assert "warm_only" not in {v for _, v in variants(repeats(warm(0, 1, 2) | also_wrong))}


@pytest.mark.parametrize("lost", [warm(0), warm(0, 1), warm(1, 2)], ids=["one", "two", "other two"])
def test_fewer_prompts_are_tolerated_differences(lost) -> None:
    assert {v for _, v in variants(repeats(lost))} == {"differs"}
    assert len(variants(repeats(lost))) == len(lost)


def test_a_weak_model_is_never_accused() -> None:
    assert {v for _, v in variants(repeats(warm(0, 1, 2)), WEAK)} == {"differs"}


def test_without_a_salted_control_nothing_is_proven() -> None:
    exchanges = [e for e in repeats(warm(0, 1, 2)) if e.expectation.comparison != "salted"]
    assert {v for _, v in variants(exchanges)} == {"differs"}


def accused(events: list[tuple[tuple[int, str], ...]], error_rate: float) -> float:
    """Return P(warm_only) if each event, an independent set of wrong answers, has this rate."""
    probability = 0.0
    for drawn in product((False, True), repeat=len(events)):
        wrong = {
            each for event, happens in zip(events, drawn, strict=True) if happens for each in event
        }
        if any(variant == "warm_only" for _, variant in variants(repeats(wrong))):
            probability += error_rate ** sum(drawn) * (1 - error_rate) ** (len(events) - sum(drawn))
    return probability


def test_the_false_alarm_rate_is_the_one_that_is_stated() -> None:
    """Over every way to err at the rate of 10 %, each with its probability."""
    comparisons = ("", "warm", "salted")
    alone = [((number, which),) for number in range(SERIES) for which in comparisons]
    assert accused(alone, 0.1) == pytest.approx((0.1 * 0.9**2) ** 3)
    # The worst case: each prompt is either right throughout or wrong only when warm.
    assert accused([((number, "warm"),) for number in range(SERIES)], 0.1) == pytest.approx(0.001)
    # What hangs together the other way, a prompt being wrong throughout, accuses nobody.
    throughout = [tuple((number, which) for which in comparisons) for number in range(SERIES)]
    assert accused(throughout, 0.1) == 0


def test_raw_text_is_never_compared() -> None:
    prompt = Prompt()
    cold = prompt.exchange(0, f"Sure! Code {prompt.nonce}; shelf: {prompt.code}.")
    other = prompt.exchange(
        1, f"{prompt.code}\n\n{prompt.nonce} (both)", reference=0, comparison="warm"
    )
    assert variants([cold, other]) == []


def test_an_answer_that_is_better_than_its_reference_is_no_difference() -> None:
    prompt = Prompt()
    cold = prompt.exchange(0, "I do not know.")
    again = prompt.exchange(1, prompt.right, reference=0, comparison="warm")
    assert variants([cold, again]) == []


def test_a_fresh_prompt_of_the_same_kind_is_compared_by_what_it_was_to_say() -> None:
    alone, member = Prompt(), Prompt()
    control = alone.exchange(0, alone.right)
    fine = member.exchange(1, member.right, reference=0, comparison="concurrent")
    lost = member.exchange(1, member.code, reference=0, comparison="concurrent")
    assert variants([control, fine]) == []
    assert variants([control, lost]) == [(1, "differs")]


def test_a_needle_that_was_recalled_before_is_missed() -> None:
    prompt, far = Prompt(), BENCH.mint()
    needles = (Needle(place="head", text=far),)
    cold = prompt.exchange(0, f"{prompt.right} {far}", needles=needles)
    again = prompt.exchange(1, prompt.right, needles=needles, reference=0, comparison="warm")
    assert variants([cold, again]) == [(1, "differs")]


@pytest.mark.parametrize("reference", [None, 7, 1], ids=["none", "missing", "itself"])
def test_without_a_whole_reference_there_is_nothing_to_compare(reference) -> None:
    prompt = Prompt()
    exchanges = [prompt.exchange(1, "", reference=reference, comparison="warm")]
    [signal] = CHECK.judge(a_trial(*exchanges), exchanges[0], HISTORY)
    assert signal.status is Status.SKIP


def test_a_stored_answer_is_no_second_sample() -> None:
    prompt = Prompt()
    cold = prompt.exchange(0, prompt.right)
    again = prompt.exchange(1, prompt.nonce, reference=0, comparison="warm")
    again = replace(again, response=replace(again.response, response_id=cold.response.response_id))
    [signal] = CHECK.judge(a_trial(cold, again), again, HISTORY)
    assert signal.status is Status.SKIP


# --- Calls and JSON


def calling(index: int, arguments: str, name: str = "book", **expectation) -> Exchange:
    exchange = an_exchange(
        "Book a table for two.",
        "",
        index=index,
        response={"tool_calls": (ToolCall(name=name, arguments=arguments),)},
        tool="book",
        **expectation,
    )
    tools = (Tool(name="book", description="", parameters="{}"),)
    return replace(exchange, request=replace(exchange.request, tools=tools))


@pytest.mark.parametrize(
    ("arguments", "name", "found"),
    [
        ('{"for": 2, "where": "inside"}', "book", []),
        ('{"where":  "Inside ", "for": 2.0}', "book", []),
        ('{"for": "2", "where": "inside"}', "book", [(1, "differs")]),
        ('{"for": 2, "for": 2, "where": "inside"}', "book", [(1, "differs")]),
        ('{"for": 3, "where": "inside"}', "book", [(1, "differs")]),
        ('{"for": 2, "where', "book", [(1, "differs")]),
        ('{"for": 2, "where": "inside"}', "cancel", [(1, "differs")]),
    ],
    ids=["same", "spelt otherwise", "other type", "name twice", "other value", "cut", "other tool"],
)
def test_calls_are_compared_in_canonical_form(arguments, name, found) -> None:
    first = calling(0, '{"for": 2, "where": "inside"}')
    again = calling(1, arguments, name, reference=0, comparison="stream")
    assert variants([first, again]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"b": [1, 2], "a": "x"}', []),
        ('{"a": "y", "b": [1, 2]}', [(1, "differs")]),
        ("no JSON", [(1, "differs")]),
        ("[" * 100_000, [(1, "differs")]),
    ],
    ids=["same", "other value", "none", "nested"],
)
def test_json_is_compared_parsed(text: str, found) -> None:
    def asked(index: int, answer: str, **expectation) -> Exchange:
        exchange = an_exchange("Fill in.", answer, index=index, **expectation)
        return replace(exchange, request=replace(exchange.request, json_schema="{}"))

    first = asked(0, '{"a": "x", "b": [1, 2]}')
    again = asked(1, text, reference=0, comparison="warm")
    assert variants([first, again]) == found


# --- Stream and plain


def streamed(
    *, answer: str = "It is 42.", counts: tuple[int, int, int | None] = (50, 5, 0), **fields
) -> list[Exchange]:
    """Return one prompt asked plainly (50 tokens in, 5 out) and as a stream."""
    prompt_tokens, output_tokens, cached = counts
    plain = an_exchange(
        "What is 6 x 7?", "It is 42.", usage={"input_tokens": 50, "output_tokens": 5}
    )
    stream = an_exchange(
        "What is 6 x 7?",
        answer,
        index=1,
        usage={
            "input_tokens": prompt_tokens,
            "output_tokens": output_tokens,
            "cached_tokens": cached,
        },
        response=fields,
        reference=0,
        comparison="stream",
    )
    return [plain, replace(stream, request=replace(stream.request, stream=True))]


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((50, 5, None), []),
        ((52, 5, None), []),
        ((2, 5, 48), []),
        ((53, 5, 0), []),
        ((0, 5, 0), [(1, "stream_tokens")]),
        ((25, 5, 0), [(1, "stream_tokens")]),
        ((101, 5, None), [(1, "stream_tokens")]),
    ],
    ids=["same", "time of day", "cached beside", "another tokenizer", "none", "half", "double"],
)
def test_one_prompt_has_one_count(counts, found) -> None:
    assert variants(streamed(counts=counts)) == found


def test_other_counts_for_another_prompt_are_no_contradiction() -> None:
    plain, stream = streamed(counts=(90, 5, 0))
    longer = Request(messages=(*stream.request.messages,) * 2, max_output_tokens=64)
    assert variants([plain, replace(stream, request=longer)]) == []


def test_the_same_answer_cannot_be_cut_once_and_whole_once() -> None:
    assert variants(streamed(finish_reason="length")) == [(1, "stream_finish")]
    verdict = BENCH.judge(*streamed(finish_reason="length", counts=(50, 5, 0)))
    assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "It is 42. That is because", "finish_reason": "length"},
        {"counts": (50, 64, 0), "finish_reason": "length"},
        {"answer": "42 it is, my friend."},
        {"finish_reason": "tool_calls"},
    ],
    ids=["longer", "unseen tokens", "other words", "gateway's word for stop"],
)
def test_what_may_vary_between_stream_and_plain_is_no_contradiction(fields) -> None:
    assert variants(streamed(**fields)) == []


def test_no_explanation_quotes_an_answer() -> None:
    exchanges = repeats(warm(0, 1, 2))
    said = [e.response.text for e in exchanges]
    for exchange in exchanges:
        for signal in CHECK.judge(a_trial(*exchanges), exchange, HISTORY):
            assert not any(part in signal.explanation for text in said for part in text.split())


def test_expectations_of_another_kind_are_not_held_against_an_exchange() -> None:
    prompt = Prompt()
    cold = prompt.exchange(0, prompt.right)
    bare = replace(
        prompt.exchange(1, "Hello."), expectation=Expectation(reference=0, comparison="warm")
    )
    assert variants([cold, bare]) == []
