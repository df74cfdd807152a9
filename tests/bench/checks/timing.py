"""TIMING on simulated times: prefill with and without a floor, pauses of light and heavy tails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from monitor.checks.timing import CHECK, LEAST_COMPARABLE
from monitor.history import Observation, observe
from monitor.model import Exchange, Status, Timing
from tests.bench.checks.table import Row
from tests.builders import NOW, Bench, a_trial, an_exchange

TARGETS = 1000
# What a target remembers of long streams when it is judged.
REMEMBERED = 24
# Tokens a second, and bytes a token, of the simulated engines.
PREFILL, BYTES = 4000.0, 4.5
Draw = Callable[[Random], float]


def lognormal(sigma: float) -> Draw:
    """Return factors whose median is 1."""
    return lambda rng: rng.lognormvariate(0.0, sigma)


def pareto(index: float) -> Draw:
    """Return factors of at least 1 with a heavy tail."""
    return lambda rng: rng.paretovariate(index)


def floored(draw: Draw) -> Draw:
    """Return factors that only ever add to the time the work takes."""
    return lambda rng: 1.0 + draw(rng)


def target(rng: Random, prefill: Draw, pause: Draw) -> Iterator[tuple[float, float, int]]:
    """Yield the first token's time, the longest pause and the bytes of long streamed prompts."""
    while True:
        size = round(rng.uniform(10_000, 60_000))
        yield prefill(rng) * size / BYTES / PREFILL, 0.5 * pause(rng), size


BENCH = Bench()
CODE = BENCH.mint("tenant-b", 0, "trial-now")


def observed(seconds: float, gap: float, size: int) -> Observation:
    """Return what is remembered of such a stream."""
    one = streamed(seconds, gap, 100)
    return replace(
        observe(a_trial(one), one), fresh_bytes=size, prompt_bytes=size, waited_seconds=seconds
    )


def streamed(seconds: float, gap: float, size: int) -> Exchange:
    """Return such a stream."""
    one = an_exchange(f"{CODE} " + "a " * (size // 2), "Yes.")
    times = Timing(
        started_at=NOW,
        total_seconds=seconds + 1.0,
        first_token_seconds=seconds,
        longest_gap_seconds=gap,
    )
    return replace(one, timing=times, request=replace(one.request, stream=True))


def failed(exchange: Exchange, past: tuple[Observation, ...], variant: str) -> bool:
    """Tell whether the answer fails with a variant after those seen."""
    history = replace(BENCH.history, earlier=past)
    found = CHECK.judge(a_trial(exchange), exchange, history)
    return any(s.status is Status.FAIL and s.variant == variant for s in found)


def _row(name: str, variant: str, prefill: Draw, pause: Draw) -> Row:
    rng, counts = Random(f"{name} {variant}"), [0, 0, 0, 0]
    for _ in range(TARGETS):
        times = target(rng, prefill, pause)
        past = tuple(observed(*next(times)) for _ in range(REMEMBERED))
        seconds, gap, size = next(times)
        well = streamed(seconds, gap, size)
        # A prompt that was not read: what is left is the way there and back. A stream that hangs.
        ill = streamed(rng.uniform(0.02, 0.1), gap, size)
        if variant == "stream_gap":
            ill = streamed(seconds, rng.uniform(20.0, 60.0), size)
        flagged = [failed(ill, past, variant), failed(well, past, variant)]
        naive = [_naive(each, past, variant) for each in (ill, well)]
        for place, hit in enumerate([*flagged, *naive]):
            counts[place] += hit
    return Row(
        check="TIMING",
        input_set=f"{variant}: {name}",
        positives=TARGETS,
        true_positives=counts[0],
        negatives=TARGETS,
        false_positives=counts[1],
        naive_name="outside of mean ± 3 sigma",
        naive_true_positives=counts[2],
        naive_false_positives=counts[3],
    )


def _naive(exchange: Exchange, past: tuple[Observation, ...], variant: str) -> bool:
    """Fail what is three standard deviations from the mean of the times seen."""
    if variant == "stream_gap":
        values = [o.gap_seconds or 0.0 for o in past]
        return (exchange.timing.longest_gap_seconds or 0.0) > _mean(values) + 3 * _sigma(values)
    values = [o.waited_seconds or 0.0 for o in past]
    return (exchange.timing.first_token_seconds or 0.0) < _mean(values) - 3 * _sigma(values)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _sigma(values: list[float]) -> float:
    return math.sqrt(sum((v - _mean(values)) ** 2 for v in values) / (len(values) - 1))


def rows() -> list[Row]:
    """Return a row for each shape of times."""
    assert REMEMBERED >= LEAST_COMPARABLE
    pause = lognormal(0.5)
    return [
        _row("prefill and a lognormal queue", "too_fast", floored(lognormal(1.0)), pause),
        _row("lognormal, sigma 0.5, no floor", "too_fast", lognormal(0.5), pause),
        _row("lognormal pauses, sigma 0.7", "stream_gap", floored(pause), lognormal(0.7)),
        _row("lognormal pauses, sigma 1", "stream_gap", floored(pause), lognormal(1.0)),
        _row("pauses with a Pareto tail, 1.5", "stream_gap", floored(pause), pareto(1.5)),
    ]
