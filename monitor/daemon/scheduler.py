"""When to ask: one APScheduler job a probe and target, each run one trial of the day's plan.

``dayplan`` says how often each stratum is asked, ``Turn`` whose turn it is, ``Backoff`` whether the
target is to be left alone; here they are only called when a job is due.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from datetime import timedelta
from random import Random

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.schedulers.base import STATE_RUNNING
from apscheduler.triggers.interval import IntervalTrigger

from monitor.app import Installation, show_streams
from monitor.configured import choices_of
from monitor.conventions import ChangeKind, SkipReason
from monitor.conventions import NotProbed as NotProbedCode
from monitor.daemon.changes import Change, Changes
from monitor.daemon.gaps import Gaps
from monitor.daemon.readiness import Readiness
from monitor.daemon.record import ScheduleRecord
from monitor.daemon.standing import Standing
from monitor.daemon.turn import Turn
from monitor.daemon.watch import Watch
from monitor.dayplan.plan import DayPlan, day_plan, jitter_seconds
from monitor.dayplan.rates import DAY_SECONDS
from monitor.judge import Judge
from monitor.judging import items_due
from monitor.live import LiveTarget
from monitor.logs import crash_words
from monitor.passes import Done, never_answered
from monitor.planning import NotProbed, plan_pass, unanswered
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind, TrialPlan

log = logging.getLogger(__name__)

# Changes with which a process starts anew; a latency may move by itself.
STARTS = frozenset(ChangeKind) - {ChangeKind.LATENCY}
# After a change the probes at the limits run at once, but not all in the same moment.
_SOON_SECONDS = 5.0
# How long a check may be blind before anybody knows.
SELF_TEST_SECONDS = 3600
# How often a judge is asked some of its own items.
JUDGE_SECONDS = 3600


class ProbeSchedule:
    """Runs every probe of every target by the target's day plan, one trial a run."""

    def __init__(
        self,
        installation: Installation,
        watch: Watch,
        *,
        jitter: Callable[[float], float],
    ) -> None:
        self._installation = installation
        self._watch = watch
        self._jitter = jitter
        self._rng = Random(secrets.randbits(64))
        self._record = ScheduleRecord(installation.store, installation.counters, installation.clock)
        self.changes = Changes(self._record, installation.clock.now())
        self.changes.listen(self._changed)
        watch.report_to(self.changes)
        self._gaps = Gaps(installation.counters)
        self._readiness = Readiness(installation, watch, self._replan)
        self._turns: dict[str, Turn] = {}
        self._planned: dict[str, tuple[object, ...]] = {}
        self._running = 0
        schedule = installation.config.schedule
        self._scheduler = AsyncIOScheduler(
            timezone="UTC",
            job_defaults={
                "misfire_grace_time": max(1, int(schedule.misfire_grace_seconds)),
                "coalesce": True,
                "max_instances": 1,
            },
        )
        self._scheduler.add_listener(self._submitted, EVENT_JOB_SUBMITTED)
        self._scheduler.add_listener(self._too_soon, EVENT_JOB_MAX_INSTANCES)
        self._scheduler.add_listener(self._noticed, EVENT_JOB_ERROR | EVENT_JOB_MISSED)

    async def start(self, *, paused: bool = False) -> None:
        """Plan every target by its configuration and start the jobs, spread over their interval.

        What targets say of themselves is asked meanwhile, a few at a time; plans then follow it.
        ``paused`` lays everything out and takes no runs.
        """
        self._scheduler.start(paused=paused)
        for target in self._installation.config.targets:
            probes = [c.name for c in choices_of(self._installation.config, target)]
            self._installation.counters.initialise_schedule(target.name, probes)
            self._replan(self._installation.targets[target.name])
            # A thousand plans take a while; whoever asks for /healthz is answered in between.
            await asyncio.sleep(0)
        self._scheduler.add_job(
            self._forget_expired,
            IntervalTrigger(seconds=int(DAY_SECONDS), timezone="UTC"),
            id="forget-expired-markers",
            next_run_time=self._installation.clock.now(),
        )
        self._scheduler.add_job(
            self._test_checks,
            IntervalTrigger(seconds=SELF_TEST_SECONDS, timezone="UTC"),
            id="self-test",
            next_run_time=self._installation.clock.now(),
        )
        if (judge := self._installation.judge) is not None:
            self._scheduler.add_job(
                self._try_judge,
                IntervalTrigger(seconds=JUDGE_SECONDS, timezone="UTC"),
                args=[judge],
                id="judge-items",
                next_run_time=self._installation.clock.now(),
            )
        self._readiness.start()

    async def _try_judge(self, judge: Judge) -> None:
        """Ask the judge some of its own items; that it lost or won trust is said."""
        before = judge.agreement().mistrust
        await judge.try_items(items_due(judge))
        now = judge.agreement().mistrust
        if now and not before:
            log.error("the judge is not trusted any more: %s", now)
        elif before and not now:
            log.info("the judge is trusted: it agrees with enough of its labelled items")

    async def _test_checks(self) -> None:
        """Try every check with fresh specimens; a blind one is said once an hour, and alerted."""
        result = await self._installation.self_tester.run(secrets.randbits(64))
        for blind in result.blind:
            log.error("the check %s is blind: %s", blind.check, blind.words)

    async def _forget_expired(self) -> None:
        await asyncio.to_thread(self._installation.forget_expired)

    def _replan(self, live: LiveTarget) -> None:
        """Follow the target's limits and changes, if they are not what its plan was made for."""
        config, name = self._installation.config, live.view.name
        target = config.target(name)
        raised = self.changes.raised(name, self._installation.clock.now())
        basis = (live.view.limits, live.view.engine, live.view.quarantined, raised)
        if target is None or self._planned.get(name) == basis:
            return
        self._planned[name] = basis
        choices = choices_of(config, target)
        plan = day_plan(config, target, live.view, choices, changed=raised)
        strata = {(each.probe, each.stratum) for each in plan.strata}
        show_streams(self._installation, live, strata)
        if (watching := self._installation.watching) is not None:
            watching.plan(name, {(each.probe, each.stratum): each.trials for each in plan.strata})
        for choice in choices:
            turn = Turn(target=target, choice=choice, every_seconds=DAY_SECONDS)
            self._lay(self._turns.setdefault(turn.id, turn), plan)
        self._gaps.planned(name, plan.not_probed, strata)

    def _lay(self, turn: Turn, plan: DayPlan) -> None:
        """Add, change or remove the job of one probe."""
        target, probe = turn.target.name, turn.choice.name
        every, job = plan.interval_seconds(probe), self._scheduler.get_job(turn.id)
        if every is None:
            self._installation.counters.forget_schedule_interval(target, probe)
            if job is not None:
                job.remove()
            return
        turn.follow(plan.rates(probe), every)
        self._installation.counters.set_schedule_interval(target, probe, every)
        config, now = self._installation.config, self._installation.clock.now()
        jitter = jitter_seconds(config, turn.target, probe)
        trigger = run_trigger(every, jitter)
        first = now + timedelta(seconds=self._jitter(every if config.schedule.spread else 1.0))
        if job is None:
            self._scheduler.add_job(
                self._run, trigger, args=[turn], id=turn.id, next_run_time=first
            )
        else:
            job.modify(trigger=trigger, next_run_time=min(first, job.next_run_time or first))

    def _changed(self, change: Change) -> None:
        """Plan anew with raised rates, and run the probes at the limits at once."""
        if (watching := self._installation.watching) is not None and change.kind in STARTS:
            watching.started(change.target)
        self._replan(self._readiness.known(change.target))
        if change.probed:
            return
        now = self._installation.clock.now()
        for turn in self._turns.values():
            job = self._scheduler.get_job(turn.id)
            at_limits = PROBES[turn.choice.name].at_limits
            if turn.target.name == change.target and at_limits and job is not None:
                turn.due = None
                job.modify(next_run_time=now + timedelta(seconds=self._jitter(_SOON_SECONDS)))

    async def _run(self, turn: Turn) -> None:
        self._note_lag(turn)
        self._running += 1
        try:
            await self._send_next(turn)
        finally:
            self._running -= 1

    async def _send_next(self, turn: Turn) -> None:
        name = turn.target.name
        live = await self._readiness.ready(name)
        trials = plan_pass(live.view, [turn.choice], rng=self._rng).trials
        trial = turn.next(trials, self._rng)
        if trial is None or self._held(turn, trial):
            return
        step = await self._installation.runner.step(live, trial, seed=self._rng.getrandbits(64))
        if isinstance(step, NotProbed):
            self._gaps.opened(name, step)
        elif isinstance(step, Done) and never_answered(step.trial):
            self._gaps.opened(name, unanswered(trial))
        else:
            self._gaps.closed(name, trial.probe, trial.stratum)

    def _held(self, turn: Turn, trial: TrialPlan) -> bool:
        """Return true if the target is to be left alone now; what is left out is recorded."""
        name = turn.target.name
        why = self._watch.backoff(name).holds(trial.budget, self._installation.clock.monotonic())
        if why is None:
            return False
        self._installation.counters.count_skipped_run(name, why)
        log.info("%s on %s is left out: %s", trial.probe, name, why.value)
        if trial.budget is BudgetKind.BOUNDARY:
            turn.shares.give_back(trial.stratum)
            self._gaps.opened(name, backing_off(trial, why))
        return True

    def _note_lag(self, turn: Turn) -> None:
        if turn.due is not None:
            late = (self._installation.clock.now() - turn.due).total_seconds()
            self._installation.counters.set_schedule_lag(turn.target.name, late)

    def _submitted(self, event: JobSubmissionEvent) -> None:
        turn = self._turns.get(event.job_id)
        if turn is not None and (lost := turn.came(event.scheduled_run_times[-1])):
            self._missed(turn, lost, "the schedule stood still")

    def _too_soon(self, event: JobSubmissionEvent) -> None:
        turn = self._turns.get(event.job_id)
        if turn is not None:
            lost = turn.came(event.scheduled_run_times[-1])
            self._missed(turn, lost + 1, "the run before it was still under way")

    def _noticed(self, event: JobExecutionEvent) -> None:
        """A run that was missed or crashed is a recorded fact, never silence."""
        turn = self._turns.get(event.job_id)
        if event.code == EVENT_JOB_MISSED and turn is not None:
            self._note_lag(turn)
            self._missed(turn, 1, "it came too late")
        elif event.code == EVENT_JOB_ERROR:
            log.error("a run of %s crashed: %s", event.job_id, crash_words(event.exception))

    def _missed(self, turn: Turn, runs: int, why: str) -> None:
        self._record.missed(turn.target.name, turn.choice.name, runs, why)

    def standings(self, target: str) -> tuple[Standing, ...]:
        """Return each probe a target is configured with, how often it asks and its last verdict."""
        return tuple(
            Standing(
                probe=turn.choice.name,
                every_seconds=turn.every_seconds if self._scheduler.get_job(turn.id) else None,
                last=self._watch.verdicts.of(target, turn.choice.name),
            )
            for turn in self._turns.values()
            if turn.target.name == target
        )

    @property
    def running(self) -> bool:
        """True while the scheduler takes new runs."""
        return bool(self._scheduler.state == STATE_RUNNING)

    def recalibrated(self, target: str) -> None:
        """Follow a new calibration: what it sets aside is asked no more."""
        self._readiness.renew(target)

    def pause(self) -> None:
        """Take no new runs; those under way go on."""
        if self._scheduler.running:
            self._scheduler.pause()

    def stop(self) -> None:
        """End the schedule. Runs still under way are cancelled: APScheduler lets none finish."""
        self._readiness.stop()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    @property
    def under_way(self) -> int:
        """How many trials are being sent now."""
        return self._running


def run_trigger(every_seconds: float, jitter_seconds: float) -> IntervalTrigger:
    """Return when runs are due: each put off by a random jitter, ``every_seconds`` in the mean."""
    least = max(every_seconds - jitter_seconds / 2, 0.05)
    return IntervalTrigger(seconds=least, jitter=jitter_seconds, timezone="UTC")


def backing_off(trial: TrialPlan, why: SkipReason) -> NotProbed:
    """Return the record of a trial at a limit that waits because the target is left alone."""
    return NotProbed(
        probe=trial.probe,
        stratum=trial.stratum,
        code=NotProbedCode.BACKING_OFF,
        reason=f"the target is left alone for now ({why.value}); it is asked as soon as that ends",
        price=trial.price,
    )
