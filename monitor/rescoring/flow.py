"""One run of ``rescore``: open, judge again in the order of the first time, keep, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta

from monitor.app import store_of
from monitor.assessment import assess
from monitor.baselines import parts_today
from monitor.calibration import calibrations_in
from monitor.checks import CHECKS_VERSION
from monitor.clock import Clock, new_id
from monitor.config import Config
from monitor.configured import choices_of, golden_prompts
from monitor.errors import UsageError
from monitor.findings import FindingState
from monitor.history import REMEMBERED_EXCHANGES
from monitor.measuring import Measuring
from monitor.model import CalibrationStatus, Verdict
from monitor.prompts import GoldenPrompt
from monitor.reports.rescore import RescoreReport
from monitor.rescoring.asking import OnRescoreStep, Rescore, RescoreStep
from monitor.rescoring.opening import NotOpened, Reopened, reopened
from monitor.rescoring.past import EarlierOpinion, Markers, Past, past_of
from monitor.rescoring.result import report_of
from monitor.rescoring.tally import ISOLATION_BROKEN, Again, Tally
from monitor.scorers import scorer_of
from monitor.scoring import Scorer
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.decode import class_of
from monitor.store.encode import judgement_rows
from monitor.store.kept import KeptReader, Span
from monitor.store.links import Action
from monitor.store.retention import in_time
from monitor.store.rows import AnyRow
from monitor.verdicts import decide

SOURCE = "rescore"
# How often progress is told of.
_STEPS = 200


async def rescore(
    config: Config, clock: Clock, asked: Rescore, on_step: OnRescoreStep
) -> RescoreReport:
    """Judge stored answers again with the checks of today, and return what is different.

    Nothing is sent and no finding changes; the new verdicts are kept with the source ``rescore``.
    Raises ``UsageError`` for a target nobody knows and ``StoreBusyError`` if another process owns
    the store.
    """
    with store_of(config) as store:
        return await rescore_in(store, config, clock, asked, on_step, golden_prompts())


async def rescore_in(
    store: Store,
    config: Config,
    clock: Clock,
    asked: Rescore,
    on_step: OnRescoreStep,
    golden: Mapping[str, GoldenPrompt],
) -> RescoreReport:
    """Do the same in a store that is open already, with these golden prompts."""
    with ExitStack() as resources:
        bodies_since = in_time(config.storage.retention, clock.now())
        reader = KeptReader(connect(store.location, read_only=True), bodies_since)
        resources.enter_context(closing(reader))
        scorer = resources.enter_context(closing(scorer_of(config)))
        run = _Run(config, clock, asked, store, reader, scorer, golden)
        return await run.run(on_step)


class _Run:
    """A run under way."""

    def __init__(
        self,
        config: Config,
        clock: Clock,
        asked: Rescore,
        store: Store,
        reader: KeptReader,
        scorer: Scorer,
        golden: Mapping[str, GoldenPrompt],
    ) -> None:
        self._config = config
        self._clock = clock
        self._asked = asked
        self._store = store
        self._reader = reader
        self._scorer = scorer
        self._golden = golden
        self._markers = Markers(store.key, store.markers.load())
        self._calibrations = calibrations_in(store)
        self._pasts: dict[str, Past] = {}
        self._tally = Tally()
        self._total = 0
        self._rows: list[AnyRow] = []
        self._covering: dict[str, bool] = {}

    async def run(self, on_step: OnRescoreStep) -> RescoreReport:
        """Judge every trial of the time asked about again."""
        asked = self._asked
        found = self._reader.judged(asked.since, asked.until)
        targets = self._chosen(found)
        self._total = sum(found.get(name, 0) for name in targets)
        # Before anything is opened: who opens bodies must not get away with breaking it off.
        self._note("begun", trials=self._total)
        for page in self._reader.pages(Span(starts=self._starts(targets), until=asked.until)):
            for bodies in self._reader.bodies(page):
                for verdict in page:
                    if verdict.trial in bodies:
                        rows = bodies[verdict.trial]
                        if await self._one(verdict, reopened(verdict, rows, asked.opener)):
                            self._step(on_step)
            self._written()
        self._note("ended", judged=self._tally.judged, trials=self._tally.trials)
        self._store.flush()
        return report_of(self._config, asked, targets, self._tally)

    def _chosen(self, found: dict[str, int]) -> tuple[str, ...]:
        configured = [target.name for target in self._config.targets]
        known = dict.fromkeys([*configured, *found])
        for name in self._asked.targets:
            if name not in known:
                msg = f"no target {name!r} (use one of: {', '.join(known)})"
                raise UsageError(msg)
        return self._asked.targets or tuple(known)

    def _starts(self, targets: Sequence[str]) -> dict[str, datetime]:
        """Return from where to read each target: its answers are held against those before."""
        since = self._asked.since
        least = since - timedelta(days=self._config.storage.retention.bodies_days)
        past = self._reader.past_starts(targets, least, since, REMEMBERED_EXCHANGES)
        return {name: past.get(name, since) for name in targets}

    async def _one(self, verdict: Verdict, found: Reopened | NotOpened) -> bool:
        """Take one trial; return whether it was asked about, and not only read to know the past."""
        asked_about = verdict.decided_at >= self._asked.since
        past = self._past(verdict.target)
        if isinstance(found, Reopened):
            new = await self._judged(verdict, found, past.take(found))
            if asked_about:
                self._keep(verdict, new, found, past)
            else:
                self._tally.earlier += 1
        else:
            past.miss()
            if asked_about:
                self._tally.not_opened(found)
        return asked_about

    async def _judged(self, old: Verdict, found: Reopened, past: Past) -> Verdict:
        self._markers.known(old.markers)
        judge = self._config.settings.checks.judge
        opinion = EarlierOpinion(old) if judge is not None else None
        signals = await assess(
            found.trial,
            past,
            self._markers.registry,
            self._golden,
            Measuring(self._scorer, opinion),
        )
        decided = decide(
            found.trial,
            signals,
            verdict_id=new_id("verdict"),
            now=self._clock.now(),
            checks_version=CHECKS_VERSION,
            source=SOURCE,
            markers=len(self._markers.registry),
        )
        return replace(decided, scheduled=False, rescores=old.id)

    def _past(self, target: str) -> Past:
        if target not in self._pasts:
            self._pasts[target] = past_of(self._config, target, self._calibrated(target))
        return self._pasts[target]

    def _calibrated(self, name: str) -> CalibrationStatus:
        target = self._config.target(name)
        if target is None:
            return CalibrationStatus()
        parts = parts_today(self._config, target, self._golden, choices_of)
        return self._calibrations.status(name, parts)

    def _keep(self, old: Verdict, new: Verdict, found: Reopened, past: Past) -> None:
        self._rows += judgement_rows(new, found.trial, self._store.hasher)
        covered = self._is_covered(old)
        again = Again(old=old, new=new, covered=covered, past_whole=past.whole)
        self._tally.judged_again(again)

    def _is_covered(self, verdict: Verdict) -> bool:
        """Tell whether a finding says that isolation is broken, and nobody said that it is not."""
        if verdict.finding is None:
            return False
        if verdict.finding not in self._covering:
            row = self._reader.finding(verdict.finding)
            self._covering[verdict.finding] = (
                row is not None
                and row.state != FindingState.DISMISSED
                and class_of(row.verdict_class) in ISOLATION_BROKEN
            )
        return self._covering[verdict.finding]

    def _written(self) -> None:
        self._store.writer.put(self._rows)
        self._rows = []

    def _step(self, on_step: OnRescoreStep) -> None:
        done, total = self._tally.trials, max(self._total, self._tally.trials)
        if done % max(1, total // _STEPS) == 0 or done == total:
            words = f"{self._tally.worse} worse, {self._tally.uncovered} leaks without a finding"
            on_step(RescoreStep(words=words, done=done, total=total))

    def _note(self, what: str, **numbers: int) -> None:
        asked = self._asked
        self._store.audit.append(
            Action.OPEN_BODIES,
            asked.opener.key_id,
            actor=asked.who,
            at=self._clock.now(),
            details={
                "what": what,
                "since": asked.since.isoformat(),
                "until": asked.until.isoformat(),
                **numbers,
            },
        )
