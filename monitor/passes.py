"""One pass over one target: its trials in order, within the budget, gently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random

from monitor.budget import Budget
from monitor.clock import Clock
from monitor.findings import Findings
from monitor.model import FailureKind, Trial, Verdict
from monitor.pipeline import LiveTarget, Pipeline
from monitor.planning import NotProbed, PassPlan, held_back, too_dear, unanswered
from monitor.probes.base import TrialPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A trial that was sent, and its verdict."""

    trial: Trial
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """What one pass over one target came to."""

    target: LiveTarget
    done: tuple[Done, ...]
    not_probed: tuple[NotProbed, ...]
    started_at: datetime
    finished_at: datetime


Progress = Callable[[LiveTarget, TrialPlan, Done | NotProbed], None]


class PassRunner:
    """Runs passes; it keeps nothing between them."""

    def __init__(
        self,
        *,
        clock: Clock,
        pipeline: Pipeline,
        budget: Budget,
        findings: Findings,
        on_cost: Callable[[str, float], None],
    ) -> None:
        self._clock = clock
        self._pipeline = pipeline
        self._budget = budget
        self._findings = findings
        self._on_cost = on_cost

    async def run(
        self, target: LiveTarget, plan: PassPlan, *, rng: Random, progress: Progress
    ) -> PassResult:
        """Send every affordable trial of ``plan``, one after the other."""
        started_at = self._clock.now()
        done: list[Done] = []
        not_probed = list(plan.not_probed)
        for trial_plan in plan.trials:
            step = await self.step(target, trial_plan, seed=rng.getrandbits(64))
            if isinstance(step, Done):
                done.append(step)
                if _never_answered(step.trial):
                    not_probed.append(unanswered(trial_plan))
            else:
                not_probed.append(step)
            progress(target, trial_plan, step)
        return PassResult(
            target=target,
            done=tuple(done),
            not_probed=tuple(not_probed),
            started_at=started_at,
            finished_at=self._clock.now(),
        )

    async def step(self, target: LiveTarget, plan: TrialPlan, *, seed: int) -> Done | NotProbed:
        """Send one trial, unless its shape is held back or the budget cannot pay it."""
        name = target.view.name
        finding = self._findings.frozen_shapes(name).get(plan.shape)
        if finding:
            return held_back(plan, finding)
        reservation = self._budget.reserve(name, plan.budget.value, plan.price.answered_tokens)
        if reservation is None:
            return too_dear(plan)
        try:
            trial, verdict = await self._pipeline.run(target, plan, seed)
        except BaseException:
            self._budget.settle(reservation, plan.price.answered_tokens)
            raise
        self._on_cost(name, self._budget.settle(reservation, charge(plan, trial)))
        return Done(trial=trial, verdict=verdict)


def charge(plan: TrialPlan, trial: Trial) -> int:
    """Return the tokens a trial is charged.

    A definite refusal costs its refused price, an answer the larger of estimate and reported
    usage, no answer the full estimate.
    """
    reported = sum(
        (e.response.usage.input_tokens or 0) + (e.response.usage.output_tokens or 0)
        for e in trial.exchanges
        if e.response is not None
    )
    unanswered_exchange = any(e.failure is not None and not e.refused for e in trial.exchanges)
    refused = any(e.refused for e in trial.exchanges)
    if refused and not unanswered_exchange:
        return max(plan.price.refused_tokens, reported)
    return max(plan.price.answered_tokens, reported)


def _never_answered(trial: Trial) -> bool:
    """True if a boundary trial's exchange at the limit got neither answer nor refusal."""
    at_limit = [e for e in trial.exchanges if e.expectation.boundary]
    if trial.probe == "boundary" and not at_limit:
        return True
    return any(
        e.failure is not None and e.failure.kind is not FailureKind.REFUSED for e in at_limit
    )
