"""What is remembered of exchanges: bounded, small, and never their text."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.remembered import remembered
from monitor.history import (
    REMEMBERED_ANSWERS,
    REMEMBERED_EXCHANGES,
    REMEMBERED_PROMPTS,
    Finger,
    Memory,
    Observation,
    observe,
    sent_id,
)
from monitor.model import Exchange, Timing
from monitor.prompts import AnyOf, GoldenPrompt
from tests.builders import NOW, Bench, a_trial, an_exchange

# With all that is kept: 1,000 targets take a quarter of a gigabyte at most.
MOST_BYTES = 1000
BENCH = Bench()
PROMPT = GoldenPrompt(
    suite="facts",
    id="hamlet",
    language="en",
    prompt="Who wrote Hamlet?",
    expectations=(AnyOf(strings=("Shakespeare",)),),
    max_output_tokens=48,
)
HISTORY = replace(BENCH.history, golden={PROMPT.name: PROMPT})


def full(number: int = 0) -> Exchange:
    """Return an exchange of which everything is remembered that can be."""
    code = BENCH.mint("tenant-b", number, "trial-now")
    exchange = an_exchange(
        f"{code} " + "The morning train left on time. " * 400,
        f"Shakespeare, {code}",
        index=number,
        nonce=code,
        golden=PROMPT.name,
        golden_version=PROMPT.version,
        size_tokens=3000,
        size_error_tokens=30,
        response={
            "response_id": f"chatcmpl-{Random(number).getrandbits(128):032x}",
            "model": "zai-org/GLM-5.3-FP8",
            "system_fingerprint": "vllm-0.20.2-68c8e8ed",
        },
        usage={"input_tokens": 3000, "cached_tokens": 512, "output_tokens": 321},
    )
    timing = Timing(
        started_at=NOW, total_seconds=3.25, first_token_seconds=1.125, longest_gap_seconds=0.375
    )
    sent = f"{Random(number).getrandbits(128):032x}"
    streamed = replace(exchange.request, stream=True)
    return replace(exchange, timing=timing, sent_request_id=sent, request=streamed)


def test_an_observation_is_small() -> None:
    """What many share (names, the trial's id) is one object, and counted once a thousand."""
    kept = [remembered(a_trial(e), e, HISTORY) for e in (full(n) for n in range(64))]
    assert all(None not in _values(each) for each in kept)
    each = {id(v): v for one in kept for v in (one, *_values(one), *(one.finger or ()))}
    assert sum(map(sys.getsizeof, each.values())) / len(kept) < MOST_BYTES


def _values(observation: Observation) -> list[Any]:
    names = {field.name for field in fields(Observation)} - {"stale_from", "task"}
    return [getattr(observation, name) for name in names]


def test_names_that_many_answers_repeat_are_kept_once() -> None:
    one, two = (
        observe(a_trial(), an_exchange(response={"model": str(b"glm-5.3", "ascii")}))
        for _ in range(2)
    )
    assert one.model is two.model


def test_the_oldest_are_forgotten() -> None:
    memory = Memory()
    for number in range(REMEMBERED_EXCHANGES + 10):
        memory.remember([observe(a_trial(id=f"trial-{number}"), an_exchange())])
    assert len(memory.recall()) == REMEMBERED_EXCHANGES
    assert memory.recall()[0].trial == "trial-10"


def test_answers_to_golden_prompts_outlive_other_exchanges() -> None:
    memory, plain = Memory(), observe(a_trial(), an_exchange())
    memory.remember([replace(plain, finger=Finger("facts/a@1", n)) for n in range(100)])
    memory.remember([plain] * REMEMBERED_EXCHANGES)
    assert {o.finger for o in memory.recall()} == {None}
    [(prompt, seen)] = memory.recall_fingers().items()
    assert prompt == "facts/a@1"
    assert [finger.facts for finger in seen] == list(range(100 - REMEMBERED_ANSWERS, 100))


def test_prompts_without_end_take_no_room_without_end() -> None:
    memory, plain = Memory(), observe(a_trial(), an_exchange())
    for number in range(REMEMBERED_PROMPTS + 5):
        memory.remember([replace(plain, finger=Finger(f"facts/{number}@1", 1))])
    assert len(memory.recall_fingers()) == REMEMBERED_PROMPTS
    assert "facts/4@1" not in memory.recall_fingers()


def test_the_id_that_was_sent_is_kept_in_part() -> None:
    assert sent_id("0123456789abcdef" * 2) == 0x0123456789ABCDEF
    assert sent_id("") is None


@given(
    st.text(max_size=400),
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=40)), max_size=3),
)
def test_whatever_came_can_be_remembered(text: str, headers: list[tuple[str, str]]) -> None:
    """It runs outside of the checks' own guard, so it must never crash."""
    one = full(1)
    assert one.response is not None
    answer = f"☃{text}☃"
    odd = replace(
        one.response,
        text=answer,
        model=text[:50],
        system_fingerprint=text,
        headers=tuple(headers),
        response_id=text[:9],
    )
    kept = remembered(a_trial(one), replace(one, response=odd), HISTORY)
    assert kept.finger is not None
    assert "☃" not in repr(replace(kept, model="", system_fingerprint="", response_id=""))


HOSTILE = (
    "\ud800 lone",
    "{" * 5000,
    '{"a":' * 900 + "1" + "}" * 900,
    "9" * 5000,
    "1.2.3,4.5" * 3000,
    "\u0663\u0664" * 500,
    "a" * 300_000,
    "1. x\n" * 50_000,
    '{"n": 1e999999, "m": NaN}',
    "\U0010ffff" * 1000,
)


def test_hostile_answers_can_be_remembered() -> None:
    prompts = [replace(PROMPT, structure=kind) for kind in ("text", "json", "code")]
    for prompt in prompts:
        known = replace(HISTORY, golden={prompt.name: prompt})
        for text in HOSTILE:
            one = full(1)
            assert one.response is not None
            asked = replace(one.expectation, golden_version=prompt.version)
            odd = replace(one, response=replace(one.response, text=text), expectation=asked)
            assert remembered(a_trial(odd), odd, known).finger is not None
