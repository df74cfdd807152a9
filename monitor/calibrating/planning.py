"""What a sitting asks: golden prompts and border inputs many times, all else a few times. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from monitor.planning import ProbeChoice, plan_pass
from monitor.probes import PROBES, border, golden
from monitor.probes.base import BudgetKind, TargetView, TrialPlan

# A golden prompt is asked so often unless it is said otherwise: at a tolerance of 10 % one that is
# missed in three of four answers is then set aside in 98 of 100 sittings, one that is missed in
# half of them in 62; with 20 samples that would be 94.
SAMPLES = 10
# Fewer misses than three in a row say nothing against a prompt.
LEAST_SAMPLES = 3
# More than this would take days, and say little more.
MOST_SAMPLES = 500
# Passes of every other probe: two, and more of a cheap one that asks little in a pass, until its
# trials come to a number that says something. Prompts at the limits are dear.
OTHER_ROUNDS = 2
WANTED_TRIALS = 50
CHEAP_TOKENS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """The trials of a sitting in order, and the probes at the limits it cannot pay."""

    golden: tuple[TrialPlan, ...]
    others: tuple[TrialPlan, ...]
    unpaid: tuple[str, ...] = ()

    def price(self, kind: BudgetKind | None = None) -> int:
        """Return the most tokens it takes, of one budget or of both."""
        every = (*self.golden, *self.others)
        wanted = (plan for plan in every if kind is None or plan.budget is kind)
        return sum(plan.price.answered_tokens for plan in wanted)


def plan_sitting(
    view: TargetView,
    choices: Sequence[ProbeChoice],
    *,
    samples: int,
    boundary_left: int,
    rng: Random,
) -> Sitting:
    """Plan a sitting over the probes of a target; golden prompts are asked whatever they are.

    Probes at the limits are left out if the boundary budget cannot pay them all.
    """
    # What most often shows that a target is not healthy comes first of the others.
    ordered = sorted(choices, key=lambda choice: not PROBES[choice.name].at_limits)
    others = [trial for choice in ordered for trial in _rounds(view, choice, samples, rng)]
    at_limits = [trial for trial in others if trial.budget is BudgetKind.BOUNDARY]
    unpaid: set[str] = set()
    if sum(trial.price.answered_tokens for trial in at_limits) > boundary_left:
        unpaid = {trial.probe for trial in at_limits}
    return Sitting(
        golden=tuple(_golden(view, choices, samples, rng)),
        others=tuple(trial for trial in others if trial.probe not in unpaid),
        unpaid=tuple(sorted(unpaid)),
    )


def _golden(
    view: TargetView, choices: Sequence[ProbeChoice], samples: int, rng: Random
) -> Iterator[TrialPlan]:
    """Yield round after round of every prompt, so that each is asked at many moments."""
    configured = next((c.params for c in choices if c.name == golden.PROBE.name), golden.Params())
    every = ProbeChoice(name=golden.PROBE.name, params=configured.model_copy(update={"count": 0}))
    for _ in range(samples):
        yield from plan_pass(view, [every], rng=rng).trials


def _rounds(
    view: TargetView, choice: ProbeChoice, samples: int, rng: Random
) -> Iterator[TrialPlan]:
    if choice.name == golden.PROBE.name:
        return
    if choice.name == border.PROBE.name:
        # Each of them as often as each golden prompt, however few a pass asks.
        every = choice.params.model_copy(update={"count": len(border.INPUTS)})
        choice = replace(choice, params=every)
    first = plan_pass(view, [choice], rng=rng).trials
    yield from first
    for _ in range(_rounds_of(choice, first, samples) - 1):
        yield from plan_pass(view, [choice], rng=rng).trials


def _rounds_of(choice: ProbeChoice, trials: Sequence[TrialPlan], samples: int) -> int:
    """Return how many passes of a probe are asked, given the trials of one."""
    if choice.name == border.PROBE.name:
        return samples
    if PROBES[choice.name].at_limits or not trials:
        return OTHER_ROUNDS
    affordable = CHEAP_TOKENS // max(1, sum(trial.price.answered_tokens for trial in trials))
    return max(OTHER_ROUNDS, min(math.ceil(WANTED_TRIALS / len(trials)), affordable))
