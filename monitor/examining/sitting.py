"""One look at a finding: what it is, which of its trials can be asked again, and what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import Any

from monitor import __version__
from monitor.app import Installation
from monitor.checking import ready
from monitor.checks import CHECKS_VERSION
from monitor.config import Target
from monitor.configured import selected
from monitor.errors import UnsureError, UsageError
from monitor.examining.asking import Again, cheapest_again, sources_of
from monitor.findings import (
    ISOLATION_BROKEN,
    Finding,
    finding_named,
    is_bare_wrong,
    tells_of_a_fault,
)
from monitor.live import LiveTarget
from monitor.model import Outcome, VerdictClass
from monitor.nodewatch.verdicts import SHAPE as NODE_SHAPE
from monitor.passes import Done, charge, never_answered
from monitor.planning import ProbeChoice
from monitor.probes import PROBES
from monitor.probes.base import TrialPlan
from monitor.reports.examination import ExaminedTrial, Reading
from monitor.store.asked import AskedReader, AskedTrial
from monitor.store.client import connect

CLEAN_EXIT, SHOWN_EXIT, UNSURE_EXIT = 0, 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminationStep:
    """One trial of an examination, for whoever shows progress; the first step is its price."""

    target: str
    words: str
    done: int = 0
    total: int = 0


OnExaminationStep = Callable[[ExaminationStep], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A finding that is looked at, and how the like of its evidence is asked."""

    finding: Finding
    live: LiveTarget
    again: Again
    sources: Sequence[ProbeChoice]


async def subject_of(installation: Installation, given: str, rng: Random) -> Subject:
    """Return what is to be looked at.

    Raises ``UsageError`` for an unknown finding or target, or if another open leak holds its shape
    back, ``UnsureError`` if nothing of its evidence can be asked again.
    """
    finding = await asyncio.to_thread(finding_named, installation.store, given)
    _refuse_a_node(finding)
    (target,) = selected(installation.config, (finding.target,))
    _refuse_another_leak(installation, finding)
    live, _ = await ready(installation, target)
    again, sources = await asyncio.to_thread(_again, installation, target, finding, live, rng)
    _refuse_harm(live, again)
    return Subject(finding=finding, live=live, again=again, sources=sources)


def _refuse_a_node(finding: Finding) -> None:
    if finding.shape == NODE_SHAPE:
        msg = (
            f"{finding.id}: a node has no trial to ask again: `davylamp nodes --target "
            f"{finding.target}` says whether a rule still fails {finding.stratum}; once none does, "
            f"`davylamp findings resolve {finding.id}`"
        )
        raise UnsureError(msg)


def _refuse_another_leak(installation: Installation, finding: Finding) -> None:
    if finding.is_open and finding.verdict_class is VerdictClass.LEAK:
        return
    other = installation.findings.frozen_shapes(finding.target).get(finding.shape)
    if other is not None:
        msg = (
            f"{finding.id}: {other} is open, a LEAK of the same shape, so that asking would read "
            f"others' text: look at that one first"
        )
        raise UsageError(msg)


def _again(
    installation: Installation, target: Target, finding: Finding, live: LiveTarget, rng: Random
) -> tuple[Again, Sequence[ProbeChoice]]:
    """Return the cheapest trial that showed the fault, and the parameters of its probe."""
    asked = _evidence(installation, finding)
    probes = sorted({each.probe for each in asked} & PROBES.keys())
    sources = {probe: sources_of(installation.config, target, probe) for probe in probes}
    again = cheapest_again(asked, sources, live.view, rng)
    if again is None:
        msg = (
            f"{finding.id}: nothing of its evidence can be asked again: a trial of a probe that is "
            "there is needed, and parameters that plan its stratum"
        )
        raise UnsureError(msg)
    return again, sources[again.trial.probe]


def _evidence(installation: Installation, finding: Finding) -> list[AskedTrial]:
    """Return the trials of a finding that gave its class; if none did, all of them."""
    with closing(AskedReader(connect(installation.store.location, read_only=True))) as reader:
        asked = [each for each in reader.asked(finding.trials) if each.shape == finding.shape]
    worst = [each for each in asked if finding.verdict_class.label in each.classes]
    return worst or asked


def _refuse_harm(live: LiveTarget, again: Again) -> None:
    if live.view.gentle and not again.gentle:
        msg = (
            f"{again.trial.stratum} of {again.trial.probe} could harm a target that serves users: "
            "set gentle: false where it does not"
        )
        raise UsageError(msg)


class Sitting:
    """Trials sent to look at a finding, and what all of them came to."""

    def __init__(
        self, installation: Installation, subject: Subject, on_step: OnExaminationStep
    ) -> None:
        self.trials: list[ExaminedTrial] = []
        self.spent = 0
        self.exposures = 0
        self.started_at = installation.clock.now()
        self._installation = installation
        self._subject = subject
        self._on_step = on_step

    async def ask(self, plan: TrialPlan, *, seed: int, total: int) -> ExaminedTrial | None:
        """Send one trial; nothing is returned, or sent, if the budget cannot pay it."""
        subject = self._subject
        done = await self._installation.runner.examine(
            subject.live, plan, finding=subject.finding.id, seed=seed
        )
        if not isinstance(done, Done):
            return None
        verdict = done.verdict
        self.spent += charge(plan, done.trial)
        self.exposures += sum(e.verdict_class in ISOLATION_BROKEN for e in verdict.exchanges)
        examined = ExaminedTrial(
            trial=verdict.trial,
            stratum=verdict.stratum,
            outcome=verdict.outcome.value,
            verdict_class=verdict.verdict_class.label,
            reason=verdict.reason,
            reading=reading_of(subject.finding, done),
        )
        self.trials.append(examined)
        words = f"{plan.probe} {plan.stratum}: {examined.reading.value}"
        self.say(words, done=len(self.trials), total=total)
        return examined

    def say(self, words: str, *, done: int = 0, total: int = 0) -> None:
        """Tell whoever shows progress."""
        target = self._subject.live.view.name
        self._on_step(ExaminationStep(target=target, words=words, done=done, total=total))

    def left_tokens(self, budget: str) -> int:
        """Return what is left today of the budget that pays."""
        target = self._subject.live.view.name
        return next(
            each.tokens
            for each in self._installation.budget.remaining()
            if (each.target, each.kind) == (target, budget)
        )

    def report_fields(self) -> dict[str, Any]:
        """Return what every report of an examination says of the finding and of the trials."""
        installation, subject = self._installation, self._subject
        finding, again = subject.finding, subject.again
        return {
            "davylamp_version": __version__,
            "checks_version": CHECKS_VERSION,
            "configuration_hash": installation.config.hash,
            "environment": installation.config.environment,
            "finding": finding.id,
            "finding_class": finding.verdict_class.label,
            "target": finding.target,
            "model": subject.live.view.model,
            "shape": finding.shape,
            "probe": again.trial.probe,
            "stratum": again.trial.stratum,
            "replayed": again.trial.id,
            "started_at": self.started_at,
            "finished_at": installation.clock.now(),
            "spent_tokens": self.spent,
            "exposures": self.exposures,
            "trials": self.trials,
        }


def reading_of(finding: Finding, done: Done) -> Reading:
    """Return what a trial says of the fault: shown by anything that is proven.

    Parts of foreign text and personal data show a fault that was found by them; where more was
    proven once, they leave it unclear. What a weak model does is another matter, judged by rate.
    """
    verdict = done.verdict
    if verdict.outcome is Outcome.BAD and verdict.verdict_class > VerdictClass.WRONG:
        return Reading.SHOWN
    if tells_of_a_fault(verdict) and not is_bare_wrong(verdict):
        suspected = finding.opened_class is VerdictClass.SUSPECT
        proven = finding.verdict_class > VerdictClass.WRONG
        return Reading.SHOWN if suspected and not proven else Reading.UNCLEAR
    if verdict.outcome in (Outcome.ERROR, Outcome.INVALID) or never_answered(done.trial):
        return Reading.UNCLEAR
    return Reading.CLEAN
