"""One sitting: price, ask, note, judge, sign, store. Nothing is stored before all of it is done."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from monitor.app import Installation
from monitor.calibrating.making import Maker, Rules, make, missed_at_most, misses_most
from monitor.calibrating.planning import LEAST_SAMPLES, SAMPLES, Sitting, plan_sitting
from monitor.calibrating.recording import Recording
from monitor.calibrating.result import Outcome, Stopped, report_of
from monitor.checking import ready
from monitor.checks import CHECKS_VERSION
from monitor.clock import new_id
from monitor.config import Target
from monitor.configured import choices_of, selected, token_price
from monitor.errors import UsageError
from monitor.history import History
from monitor.live import LiveTarget
from monitor.model import (
    CalibrationState,
    CalibrationStatus,
    Exchange,
    ExchangeVerdict,
    ToleranceSource,
    VerdictClass,
)
from monitor.model import Outcome as CameTo
from monitor.passes import Done, charge
from monitor.probes.base import BudgetKind, TrialPlan
from monitor.reports.calibration import CalibrationReport
from monitor.reports.summary import BAD_EXIT, UNSURE_EXIT

# A target that says one of these is to be left alone, or needs somebody to mend something.
LEAVE_ALONE = frozenset({401, 402, 403, 429})
# So many trials of a hundred may be asked again because no answer came.
ASKED_AGAIN = 0.01
_FIRST = "first calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrate:
    """What is asked for: a target, how often each golden prompt, by whom and why."""

    target: str
    who: str
    samples: int = SAMPLES
    reason: str = ""
    replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationStep:
    """One step in our own words, for whoever shows progress; step 0 states the price."""

    target: str
    words: str
    done: int
    total: int


OnCalibrationStep = Callable[[CalibrationStep], None]


async def calibrate(
    installation: Installation, asked: Calibrate, on_step: OnCalibrationStep
) -> CalibrationReport:
    """Record a healthy target, store the signed calibration, and hold the target to it.

    Raises ``UsageError`` for what cannot be asked: an unknown target, too few samples, or a
    calibration that is there and would be changed in silence.
    """
    (target,) = selected(installation.config, (asked.target,))
    before = installation.baselines.status(target)
    _refuse_silent_change(asked, before)
    sitting = _Sitting(installation, target, asked, on_step)
    outcome = await sitting.sit(_reason(asked, before))
    return report_of(installation, target, outcome)


def _refuse_silent_change(asked: Calibrate, before: CalibrationStatus) -> None:
    if asked.samples < LEAST_SAMPLES:
        msg = f"--samples {asked.samples} says nothing of a prompt (at least {LEAST_SAMPLES})"
        raise UsageError(msg)
    there = before.state in (CalibrationState.VALID, CalibrationState.BROKEN)
    if there and not (asked.replace and asked.reason):
        if before.newest is not None:
            what = f"is calibrated: {before.newest.made_at:%Y-%m-%d} by {before.newest.made_by}"
        else:
            what = f"has calibration {before.broken[0]}, which is not what was signed"
        msg = f"{asked.target} {what} (to make a new one: --replace --reason WHY)"
        raise UsageError(msg)


def _reason(asked: Calibrate, before: CalibrationStatus) -> str:
    if asked.reason or before.state is CalibrationState.NONE:
        return asked.reason or _FIRST
    return f"the one before is stale: {', '.join(before.changed)}"


class _Sitting:
    """A sitting under way."""

    def __init__(
        self,
        installation: Installation,
        target: Target,
        asked: Calibrate,
        on_step: OnCalibrationStep,
    ) -> None:
        self._installation = installation
        self._target = target
        self._asked = asked
        self._on_step = on_step
        self._rng = Random(secrets.randbits(64))
        self._settings = installation.config.for_target(target)
        self._started_at = installation.clock.now()
        self._done = self._total = self._errors = self._charged = 0
        self._stopped: Stopped | None = None

    async def sit(self, reason: str) -> Outcome:
        """Ask everything; return what came of it, with the calibration if it was stored."""
        live = await self._as_uncalibrated()
        golden = {prompt.name: prompt for prompt in live.view.golden}
        recording = Recording(History(registry=self._installation.registry, golden=golden))
        sitting = self._planned(live)
        await self._see_that_checks_see()
        self._stopped = self._stopped or self._hindered(sitting)
        await self._record(live, sitting.golden, recording)
        self._judge_prompts(recording)
        await self._record(self._as_it_seems(live, recording), sitting.others, recording)
        if self._stopped is None:
            await self._store(recording, reason)
        return Outcome(
            started_at=self._started_at,
            stopped=self._stopped,
            answers=len(recording.answers),
            errors=self._errors,
            charged=self._charged,
            sitting=sitting,
        )

    async def _as_uncalibrated(self) -> LiveTarget:
        """Return the target as it is judged without what it was held to before."""
        live, _ = await ready(self._installation, self._target)
        live = replace(live)
        live.hold_to(CalibrationStatus(), self._settings.tolerance)
        return live

    def _as_it_seems(self, live: LiveTarget, recording: Recording) -> LiveTarget:
        """Return the target as weak as its golden answers show it to be, unless that is set.

        What only a strong model never does would else be called a fault of a healthy weak one.
        """
        counts = recording.counts()
        if live.tolerance_source is ToleranceSource.CONFIGURED or not counts:
            return live
        return replace(live, tolerance=max(live.tolerance, missed_at_most(counts)))

    def _planned(self, live: LiveTarget) -> Sitting:
        sitting = plan_sitting(
            live.view,
            choices_of(self._installation.config, self._target),
            samples=self._asked.samples,
            boundary_left=self._left(BudgetKind.BOUNDARY),
            rng=self._rng,
        )
        self._total = len(sitting.golden) + len(sitting.others)
        price = sitting.price()
        usd = f", {token_price(self._target).usd(price):.2f} USD" if self._target.price else ""
        self._say(
            f"{len(sitting.golden):,} golden trials ({self._asked.samples} a prompt) and "
            f"{len(sitting.others):,} of other probes, at most {price:,} tokens{usd}; left today: "
            f"{self._left(BudgetKind.ORDINARY):,}, boundary {self._left(BudgetKind.BOUNDARY):,}"
        )
        return sitting

    def _hindered(self, sitting: Sitting) -> Stopped | None:
        """Return why nothing is to be sent at all."""
        open_ones = [
            finding
            for finding in self._installation.findings.list_open(self._target.name)
            if finding.verdict_class > VerdictClass.WRONG
        ]
        if open_ones:
            words = f"finding {open_ones[0].id} ({open_ones[0].verdict_class.label}) is open"
            return Stopped(exit_code=BAD_EXIT, words=f"{words}: a target that is not healthy")
        price, left = sitting.price(BudgetKind.ORDINARY), self._left(BudgetKind.ORDINARY)
        if price > left:
            words = f"it may take {price:,} tokens, and {left:,} are left of the ordinary budget"
            remedy = "fewer --samples, a larger daily_budget, or tomorrow"
            return Stopped(exit_code=UNSURE_EXIT, words=f"{words} today ({remedy})")
        if not sitting.golden:
            return Stopped(exit_code=UNSURE_EXIT, words="there is no golden prompt to ask")
        return None

    async def _see_that_checks_see(self) -> None:
        """Stop if a check is blind: it would take a sick target for a healthy one."""
        tested = await self._installation.self_tester.run(self._rng.getrandbits(64))
        if tested.blind:
            words = f"the check {tested.blind[0].check} is blind: {tested.blind[0].words}"
            self._stopped = Stopped(exit_code=UNSURE_EXIT, words=words)

    async def _record(
        self, live: LiveTarget, plans: Sequence[TrialPlan], recording: Recording
    ) -> None:
        waiting = deque(plans)
        while waiting and self._stopped is None:
            plan = waiting.popleft()
            seed = self._rng.getrandbits(64)
            runner = self._installation.runner
            step = await runner.step(live, plan, seed=seed, scheduled=False)
            if not isinstance(step, Done):
                self._stop(UNSURE_EXIT, f"{plan.probe} was not probed: {step.reason}")
                continue
            self._charged += charge(plan, step.trial)
            if self._take(plan, step, recording):
                self._done += 1
                verdict = step.verdict
                wrong = f" {verdict.verdict_class.label}" * bool(verdict.verdict_class)
                self._say(f"{plan.probe} {plan.stratum}: {verdict.outcome.value}{wrong}")
            else:
                waiting.append(plan)

    def _take(self, plan: TrialPlan, step: Done, recording: Recording) -> bool:
        """Note a trial; false if it is to be asked again, because an answer did not come."""
        verdict = step.verdict
        if verdict.verdict_class > VerdictClass.WRONG:
            words = f"{verdict.verdict_class.label}: {verdict.reason}"
            self._stop(BAD_EXIT, f"not a healthy target: {words}", step)
            return False
        unjudged = _unjudged(step)
        if unjudged is None and not step.trial.broken:
            recording.note(step)
            return True
        self._errors += 1
        leave = unjudged is not None and unjudged[0].http_status in LEAVE_ALONE
        if leave or self._errors > ASKED_AGAIN * self._total:
            words = unjudged[1].reason if unjudged else verdict.reason
            place = f"{plan.probe} {plan.stratum}"
            self._stop(UNSURE_EXIT, f"{place}: {words} (trial {step.trial.id})")
        return False

    def _judge_prompts(self, recording: Recording) -> None:
        """Stop if the target misses most prompts: it is not healthy, or not to be judged so."""
        if self._stopped is not None:
            return
        counts = recording.counts()
        if missed := misses_most(counts, self._settings.tolerance):
            words = f"it misses {missed} of {len(counts)} golden prompts more often than is allowed"
            self._stop(BAD_EXIT, f"{words}: more than half would have to be set aside")

    async def _store(self, recording: Recording, reason: str) -> None:
        baselines = self._installation.baselines
        maker = Maker(
            id=new_id("calibration"),
            target=self._target.name,
            model=self._target.model,
            made_at=self._installation.clock.now(),
            made_by=self._asked.who,
            reason=reason,
            checks_version=CHECKS_VERSION,
            parts=baselines.parts(self._target),
        )
        # Off the loop: bounds are worked out, and the disk is waited for.
        made = await asyncio.to_thread(make, recording, maker, self._rules())
        await asyncio.to_thread(baselines.calibrations.keep, made)
        baselines.hold(self._installation.targets[self._target.name])

    def _rules(self) -> Rules:
        return Rules(
            configured=self._settings.tolerance,
            floor=1 - self._settings.objective_percent / 100,
            margin=self._settings.calibration_margin,
        )

    def _left(self, kind: BudgetKind) -> int:
        name = self._target.name
        left = {r.kind: r.tokens for r in self._installation.budget.remaining() if r.target == name}
        return left.get(kind.value, 0)

    def _stop(self, exit_code: int, words: str, step: Done | None = None) -> None:
        self._stopped = Stopped(exit_code=exit_code, words=words, step=step)

    def _say(self, words: str) -> None:
        self._on_step(
            CalibrationStep(
                target=self._target.name, words=words, done=self._done, total=self._total
            )
        )


def _unjudged(step: Done) -> tuple[Exchange, ExchangeVerdict] | None:
    """Return the first exchange that could not be told good or bad, although it counts."""
    pairs = zip(step.trial.exchanges, step.verdict.exchanges, strict=True)
    return next(
        (
            (exchange, verdict)
            for exchange, verdict in pairs
            if verdict.counted and verdict.outcome not in (CameTo.GOOD, CameTo.BAD)
        ),
        None,
    )
