"""TIMING: a prompt that was read sooner than ever, and a stream that paused for long."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from monitor.checks import timing
from monitor.checks.remembered import remembered
from monitor.checks.timing import LEAST_COMPARABLE, LEAST_GAPS, prefill_tokens_per_second
from monitor.history import Observation
from monitor.longtext import filler
from monitor.model import Calibration, Exchange, Signal, Status, Timing, VerdictClass
from tests.builders import NOW, Bench, a_trial, an_exchange, failures

BENCH = Bench()


def long_prompt(
    seconds: float,
    *,
    index: int = 0,
    sentences: int = 400,
    stream: bool = True,
    gap: float | None = 0.1,
    tokens: int = 4400,
    written: int = 40,
    **response,
) -> Exchange:
    """Return a long, fresh prompt whose first token came after so many seconds."""
    code = BENCH.mint("tenant-b", index, "trial-now")
    prompt = f"The code is {code}. " + " ".join(filler(sentences))
    one = an_exchange(
        prompt,
        "Yes.",
        index=index,
        usage={"input_tokens": tokens, "output_tokens": written, **response.pop("usage", {})},
        response=response,
    )
    times = Timing(
        started_at=NOW,
        total_seconds=seconds + (1.0 if stream else 0.0),
        first_token_seconds=seconds if stream else None,
        longest_gap_seconds=gap if stream else None,
    )
    return replace(one, timing=times, request=replace(one.request, stream=stream))


def past(count: int = LEAST_GAPS, **fields) -> tuple[Observation, ...]:
    rng, found = Random(3), []
    for _ in range(count):
        one = long_prompt(rng.uniform(2.0, 3.0), **fields)
        found.append(remembered(a_trial(one), one, BENCH.history))
    return tuple(found)


def judged(exchange: Exchange, earlier: tuple[Observation, ...], **fields) -> list[Signal]:
    history = replace(BENCH.history, earlier=earlier, **fields)
    return list(timing.CHECK.judge(a_trial(exchange), exchange, history))


def variants(exchange: Exchange, earlier: tuple[Observation, ...], **fields) -> set[str]:
    return {s.variant for s in judged(exchange, earlier, **fields) if s.status is Status.FAIL}


def test_a_prompt_read_ten_times_as_fast_as_ever_is_flagged() -> None:
    assert variants(long_prompt(0.2), past()) == {"too_fast"}
    assert variants(long_prompt(1.0), past()) == set()
    verdict = BENCH.judge(long_prompt(0.2), history=replace(BENCH.history, earlier=past()))
    assert ("TIMING", "too_fast") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.SUSPECT


def test_not_before_enough_comparable_prompts_were_seen() -> None:
    few = past(LEAST_COMPARABLE - 1)
    assert [s.status for s in judged(long_prompt(0.01), few)] == [Status.SKIP]
    assert variants(long_prompt(0.01), past(LEAST_COMPARABLE)) == {"too_fast"}


@pytest.mark.parametrize(
    "earlier",
    [
        past(sentences=180),
        past(stream=False),
        past(reasoning_text="", usage={"reasoning_tokens": 500}),
    ],
    ids=["half as long", "sent whole", "thought in secret"],
)
def test_what_is_not_comparable_says_nothing(earlier) -> None:
    assert "too_fast" not in variants(long_prompt(0.05), earlier)


def test_whole_answers_are_compared_with_whole_ones_of_their_length() -> None:
    earlier = past(stream=False)
    assert variants(long_prompt(0.2, stream=False), earlier) == {"too_fast"}
    assert variants(long_prompt(0.2, stream=False, written=3), earlier) == set()


def test_a_prompt_that_a_cache_may_know_is_not_timed() -> None:
    one = long_prompt(0.05)
    again = replace(one, index=1)
    trial, history = a_trial(one, again), replace(BENCH.history, earlier=past())
    [signal] = timing.CHECK.judge(trial, again, history)
    assert signal.status is not Status.FAIL


def test_short_prompts_and_quick_targets_are_left_alone() -> None:
    short = long_prompt(0.001, sentences=100)
    assert "too_fast" not in variants(short, past(sentences=100))
    fast = tuple(replace(o, waited_seconds=0.1) for o in past())
    assert variants(long_prompt(0.001), fast) == set()


def test_hidden_thoughts_are_no_time_of_reading() -> None:
    thought = long_prompt(0.05, usage={"reasoning_tokens": 300})
    assert variants(thought, past()) == set()
    assert variants(long_prompt(0.05, reasoning_text="Hm.", usage={"reasoning_tokens": 3}), past())


def test_the_calibrations_rate_is_that_of_two_thousand_tokens() -> None:
    history = replace(BENCH.history, calibration=a_calibration(1000.0))
    one = long_prompt(0.5)
    [signal] = timing.CHECK.judge(a_trial(one), one, history)
    assert signal.variant == "too_fast"  # 2,000 tokens took at least 2 s
    slow = long_prompt(0.7)
    [signal] = timing.CHECK.judge(a_trial(slow), slow, history)
    assert signal.status is Status.PASS


def a_calibration(rate: float) -> Calibration:
    return Calibration(
        id="calibration-1",
        target="glm",
        model="glm-5.3",
        made_at=NOW,
        made_by="a test",
        reason="a test",
        subject="a test",
        checks_version="2",
        tolerance=0.1,
        best_prefill_tokens_per_second=rate,
    )


def test_the_rate_for_a_calibration_is_of_long_fresh_streams_alone() -> None:
    rates = [
        prefill_tokens_per_second(a_trial(one), one, BENCH.registry)
        for one in (
            long_prompt(2.0),
            long_prompt(2.0, stream=False),
            long_prompt(2.0, tokens=1500),
            long_prompt(2.0, usage={"reasoning_tokens": 9}),
        )
    ]
    assert rates == [2200.0, None, None, None]


@pytest.mark.parametrize(
    ("gap", "flagged"), [(60.0, True), (9.0, False), (None, False)], ids=["long", "short", "none"]
)
def test_a_long_pause_is_flagged(gap: float | None, *, flagged: bool) -> None:
    assert ("stream_gap" in variants(long_prompt(2.5, gap=gap), past())) is flagged


def test_a_target_that_always_pauses_is_left_alone() -> None:
    assert variants(long_prompt(2.5, gap=60.0), past(gap=8.0)) == set()
    assert variants(long_prompt(2.5, gap=60.0), past(LEAST_GAPS - 1)) == set()
