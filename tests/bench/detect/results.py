"""Everything the bench finds, part by part, each with a seed of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.bench.detect import (
    alarms_over,
    coverage,
    delays,
    fleets,
    many,
    repeats,
    scores,
    speed,
    two_sample,
)
from tests.bench.detect.numbers import Number

SEED = 20_261


@dataclass(frozen=True)
class Results:
    """What was measured."""

    fleets: list[fleets.Counted]
    uncorrected: tuple[float, float]
    settings: list[delays.Setting]
    over: list[alarms_over.Over]
    coverage: list[coverage.Coverage]
    numbers: list[Number]
    speed: speed.Speed


def _rows(of: Callable[[float, int], Iterator[Number]], scale: float, seed: int) -> list[Number]:
    return list(of(scale, seed))


def parts(scale: float) -> dict[str, Callable[[], Any]]:
    """Return what is to be done, the longest first."""
    jobs: dict[str, Callable[[], Any]] = {
        "two_sample": partial(_rows, two_sample.rows, scale, SEED),
        "fleets": partial(fleets.measure, scale, SEED),
        "over": partial(alarms_over.measure, scale, SEED),
    }
    for y0 in reversed(delays.TOLERANCES):
        jobs[f"delays {y0}"] = partial(delays.measure, y0, scale, SEED)
    jobs |= {
        "repeats": partial(_rows, repeats.rows, scale, SEED),
        "scores": partial(_rows, scores.rows, scale, SEED),
        "many": partial(_rows, many.rows, scale, SEED),
        "uncorrected": partial(fleets.uncorrected, scale, SEED),
        "coverage": partial(coverage.measure, scale, SEED),
    }
    return jobs


def measured(scale: float, say: Callable[[str], None], *, jobs: int = 2) -> Results:
    """Measure everything; ``scale`` 1 is what the page shows."""
    work = parts(scale)
    found: dict[str, Any] = {}
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            waiting = {name: pool.submit(job) for name, job in work.items()}
            for name, future in waiting.items():
                found[name] = future.result()
                say(name)
    else:
        for name, job in work.items():
            found[name] = job()
            say(name)
    # Last, when nothing else of ours runs.
    timed = speed.measure(scale, SEED)
    return Results(
        fleets=found["fleets"],
        uncorrected=found["uncorrected"],
        settings=[found[f"delays {y0}"] for y0 in delays.TOLERANCES],
        over=found["over"],
        coverage=found["coverage"],
        numbers=[
            each for name in ("repeats", "many", "scores", "two_sample") for each in found[name]
        ],
        speed=timed,
    )
