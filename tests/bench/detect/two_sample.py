"""Numbers of the design study on daily tests of answers against recorded ones.

25 prompts, ten answers each day against ten of a reference, one of five answers to each prompt, 90
days on which nothing changes. The test is by permutation within prompts; its statistic is the
squared distance of the answers' shares, the MMD of a kernel that asks if two answers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from monitor.detect.conformal import share_below
from tests.bench.detect.failures import Floats, Ints
from tests.bench.detect.numbers import Number, share

PROMPTS, ANSWERS, KINDS, DAYS = 25, 10, 5, 90
PERMUTATIONS = 199


def calibrated(p: float) -> float:
    """Return the e-value of a p-value: its mean is 1 over uniform ones; 1/2 at 1."""
    if p > 0.9999:
        return 0.5
    return (1 - p + p * math.log(p)) / (p * math.log(p) ** 2)


def rows(scale: float, seed: int) -> Iterator[Number]:
    """Work them all out."""
    for permutations, theirs in ((199, 6.9), (999, 20.8), (9999, 118)):
        about = f"largest e-value of {permutations:,} permutations"
        digits = 1 if theirs < 100 else 0
        yield Number(about, theirs, calibrated(1 / (permutations + 1)), digits=digits)
    # Over u = -log p, for nearly half of the mean lies at p below 0.0001; beyond 700 it is 1/u^2.
    steps = (np.arange(70_000) + 0.5) / 100
    mean = 1 / 700 + sum(calibrated(math.exp(-u)) * math.exp(-u) for u in steps) / 100
    yield Number("mean e-value of uniform p-values", 1.0, mean, digits=2)
    for recorded, level, theirs in (
        (200, 0.02, 0.049),
        (500, 0.02, 0.037),
        (1000, 0.02, 0.032),
        (100, 0.05, 0.112),
    ):
        about = f"y0 of conformal scores: {recorded:,} recorded, level {level:.0%}"
        yield Number(about, theirs, share_below(recorded, level), digits=3)
    yield from _daily(max(2, int(scale * 100)), seed)


def _daily(runs: int, seed: int) -> Iterator[Number]:
    rng = np.random.default_rng(seed)
    raw = same = fresh = 0
    days = DAYS if runs >= 20 else 5
    for _ in range(runs):
        shares = rng.dirichlet(np.ones(KINDS), PROMPTS)
        reference = _answers(shares, rng)
        against_same, against_fresh = [], []
        for _ in range(days):
            today = _answers(shares, rng)
            against_same.append(p_value(reference, today, rng))
            against_fresh.append(p_value(_answers(shares, rng), today, rng))
        raw += min(against_same) < 0.05
        same += _product_reaches(against_same)
        fresh += _product_reaches(against_fresh)
    yield share("daily test at 5 %, same reference: false alarm in 90 days", 0.70, raw, runs)
    about = "product of e-values, {} reference: reaches 20 in 90 days"
    yield share(about.format("same"), 0.07, same, runs)
    yield share(about.format("fresh"), 0.0, fresh, runs)


def _product_reaches(p_values: list[float]) -> bool:
    return bool((np.cumprod([calibrated(p) for p in p_values]) >= 20).any())


def _answers(shares: Floats, rng: np.random.Generator) -> Ints:
    """Draw answers, a row a prompt."""
    thresholds = np.cumsum(shares, axis=1)
    drawn = rng.random((PROMPTS, ANSWERS))
    return (drawn[:, :, None] > thresholds[:, None, :]).sum(axis=2).clip(max=KINDS - 1)


def p_value(one: Ints, other: Ints, rng: np.random.Generator) -> float:
    """Return the permutation p-value of two sets of answers, never 0."""
    pooled = np.eye(KINDS)[np.concatenate([one, other], axis=1)]
    order = rng.random((PERMUTATIONS, PROMPTS, 2 * ANSWERS)).argsort(axis=2)[:, :, :ANSWERS]
    totals = pooled.sum(axis=1)
    prompts = np.arange(PROMPTS)[None, :, None]
    first = pooled[prompts, order].sum(axis=2)
    permuted = ((2 * first - totals) ** 2).sum(axis=(1, 2))
    seen = ((2 * pooled[:, :ANSWERS].sum(axis=1) - totals) ** 2).sum()
    return float((1 + (permuted >= seen).sum()) / (PERMUTATIONS + 1))
