"""One pass over one target: its trials in order, within the budget, gently."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from random import Random

from monitor.budget import Budget, Reservation
from monitor.clock import Clock
from monitor.findings import Findings, is_bare_wrong
from monitor.live import LiveTarget
from monitor.model import FailureKind, Trial, Verdict
from monitor.pipeline import Confirming, Pipeline, Ran
from monitor.planning import NotProbed, PassPlan, held_back, too_dear, unanswered
from monitor.probes.base import BudgetKind, TrialPlan

# What stands before a prompt that no cache is to know: short, so that sizes hold.
_SALTS = 10_000
# Prompts at a limit from here on keep a prefill node busy: one of them at a time, over all targets.
LONG_TOKENS = 32_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A trial that was sent, its verdict, and the trials that were to confirm it."""

    trial: Trial
    verdict: Verdict
    confirmations: tuple[Done, ...] = ()


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
        self._long = asyncio.Lock()

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
                done += [step, *step.confirmations]
                if never_answered(step.trial):
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

    async def step(
        self, target: LiveTarget, plan: TrialPlan, *, seed: int, scheduled: bool = True
    ) -> Done | NotProbed:
        """Send one trial, unless its shape is held back or the budget cannot pay it.

        A scheduled trial that shows a fault is confirmed at once. One that is not ``scheduled``
        counts in no SLI and is not confirmed.
        """
        finding = self._findings.frozen_shapes(target.view.name).get(plan.shape)
        if finding:
            return held_back(plan, finding)
        ran = await self._send(
            target, plan, partial(self._pipeline.run, target, plan, seed, scheduled=scheduled)
        )
        if ran is None:
            return too_dear(plan)
        again = await self._confirm(target, plan, ran) if scheduled else ()
        return Done(trial=ran.trial, verdict=ran.verdict, confirmations=again)

    async def examine(
        self, target: LiveTarget, plan: TrialPlan, *, finding: str, seed: int
    ) -> Done | NotProbed:
        """Send one trial by which a person looks at a finding, even if its shape is held back.

        It counts in no SLI and in no stream, and is not confirmed.
        """
        run = partial(self._pipeline.run, target, plan, seed, scheduled=False, examines=finding)
        ran = await self._send(target, plan, run)
        return too_dear(plan) if ran is None else Done(trial=ran.trial, verdict=ran.verdict)

    async def _send(
        self, target: LiveTarget, plan: TrialPlan, run: Callable[[], Awaitable[Ran]]
    ) -> Ran | None:
        """Run a trial that the budget can pay, else return nothing."""
        reservation = await self._reserve(target, plan)
        if reservation is None:
            return None
        return await self._spend(target, plan, reservation, run)

    async def _confirm(self, target: LiveTarget, plan: TrialPlan, ran: Ran) -> tuple[Done, ...]:
        """Send the same prompts again, first as they were, then salted, while that is allowed.

        Only what may have opened a finding is confirmed. The finding limits how often, over
        restarts too; the budget pays.
        """
        finding = ran.verdict.finding
        if finding is None or is_bare_wrong(ran.verdict):
            return ()
        done: list[Done] = []
        for salt in ("", f"#{ran.seed % _SALTS}"):
            # Asked first, so that a budget is not called exhausted by what was not to be sent.
            if not self._findings.may_confirm(finding):
                break
            reservation = await self._reserve(target, plan)
            if reservation is None:
                break
            if not self._findings.claim_confirmation(finding, self._clock.now()):
                self._budget.settle(reservation, 0)
                break
            confirming = Confirming(finding=finding, of=ran, salt=salt)
            run = partial(self._pipeline.run, target, plan, ran.seed, confirming=confirming)
            again = await self._spend(target, plan, reservation, run)
            done.append(Done(trial=again.trial, verdict=again.verdict))
        return tuple(done)

    async def _reserve(self, target: LiveTarget, plan: TrialPlan) -> Reservation | None:
        # Off the loop: a reservation may wait for the disk.
        return await asyncio.to_thread(
            self._budget.reserve,
            target.view.name,
            plan.budget.value,
            plan.price.answered_tokens,
        )

    def _room(self, plan: TrialPlan) -> AbstractAsyncContextManager[object]:
        """Return what a trial waits for before it is sent."""
        dear = plan.price.answered_tokens >= LONG_TOKENS
        return self._long if dear and plan.budget is BudgetKind.BOUNDARY else nullcontext()

    async def _spend(
        self,
        target: LiveTarget,
        plan: TrialPlan,
        reservation: Reservation,
        run: Callable[[], Awaitable[Ran]],
    ) -> Ran:
        """Run a trial and charge what it came to; a crash costs the full estimate."""
        try:
            async with self._room(plan):
                ran = await run()
        except BaseException:
            self._budget.settle(reservation, plan.price.answered_tokens)
            raise
        cost = self._budget.settle(reservation, charge(plan, ran.trial))
        self._on_cost(target.view.name, cost)
        return ran


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
    unanswered_exchange = any(
        e.failure is not None and not e.refused and not e.cancelled for e in trial.exchanges
    )
    refused = any(e.refused for e in trial.exchanges)
    if refused and not unanswered_exchange:
        return max(plan.price.refused_tokens, reported)
    return max(plan.price.answered_tokens, reported)


def never_answered(trial: Trial) -> bool:
    """True if a boundary trial's exchange at the limit got neither answer nor refusal."""
    at_limit = [e for e in trial.exchanges if e.expectation.boundary]
    if trial.probe == "boundary" and not at_limit:
        return True
    return any(
        e.failure is not None and e.failure.kind is not FailureKind.REFUSED for e in at_limit
    )
