"""What a score costs: processor time of this process, so that a busy machine changes little."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from monitor.detect.esr import rate_detector, values_over
from monitor.detect.kept import text_of, watch_of
from monitor.detect.watch import Thresholds, begin, step
from tests.bench.detect.evidence import alarms
from tests.bench.detect.failures import drawn

Y0, THRESHOLD = 0.01, 2_592_000.0
DAY = 288


@dataclass(frozen=True)
class Speed:
    """Seconds of processor time a score, or a second's scores."""

    dense_a_second: float
    rare_a_second: float
    step_seconds: float
    restart_seconds: float
    day_ratio: float
    month_ratio: float


def measure(scale: float, seed: int) -> Speed:
    """Time each way; a daemon pays ``step_seconds``."""
    rng = np.random.default_rng(seed)
    streams, instants = 5000, max(50, int(scale * 600))
    scores = (rng.random((streams, instants)) < Y0).astype(float)
    dense = _seconds(lambda: values_over(rate_detector(Y0, THRESHOLD), scores))
    rare = drawn(Y0, 5000, max(2000, int(scale * 20_000)), rng)
    jumps = _seconds(lambda: alarms(rare, Y0, THRESHOLD))
    many = max(1800, int(scale * 100_000))
    failed = (rng.random(many) < Y0).tolist()
    one = _seconds(lambda: _follow(failed)) / many
    watch = _follow(failed)
    again = max(20, int(scale * 500))
    restart = _seconds(lambda: [watch_of(text_of(watch)) for _ in range(again)]) / again
    return Speed(
        dense_a_second=streams * instants / dense,
        rare_a_second=rare.scores / jumps,
        step_seconds=one,
        restart_seconds=restart,
        day_ratio=_seconds(lambda: _follow(failed[:DAY])) / one,
        month_ratio=_seconds(lambda: _follow((failed * 5)[: 30 * DAY])) / one,
    )


def _follow(failed: list[bool]):
    watch = begin(Y0, Thresholds(page=THRESHOLD, ticket=THRESHOLD / 12))
    for each in failed:
        watch = step(watch, each, Y0)
    return watch


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return max(1e-9, time.process_time() - began)
