"""Calibration on simulated healthy targets: bounds against true rates, prompts set aside, passes.

The *negatives* of a row of tolerances are calibrations; one is a false positive if its tolerance
lies below the rate at which the target truly fails: at most 5 % may, before any margin. The naive
way takes the mean. Prompts are set aside by mistake in at most 1 % of cases. Three prompts of a
hundred are missed far more often than the others.
Passes of healthy targets may be called bad in at most 2 % of cases at the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from random import Random

import numpy as np

from monitor.calibrating.making import Maker, Rules, make, not_mastered
from monitor.calibrating.planning import SAMPLES
from monitor.calibrating.recording import Judged, Recording
from monitor.detect.tolerance import tolerance_from
from monitor.model import Calibration, ExchangeVerdict, Outcome, VerdictClass
from monitor.reports.answers import answers_report
from tests.bench.checks.table import Row
from tests.builders import Bench

CHECK = "calibration"
CALIBRATIONS = 20_000
TARGETS, PASSES = 60, 40
PROMPTS = 100
RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
MARGIN, FLOOR = 0.02, 0.001
RULES = Rules(configured=None, floor=FLOOR, margin=MARGIN)
# Answers of a sitting and of a quick pass, by probe.
SITTING = {"golden": PROMPTS * SAMPLES, "pair": 54, "burst": 56, "canary": 52}
PASS = {"golden": 10, "pair": 10, "burst": 4, "canary": 4}


@cache
def bound(failed: int, judged: int, margin: float) -> float:
    """Return the tolerance that so many failures give."""
    return tolerance_from(failed, judged, floor=0.0, margin=margin)


def _tolerances(judged: int, margin: float) -> Iterator[Row]:
    rng = np.random.default_rng(judged)
    for rate in RATES:
        drawn = rng.binomial(judged, rate, CALIBRATIONS)
        failures, counts = np.unique(drawn, return_counts=True)
        pairs = [(int(k), int(n)) for k, n in zip(failures, counts, strict=True)]
        yield Row(
            check=CHECK,
            input_set=f"bound below the true {rate:.0%}: {judged} answers, margin {margin:.0%}",
            positives=0,
            true_positives=0,
            negatives=CALIBRATIONS,
            false_positives=sum(n for k, n in pairs if bound(k, judged, margin) < rate),
            naive_name="the mean",
            naive_false_positives=sum(n for k, n in pairs if k / judged < rate),
        )


def _selected(rate: float, samples: int) -> Iterator[Row]:
    """Prompts are set aside by the very answers the tolerance is made of: does that bias it?"""
    rng, below, naive = np.random.default_rng(samples), {0.0: 0, MARGIN: 0}, 0
    runs = CALIBRATIONS // 20
    for missed in rng.binomial(samples, rate, (runs, PROMPTS)):
        counts = {(str(place), ""): (int(k), samples) for place, k in enumerate(missed)}
        aside = not_mastered(counts, None)
        failed = sum(k for key, (k, _) in counts.items() if key not in aside)
        judged = (len(counts) - len(aside)) * samples
        for margin in below:
            below[margin] += bound(failed, judged, margin) < rate
        naive += failed / judged < rate
    for margin, count in below.items():
        yield Row(
            check=CHECK,
            input_set=f"the same at {rate:.0%} over the prompts left, margin {margin:.0%}",
            positives=0,
            true_positives=0,
            negatives=runs,
            false_positives=count,
            naive_name="the mean",
            naive_false_positives=naive,
        )


def _prompts(healthy: float, sick: float, samples: int) -> Row:
    """Three prompts that are missed at ``sick`` among a hundred missed at ``healthy``."""
    rng, runs, few = np.random.default_rng(samples), CALIBRATIONS // 100, 3
    found = wrongly = missed_once = 0
    for _ in range(runs):
        bad, good = rng.binomial(samples, sick, few), rng.binomial(samples, healthy, PROMPTS - few)
        counts = {(str(n), ""): (int(k), samples) for n, k in enumerate([*bad, *good])}
        aside = {int(name) for name, _ in not_mastered(counts, None)}
        found += sum(place < few for place in aside)
        wrongly += sum(place >= few for place in aside)
        missed_once += int((good > 0).sum())
    return Row(
        check="quarantine",
        input_set=f"prompts missed at {sick:.0%} among others at {healthy:.0%}, {samples} samples",
        positives=runs * few,
        true_positives=found,
        negatives=runs * (PROMPTS - few),
        false_positives=wrongly,
        naive_name="any miss",
        naive_true_positives=runs * few,
        naive_false_positives=missed_once,
    )


def calibrated(rng: Random, rates: Mapping[str, float]) -> Calibration:
    """Return what a sitting with a target of these rates of failure gives."""
    recording = Recording(Bench().history)
    for probe, count in SITTING.items():
        for _ in range(count):
            failed = rng.random() < rates[probe]
            recording.take(Judged(probe=probe, groups=(), prompt=None, failed=failed))
    maker = Maker(
        id="calibration",
        target="glm",
        model="glm",
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        made_by="bench",
        reason="",
        checks_version="",
        parts=(),
    )
    return make(recording, maker, RULES)


def _verdict(*, failed: bool) -> ExchangeVerdict:
    return ExchangeVerdict(
        exchange=0,
        outcome=Outcome.BAD if failed else Outcome.GOOD,
        verdict_class=VerdictClass.WRONG if failed else VerdictClass.NONE,
        reason="",
        tolerated=failed,
    )


def exceeded(
    rng: Random, rates: Mapping[str, float], calibration: Calibration
) -> tuple[bool, bool]:
    """Return whether a pass is called bad, by its groups and by the one mean of all answers."""
    groups = {
        probe: [_verdict(failed=rng.random() < rates[probe]) for _ in range(count)]
        for probe, count in PASS.items()
    }
    every = [verdict for members in groups.values() for verdict in members]
    own = {probe: calibration.tolerance_of(probe) for probe in groups}
    mean = sum(own[probe] * len(members) for probe, members in groups.items()) / len(every)
    naive = sum(SITTING[p] * rates[p] for p in SITTING) / sum(SITTING.values())
    return (
        answers_report(every, groups, mean, own).exceeded,
        answers_report(every, groups, naive).exceeded,
    )


def _passes(name: str, healthy: Mapping[str, float], sick: Mapping[str, float]) -> Row:
    rng, counts = Random(name), [0, 0, 0, 0]
    for _ in range(TARGETS):
        calibration = calibrated(rng, healthy)
        for _ in range(PASSES):
            for place, rates in ((0, sick), (2, healthy)):
                ours, naive = exceeded(rng, rates, calibration)
                counts[place] += ours
                counts[place + 1] += naive
    return Row(
        check=CHECK,
        input_set=name,
        positives=TARGETS * PASSES,
        true_positives=counts[0],
        negatives=TARGETS * PASSES,
        false_positives=counts[2],
        naive_name="held to the mean of all",
        naive_true_positives=counts[1],
        naive_false_positives=counts[3],
    )


def rows() -> list[Row]:
    """Return the rows of the bench."""
    same = dict.fromkeys(SITTING, 0.05)
    uneven = {"golden": 0.01, "pair": 0.15, "burst": 0.05, "canary": 0.02}
    return [
        *_tolerances(SITTING["pair"], 0.0),
        *_tolerances(PROMPTS * SAMPLES, 0.0),
        *(row for row in _tolerances(PROMPTS * SAMPLES, MARGIN) if "20%" in row.input_set),
        *(row for rate in (0.05, 0.1, 0.2) for row in _selected(rate, SAMPLES)),
        *(_prompts(rate, 0.75, SAMPLES) for rate in (0.0, 0.01, 0.05, 0.1, 0.2)),
        _prompts(0.05, 0.5, SAMPLES),
        _prompts(0.05, 0.5, 2 * SAMPLES),
        _passes("passes, 5% of answers wrong, or 60%", same, dict.fromkeys(SITTING, 0.6)),
        _passes(
            "passes, unevenly wrong (1% to 15%), or pair at 70%", uneven, uneven | {"pair": 0.7}
        ),
    ]
