"""Numbers of the design study on streams of 0 and 1, worked out again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.detect.binomial import tail_probability
from monitor.detect.card import failures_of
from monitor.detect.esr import rate_bets
from tests.bench.detect import rivals
from tests.bench.detect.evidence import alarms, first_places
from tests.bench.detect.failures import Failures, Floats, Ints, drawn, then
from tests.bench.detect.numbers import Number, median, rate, share

# A score a minute; one false alarm in 30 days.
HOUR, DAY, MONTH = 60, 1440, 43_200
WEEK = 7 * DAY

# A rate of failures -> medians of e-SR, e-CUSUM, burn rates and the bettor who began once, at 1 %.
AT_ONE_PERCENT = {
    0.03: (443, 791, 22_389, 9214),
    0.06: (121, 170, 360, 3132),
    0.15: (30, 37, 59, 1044),
    0.5: (6, 7, 17, 293),
    1.0: (3, 3, 9, 145),
}
# The same of e-SR and burn rates at 0.1 %.
AT_ONE_IN_A_THOUSAND = {
    0.01: (382, 63),
    0.03: (98, 27),
    0.1: (23, 6),
    0.5: (3, 1),
    1.0: (2, 1),
}
CARDS = {
    (0.01, 43_200): (3, 4, 6, 7, 14, 31),
    (0.01, 525_600): (None, 5, 7, 8, 16, 35),
    (0.001, 43_200): (2, 3, 3, 3, 5, 8),
    (0.001, 525_600): (3, 3, 4, 4, 6, 10),
}
CARD_WINDOWS = (3, 10, 30, 60, 360, 1440)
BURNS = {
    0.999: (1000, 167, 83, 16.7, 2.8),
    0.99: (100, 16.7, 8.3, 1.7, 0.3),
    0.95: (20, 3.3, 1.7, 0.3, 0.1),
}


def rows(scale: float, seed: int) -> Iterator[Number]:
    """Work them all out."""
    rng = np.random.default_rng(seed)
    runs = max(10, int(scale * 1000))
    yield from _promises(runs, rng)
    yield from _delays(runs, rng)
    yield from _false_alarms(max(4, runs // 5), rng)
    yield from arithmetic()


def _promises(runs: int, rng: np.random.Generator) -> Iterator[Number]:
    short = drawn(0.02, runs, 2000, rng)
    early = np.isfinite(first_places(short, *alarms(short, 0.02, 2000.0))).sum()
    yield share("e-SR, y0 2 %, threshold 2,000: alarm within 2,000", 0.359, int(early), runs)
    for kind, y0, theirs, many in (
        ("e-SR", 0.02, 2.3, 40),
        ("e-SR", 0.01, 2.3, 40),
        ("e-CUSUM", 0.02, 16.0, 300),
        ("e-CUSUM", 0.01, 16.0, 300),
    ):
        null = drawn(y0, max(4, runs // 10), 2000 * many, rng)
        raised = len(alarms(null, y0, 2000.0, kind=kind)[0])
        mean = null.scores / max(1, raised) / 2000
        error = mean / max(1, raised) ** 0.5
        about = f"{kind}: scores between false alarms, over a threshold of 2,000, y0 {y0:.0%}"
        yield Number(about, theirs, mean, error, digits=1, note="threshold not given")
    yield _esr_mean(max(4, runs // 5), rng)


def _esr_mean(streams: int, rng: np.random.Generator) -> Number:
    null = drawn(0.02, streams, 80_000, rng)
    raised = len(alarms(null, 0.02, 2000.0)[0])
    mean = null.scores / max(1, raised)
    about = "e-SR, y0 2 %, threshold 2,000: mean scores to a false alarm"
    return Number(about, 4542, mean, mean / max(1, raised) ** 0.5)


def _delays(runs: int, rng: np.random.Generator) -> Iterator[Number]:
    for failing, theirs in AT_ONE_PERCENT.items():
        failures = _faulty(0.01, failing, runs, rng)
        for kind, value in zip(("e-SR", "e-CUSUM"), theirs[:2], strict=True):
            yield median(_about(kind, 0.01, failing), value, _waited(failures, 0.01, kind))
        yield median(_about("burn rates", 0.01, failing), theirs[2], _burned(failures, 0.01))
        yield median(
            _about("e-process begun once, at 20", 0.01, failing),
            theirs[3],
            _waited(failures, 0.01, "e-process", 20.0),
        )
    for failing, (ours, burned) in AT_ONE_IN_A_THOUSAND.items():
        failures = _faulty(0.001, failing, runs, rng)
        yield median(_about("e-SR", 0.001, failing), ours, _waited(failures, 0.001, "e-SR"))
        yield median(_about("burn rates", 0.001, failing), burned, _burned(failures, 0.001))


def _about(kind: str, y0: float, failing: float) -> str:
    return f"{kind}, y0 {y0:.1%}: scores until a page at {failing:.0%}"


def _faulty(y0: float, failing: float, runs: int, rng: np.random.Generator) -> Failures:
    horizon = int(min(MONTH, max(2000, 1500 / failing)))
    return then(drawn(y0 / 10, runs, WEEK, rng), drawn(failing, runs, horizon, rng))


def _waited(failures: Failures, y0: float, kind: str, threshold: float = MONTH) -> Floats:
    found = alarms(failures, y0, threshold, kind=kind)
    return first_places(failures, *found, after=WEEK) - WEEK


def _burned(failures: Failures, y0: float) -> Floats:
    fires = rivals.burn_rates(failures, y0, 1.0, HOUR)
    return first_places(failures, failures.stream[fires], failures.place[fires], after=WEEK) - WEEK


def _false_alarms(runs: int, rng: np.random.Generator) -> Iterator[Number]:
    for y0, peeked, daily, process, naive in (
        (0.01, 0.36, 0.21, 0.023, 131),
        (0.001, 0.29, 0.18, 0.021, 38),
    ):
        null, at = drawn(y0, runs, MONTH, rng), f"at y0 {y0:.1%}, 30 days"
        latest = _latest(y0, int(MONTH * y0 + 8 * (MONTH * y0) ** 0.5) + 3)
        so_far = null.so_far()
        fires = null.place <= latest[np.minimum(so_far, len(latest) - 1)]
        about = f"binomial test at 5 %, peeked at every score, {at}"
        yield share(about, peeked, len(np.unique(null.stream[fires])), runs)
        yield share(f"the same, every day, {at}", daily, _daily(null, latest), runs)
        many = len(np.unique(alarms(null, y0, 20.0, kind="e-process", once=True)[0]))
        yield share(f"e-process begun once, at 20, {at}", process, many, runs)
        fires = null.in_last(HOUR) > y0 * HOUR
        events = rivals.episodes(null, fires, quiet=2 * HOUR)
        yield rate(f"share of an hour above y0: pages, {at}", naive, events, runs)
    for failing, theirs in ((0.001, 40), (0.0001, 4.2)):
        null = drawn(failing, runs, MONTH, rng)
        fires = rivals.burn_rates(null, 0.001, 1.0, HOUR)
        events = rivals.episodes(null, fires, quiet=HOUR + 5)
        about = f"burn rates, y0 0.1 %, {failing:.2%} fail, 30 days: pages"
        yield rate(about, theirs, events, runs, note="an hour of quiet ends a page")


def _latest(y0: float, most: int) -> Ints:
    """Return, for each number of failures, until which score it is significant at 5 %."""
    latest = np.zeros(most + 1, dtype=np.int64)
    for failures in range(1, most + 1):
        low, high = failures - 1, MONTH + 1
        while high - low > 1:
            middle = (low + high) // 2
            if tail_probability(failures, middle, y0) < 0.05:
                low = middle
            else:
                high = middle
        latest[failures] = low if low >= failures else 0
    return latest


def _daily(null: Failures, latest: Ints) -> int:
    """Return how many streams are significant at the end of any day."""
    hit = np.zeros(null.streams, dtype=bool)
    for end in range(DAY, null.length + 1, DAY):
        counts = np.bincount(null.stream[null.place <= end], minlength=null.streams)
        hit |= end <= latest[np.minimum(counts, len(latest) - 1)]
    return int(hit.sum())


def arithmetic() -> Iterator[Number]:
    """Work out what takes no simulation."""
    for period, window, theirs in ((0.02, 1, 14.4), (0.05, 6, 6), (0.10, 72, 1)):
        about = f"burn rate that spends {period:.0%} of 30 days in {window} h"
        yield Number(about, theirs, period * 720 / window, digits=1)
    for objective, burns in BURNS.items():
        for an_hour, theirs in zip((1, 6, 12, 60, 360), burns, strict=True):
            about = f"one-hour burn of one failure, {objective:.1%}, {an_hour} probes an hour"
            digits = 1 if theirs < 20 else 0
            yield Number(about, theirs, 1 / (an_hour * (1 - objective)), digits=digits)
    yield Number("probes in 5 min for 5 failures at 14.4, 99.9 %", 347, 5 / (14.4 * 0.001))
    for (y0, threshold), cells in CARDS.items():
        for scores, theirs in zip(CARD_WINDOWS, cells, strict=True):
            about = f"failures of {scores} that alarm, y0 {y0:.1%}, threshold {threshold:,}"
            ours = failures_of(scores, y0, threshold)
            yield Number(about, theirs or 0, ours or 0, note="" if theirs else "0: not even all")
    for burn in (2, 4):
        bet = rate_bets(0.01)[burn // 2 - 1]
        about = f"healthy value of the bet on {burn} times 1 %"
        yield Number(about, (1 - burn * 0.01) / ((burn - 1) * 0.01), (1 - bet) / bet, digits=3)
