"""Detectors of evidence on many streams at once, from failure to failure.

Between two failures the values are known in closed form, and only a failure raises an alarm, so
that nothing else is computed. ``tests/unit/detect/test_bench.py`` holds it to the product's own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.detect.esr import rate_bets
from tests.bench.detect.failures import Failures, Floats, Ints

# value before, growth of each bet over a clean score, clean scores -> value before the failure
Rest = Callable[[Floats, Floats, Ints], Floats]


def rested_esr(values: Floats, lose: Floats, clean: Ints) -> Floats:
    """M after clean scores: it nears lose / (1 - lose)."""
    rest = lose / (1 - lose)
    return rest + (values - rest) * lose ** clean[:, None]


def rested_process(values: Floats, lose: Floats, clean: Ints) -> Floats:
    """A bettor who began once: every clean score costs him."""
    return values * lose ** clean[:, None]


def rested_cusum(values: Floats, lose: Floats, clean: Ints) -> Floats:
    """The e-CUSUM, L max(M, 1): it falls to lose and stays."""
    fallen = np.maximum(values, 1) * lose ** clean[:, None]
    return np.where(clean[:, None] == 0, values, np.maximum(fallen, lose))


KINDS: dict[str, tuple[Rest, Callable[[Floats], Floats], float]] = {
    "e-SR": (rested_esr, lambda values: values + 1, 0.0),
    "e-CUSUM": (rested_cusum, lambda values: np.maximum(values, 1), 0.0),
    "e-process": (rested_process, lambda values: values, 1.0),
}


def alarms(
    failures: Failures,
    y0: float,
    threshold: float | Floats,
    *,
    kind: str = "e-SR",
    once: bool = False,
) -> tuple[Ints, Ints]:
    """Return the streams and places of all alarms, begun anew after each, or of the first ones.

    ``threshold`` may be one for each stream.
    """
    rest, entered, start = KINDS[kind]
    bets = np.asarray(rate_bets(y0))
    lose, win = 1 - bets, 1 + bets * (1 / y0 - 1)
    limits = np.broadcast_to(np.asarray(threshold, dtype=float), (failures.streams,))
    counts = np.bincount(failures.stream, minlength=failures.streams)
    begins = np.cumsum(counts) - counts
    values = np.full((failures.streams, len(bets)), start)
    last = np.zeros(failures.streams, dtype=np.int64)
    live = np.flatnonzero(counts)
    found_streams, found_places = [], []
    for turn in range(int(counts.max(initial=0))):
        live = live[counts[live] > turn]
        places = failures.place[begins[live] + turn]
        clean = places - last[live] - 1
        now = entered(rest(values[live], lose, clean)) * win
        raised = now.mean(axis=1) >= limits[live]
        now[raised] = start
        values[live], last[live] = now, places
        found_streams.append(live[raised])
        found_places.append(places[raised])
        if once:
            live = live[~raised]
    if not found_streams:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate(found_streams), np.concatenate(found_places)


def first_places(failures: Failures, streams: Ints, places: Ints, *, after: int = 0) -> Floats:
    """Return, for each stream, the place of its first alarm after so many scores; inf if none."""
    firsts = np.full(failures.streams, np.inf)
    late = places > after
    np.minimum.at(firsts, streams[late], places[late])
    return firsts
