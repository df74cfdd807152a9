"""Sides that are compared: how often a healthy pass is called bad, and which faults of a side show.

An input is a standard pass as in ``groups``, over weak targets that fail often, in several ways;
the level for healthy ones is given in the row. A fault makes answers of one side fail that often,
and all others in 1 % of cases. The naive way holds the pass and its groups to the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.reports.contrasts import CONTRAST_LEVEL, alike_of, axes_of, contrast
from tests.bench.checks.groups import (
    HEALTHY,
    HEALTHY_RATE,
    Failures,
    a_pass,
    by_itself,
    exceeded,
)
from tests.bench.checks.table import Row

PASSES = 1_000
STRUCK = 200
WEAK_RATE = 0.2
LEVELS = (CONTRAST_LEVEL, 100 * CONTRAST_LEVEL)
FAULTS = (
    ("tenant tenant-a", 0.1),
    ("tenant tenant-a", 0.15),
    ("tenant tenant-a", 0.2),
    ("streams", 0.1),
    ("streams", 0.2),
)


def probabilities(failures: Failures) -> list[float]:
    """Return the least chance over all sides of each pass, times the number of sides."""
    asked = a_pass().judged
    axes = axes_of(asked)
    layout = [(axis, alike_of(axis, asked)) for axis in axes]
    return [
        len(axes) * min(contrast(axis, alike, failed).probability for axis, alike in layout)
        for failed in failures.tolist()
    ]


def rows() -> Iterator[Row]:
    """Yield the rows of the bench."""
    for draw, words in HEALTHY.items():
        healthy = draw(a_pass(), np.random.default_rng(2), WEAK_RATE)[:PASSES]
        found = probabilities(healthy)
        for level in LEVELS:
            name = f"standard passes, {WEAK_RATE:.0%} of answers wrong, {words}, level {level:.2%}"
            yield _row(name, found, level, healthy, faulty=False)
    for group, rate in FAULTS:
        rng = np.random.default_rng(3)
        struck = by_itself(a_pass(), rng, rate) & a_pass().groups[group]
        faulty = (by_itself(a_pass(), rng, HEALTHY_RATE) | struck)[:STRUCK]
        name = f"standard passes, {rate:.0%} wrong in: {group}"
        yield _row(name, probabilities(faulty), CONTRAST_LEVEL, faulty, faulty=True)


def _row(name: str, found: list[float], level: float, failures: Failures, *, faulty: bool) -> Row:
    told = sum(chance <= level for chance in found)
    naive, _ = exceeded(a_pass(), failures)
    return Row(
        check="sides of a pass",
        input_set=name,
        positives=len(found) if faulty else 0,
        true_positives=told if faulty else 0,
        negatives=0 if faulty else len(found),
        false_positives=0 if faulty else told,
        naive_name="held to the tolerance",
        naive_true_positives=naive if faulty else 0,
        naive_false_positives=0 if faulty else naive,
    )
