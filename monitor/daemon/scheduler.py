"""When to ask: one APScheduler job a probe and target, each run one trial of its plan.

A probe's plan is a day's worth of trials in turn; a run takes the next one, so that each probe
asks at its interval and what it asks goes round. Dear probes are spread so that the day's budget
lasts the day.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.schedulers.base import STATE_RUNNING
from apscheduler.triggers.interval import IntervalTrigger

from monitor.app import Installation, choices_of, initialise_series
from monitor.checking import ready
from monitor.config import Config, Target
from monitor.logs import crash_words
from monitor.passes import Done
from monitor.pipeline import LiveTarget
from monitor.planning import NotProbed, ProbeChoice, plan_pass
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind, TrialPlan

log = logging.getLogger(__name__)

DAY_SECONDS = 86_400.0
# How long what a target says of its limits is believed.
DISCOVERY_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class Turn:
    """The trials of one probe on one target that are still to be sent this round."""

    target: Target
    choice: ProbeChoice
    waiting: list[TrialPlan]


class ProbeSchedule:
    """Runs every probe of every target at its interval, one trial at a time."""

    def __init__(self, installation: Installation, *, jitter: Callable[[float], float]) -> None:
        self._installation = installation
        self._jitter = jitter
        self._rng = Random(secrets.randbits(64))
        self._known: dict[str, tuple[float, LiveTarget]] = {}
        self._gaps: dict[tuple[str, str], tuple[NotProbed, ...]] = {}
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
        self._scheduler.add_listener(self._noticed, EVENT_JOB_ERROR | EVENT_JOB_MISSED)
        self._running = 0

    async def start(self) -> None:
        """Plan every target, make its series, and start the jobs, spread over their interval."""
        for target in self._installation.config.targets:
            live = await self._ready(target)
            choices = choices_of(self._installation.config, target)
            initialise_series(self._installation, live, choices)
            for choice in choices:
                self._add(target, choice, live)
        self._scheduler.add_job(
            self._forget_expired,
            IntervalTrigger(seconds=int(DAY_SECONDS), timezone="UTC"),
            id="forget-expired-markers",
            next_run_time=self._installation.clock.now(),
        )
        self._scheduler.start()

    async def _forget_expired(self) -> None:
        await asyncio.to_thread(self._installation.forget_expired)

    def _add(self, target: Target, choice: ProbeChoice, live: LiveTarget) -> None:
        config = self._installation.config
        trials = plan_pass(live.view, [choice], rng=Random(0)).trials
        interval = probe_interval(config, target, choice.name, trials)
        first = self._jitter(interval if config.schedule.spread else 1.0)
        self._scheduler.add_job(
            self._run,
            IntervalTrigger(
                seconds=max(1, round(interval)),
                jitter=min(int(config.schedule.jitter_seconds), max(1, int(interval / 4))),
                timezone="UTC",
            ),
            args=[Turn(target=target, choice=choice, waiting=[])],
            id=f"{target.name}/{choice.name}",
            next_run_time=self._installation.clock.now() + timedelta(seconds=first),
        )

    async def _ready(self, target: Target) -> LiveTarget:
        """Return the target with the limits it stated lately; they rarely change."""
        now = self._installation.clock.monotonic()
        known = self._known.get(target.name)
        if known is None or now - known[0] > DISCOVERY_SECONDS:
            live, _ = await ready(self._installation, target)
            known = self._known[target.name] = (now, live)
        return known[1]

    async def _run(self, turn: Turn) -> None:
        self._running += 1
        try:
            await self._send_next(turn)
        finally:
            self._running -= 1

    async def _send_next(self, turn: Turn) -> None:
        installation, name = self._installation, turn.target.name
        live = await self._ready(turn.target)
        if not turn.waiting:
            plan = plan_pass(live.view, [turn.choice], rng=self._rng)
            turn.waiting = list(plan.trials)
            self._note_gaps(name, turn.choice.name, plan.not_probed)
        if not turn.waiting:
            return
        trial = turn.waiting.pop(0)
        step = await installation.runner.step(live, trial, seed=self._rng.getrandbits(64))
        if not isinstance(step, Done):
            self._note_gaps(name, turn.choice.name, (step,))

    def _note_gaps(self, target: str, probe: str, gaps: tuple[NotProbed, ...]) -> None:
        self._gaps[target, probe] = gaps
        every = [gap for (of, _), found in self._gaps.items() if of == target for gap in found]
        self._installation.counters.set_not_probed(
            target, [(gap.probe, gap.stratum, gap.code) for gap in every]
        )

    def _submitted(self, event: JobSubmissionEvent) -> None:
        self._note_lag(event.job_id, event.scheduled_run_times[-1])

    def _note_lag(self, job_id: str, due: datetime) -> float:
        target = job_id.partition("/")[0]
        late = (self._installation.clock.now() - due).total_seconds()
        if target in self._installation.targets:
            self._installation.counters.set_schedule_lag(target, late)
        return late

    def _noticed(self, event: JobExecutionEvent) -> None:
        """A run that was missed or crashed is a recorded fact, never silence."""
        if event.code == EVENT_JOB_MISSED:
            late = self._note_lag(event.job_id, event.scheduled_run_time)
            log.warning("missed a run of %s, %.0f s late", event.job_id, late)
        else:
            log.error("a run of %s crashed: %s", event.job_id, crash_words(event.exception))

    @property
    def running(self) -> bool:
        """True while the scheduler takes new runs."""
        return bool(self._scheduler.state == STATE_RUNNING)

    def pause(self) -> None:
        """Take no new runs; those under way go on."""
        if self._scheduler.running:
            self._scheduler.pause()

    def stop(self) -> None:
        """End the schedule. Runs still under way are cancelled: APScheduler lets none finish."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    @property
    def under_way(self) -> int:
        """How many trials are being sent now."""
        return self._running


def probe_interval(
    config: Config, target: Target, probe: str, trials: tuple[TrialPlan, ...]
) -> float:
    """Return the seconds between two trials of a probe: its interval, or more if it is dear.

    Ordinary probes share the day's budget equally; boundary probes have their own.
    """
    entry = next((e for e in target.entries if e.name == probe), None)
    interval = config.for_probe(target, entry).interval_seconds
    settings = config.for_target(target)
    if any(trial.budget is BudgetKind.BOUNDARY for trial in trials):
        return affordable_interval(interval, trials, settings.boundary.tokens)
    sharers = [c for c in choices_of(config, target) if not PROBES[c.name].at_limits]
    return affordable_interval(interval, trials, settings.daily.tokens / max(1, len(sharers)))


def affordable_interval(
    interval: float, trials: tuple[TrialPlan, ...], daily_tokens: float
) -> float:
    """Return an interval at which the day's tokens last the day, at least ``interval`` seconds."""
    if not trials:
        return interval
    if daily_tokens <= 0:
        return max(interval, DAY_SECONDS)
    price = sum(trial.price.answered_tokens for trial in trials) / len(trials)
    return max(interval, DAY_SECONDS * price / daily_tokens)
