"""Groups of a pass: how often a healthy pass is called bad, and which faults of a part it shows.

An input is a standard pass whose answers fail by chance. Healthy ones fail as often as the
tolerance allows, or less: each answer by itself; the same prompt always alike; or more in some
trials than in others. A fault makes answers of one part of the traffic fail that often, the others
in 1 % of cases. The naive way holds all answers together to the tolerance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from monitor.detect.binomial import EXCEEDED_LEVEL, exceeds
from monitor.model import ExchangeVerdict, Outcome, VerdictClass
from monitor.passes import Done
from monitor.planning import plan_pass, profile_choices
from monitor.probes import PROBES
from monitor.probes.base import TargetView, TenantView
from monitor.prompts import load_suites, shipped_folder
from monitor.reports.groups import Judged, groups_of
from tests.bench.checks.table import Row
from tests.builders import Bench, a_trial, an_exchange
from tests.fakes.session import FakeSession

CHECK = "groups of a pass"
PASSES = 4_000
TOLERANCE = 0.1
HEALTHY_RATE = 0.01
CORRELATION = 0.1
RATES = (0.05, 0.08, 0.1)
FAULTS = {
    "tenant tenant-a": 0.3,
    "later turns": 0.3,
    "over 1500 characters": 0.3,
    "8 or more at once": 0.3,
    "CJK questions": 0.5,
    "arithmetic suite": 0.65,
}
GOOD = ExchangeVerdict(exchange=0, outcome=Outcome.GOOD, verdict_class=VerdictClass.NONE, reason="")
Failures = NDArray[np.bool_]
Numbers = NDArray[np.int_]
Draw = Callable[["Pass", np.random.Generator, float], Failures]


@dataclass(frozen=True, slots=True)
class Pass:
    """The answers of a pass: of each the trial, the prompt, and in which groups it is."""

    judged: list[Judged]
    groups: Mapping[str, Failures]
    trials: Numbers
    prompts: Numbers


@cache
def a_pass(profile: str = "standard") -> Pass:
    """Return a pass over three tenants, asked and answered rightly without a network."""
    tenants = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "abc")
    golden = load_suites(shipped_folder())
    view = TargetView(name="t", model="m", tenants=tenants, gentle=False, golden=golden)
    bench = Bench()
    verdict = bench.judge(an_exchange())
    judged: list[Judged] = []
    for plan in plan_pass(view, profile_choices(profile), rng=Random(1)).trials:
        session = FakeSession(bench=bench, plan=plan, target=view)
        asyncio.run(PROBES[plan.probe].run(plan, session))
        trial = a_trial(*session.exchanges, probe=plan.probe, stratum=plan.stratum)
        done = Done(trial=trial, verdict=replace(verdict, stratum=plan.stratum))
        judged += [(done, exchange, GOOD) for exchange in trial.exchanges]
    groups = {
        name: _among(judged, {id(exchange) for _, exchange, _ in members})
        for name, members in groups_of(judged).items()
    }
    return Pass(
        judged=judged,
        groups=groups,
        trials=_numbered([id(done) for done, _, _ in judged]),
        prompts=_numbered([exchange.request.text() for _, exchange, _ in judged]),
    )


def _among(judged: Sequence[Judged], members: set[int]) -> Failures:
    return np.array([id(exchange) in members for _, exchange, _ in judged])


def _numbered(names: Sequence[object]) -> Numbers:
    """Return numbers that are the same where the names are."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names])


def by_itself(asked: Pass, rng: np.random.Generator, rate: float) -> Failures:
    """Return passes in which each answer fails by itself."""
    return rng.random((PASSES, len(asked.judged))) < rate


def same_prompt_alike(asked: Pass, rng: np.random.Generator, rate: float) -> Failures:
    """Return passes in which the very same prompt fails always or never."""
    return (rng.random((PASSES, asked.prompts.max() + 1)) < rate)[:, asked.prompts]


def by_trials(asked: Pass, rng: np.random.Generator, rate: float) -> Failures:
    """Return passes in which each trial has a rate of its own, 0.1 the correlation within it."""
    together = 1 / CORRELATION - 1
    own = rng.beta(rate * together, (1 - rate) * together, (PASSES, asked.trials.max() + 1))
    return rng.random((PASSES, len(asked.judged))) < own[:, asked.trials]


def exceeded(asked: Pass, failures: Failures, tolerance: float = TOLERANCE) -> tuple[int, int]:
    """Return how many passes exceed the tolerance, by any of their groups, and by the whole."""
    answers = len(asked.judged)
    parts = [members for members in asked.groups.values() if members.sum() < answers]
    whole = failures.sum(axis=1) >= _least(answers, tolerance, EXCEEDED_LEVEL)
    over = whole.copy()
    for members in parts:
        least = _least(int(members.sum()), tolerance, EXCEEDED_LEVEL / len(parts))
        over |= failures[:, members].sum(axis=1) >= least
    return int(over.sum()), int(whole.sum())


@cache
def _least(answers: int, tolerance: float, level: float) -> int:
    """Return how many failures are more than the tolerance explains, one more than all if none."""
    most = answers + 1
    return next((k for k in range(most) if exceeds(k, answers, tolerance, level=level)), most)


def _row(name: str, healthy: Failures | None, faulty: Failures | None) -> Row:
    asked = a_pass()
    found, naive = (0, 0) if faulty is None else exceeded(asked, faulty)
    falsely, naively = (0, 0) if healthy is None else exceeded(asked, healthy)
    return Row(
        check=CHECK,
        input_set=name,
        positives=0 if faulty is None else PASSES,
        true_positives=found,
        negatives=0 if healthy is None else PASSES,
        false_positives=falsely,
        naive_name="all answers together",
        naive_true_positives=naive,
        naive_false_positives=naively,
    )


def struck(group: str) -> Failures:
    """Return passes in which a fault strikes one group."""
    asked, rng = a_pass(), np.random.default_rng(len(group))
    return by_itself(asked, rng, HEALTHY_RATE) | (
        by_itself(asked, rng, FAULTS[group]) & asked.groups[group]
    )


def rows() -> Iterator[Row]:
    """Yield the rows of the bench."""
    for draw, words in HEALTHY.items():
        for rate in RATES:
            healthy = draw(a_pass(), np.random.default_rng(1), rate)
            yield _row(f"standard passes, {rate:.0%} of answers wrong, {words}", healthy, None)
    for group, rate in FAULTS.items():
        yield _row(f"{rate:.0%} wrong in: {group}", None, struck(group))


HEALTHY: Mapping[Draw, str] = {
    by_itself: "each by itself",
    same_prompt_alike: "the same prompt always alike",
    by_trials: f"correlated by {CORRELATION} within a trial",
}
