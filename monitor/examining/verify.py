"""``findings verify``: the smallest trial that showed a fault, again and again until it is clean.

So many clean replays are asked for as bring the upper bound of how often the fault can still show
below what was stated. The number is fixed before the first is sent; the price is that of the first
so many times. Each is planned when it is its turn, since thousands take a minute to plan.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from random import Random

from monitor.app import Installation
from monitor.detect.binomial import CONFIDENCE, exchanges_to_show, upper_bound
from monitor.errors import UnsureError
from monitor.examining.asking import draw
from monitor.examining.sitting import (
    CLEAN_EXIT,
    SHOWN_EXIT,
    UNSURE_EXIT,
    OnExaminationStep,
    Sitting,
    Subject,
    subject_of,
)
from monitor.model import VerdictClass
from monitor.probes.base import TrialPlan
from monitor.reports.examination import Reading
from monitor.reports.verification import VerificationReport, plan_words

DEFAULT_BOUND = 0.05
# Replays beyond those that are needed, for such as say nothing: so many, or a tenth.
_SPARE, _SPARE_SHARE = 3, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Which finding, below which share of trials its fault must be shown to be, and if it sends."""

    finding: str
    bound: float = DEFAULT_BOUND
    sends: bool = True


async def verify_finding(
    installation: Installation, asked: Verify, on_step: OnExaminationStep
) -> VerificationReport:
    """Replay a finding until it is clean or shows its fault, and return what that proves.

    It stops at the first LEAK, and at whatever else shows the fault. Raises as ``subject_of``.
    """
    rng = Random(secrets.randbits(64))
    subject = await subject_of(installation, asked.finding, rng)
    first = await asyncio.to_thread(_draw, subject, rng)
    if first is None:
        raise UnsureError(f"{subject.finding.id}: {_not_planned(subject)}")
    verification = _Verification(installation, subject, asked, first, on_step)
    if asked.sends:
        await verification.run(rng)
    return verification.report()


def replays_for(bound: float) -> int:
    """Return how many clean replays show that a fault is below ``bound``, with 95 %.

    Raises ``ValueError`` for a bound outside (0, 1).
    """
    return exchanges_to_show(bound)


def _draw(subject: Subject, rng: Random) -> TrialPlan | None:
    return draw(subject.again.trial, subject.again.choice, subject.live.view, rng)


def _not_planned(subject: Subject) -> str:
    return f"{subject.again.trial.id} is not planned like that again"


class _Verification:
    """One verification under way."""

    def __init__(
        self,
        installation: Installation,
        subject: Subject,
        asked: Verify,
        first: TrialPlan,
        on_step: OnExaminationStep,
    ) -> None:
        self._installation = installation
        self._asked = asked
        self._subject = subject
        self._first = first
        self._needed = replays_for(asked.bound)
        self._most = self._needed + max(_SPARE, self._needed // _SPARE_SHARE)
        self._sitting = Sitting(installation, subject, on_step)
        self._budget = first.budget.value
        self._left = self._sitting.left_tokens(self._budget)
        self._reasons: list[str] = []

    async def run(self, rng: Random) -> None:
        """Send replays until enough are clean, one shows the fault, or nothing more can be told."""
        self._sitting.say(plan_words(self.report()))
        tested = await self._installation.self_tester.run(rng.getrandbits(64))
        if tested.blind:
            blind = ", ".join(each.check for each in tested.blind)
            self._reasons.append(f"nothing was sent: checks are blind ({blind})")
            return
        if self._price(answered=False) > self._left:
            self._reasons.append("nothing was sent: the day's budget cannot pay the replays")
            return
        plan: TrialPlan | None = self._first
        for _ in range(self._most):
            if plan is None:
                self._reasons.append(_not_planned(self._subject))
                return
            seed = rng.getrandbits(64)
            examined = await self._sitting.ask(plan, seed=seed, total=self._needed)
            if examined is None:
                self._reasons.append("the day's budget was spent before the end")
                return
            if examined.reading is Reading.SHOWN:
                self._reasons.append(f"{examined.verdict_class}: {examined.reason}")
                return
            if self._count(Reading.CLEAN) == self._needed:
                return
            plan = await asyncio.to_thread(_draw, self._subject, rng)
        self._reasons.append("too many replays said nothing")

    def report(self) -> VerificationReport:
        """Return what is known now."""
        clean, exit_code = self._count(Reading.CLEAN), self._exit()
        wrong = VerdictClass.WRONG.label
        return VerificationReport(
            **self._sitting.report_fields(),
            exit_code=exit_code,
            verdict=self._verdict(exit_code),
            reasons=list(self._reasons),
            refused_tokens=self._price(answered=False),
            answered_tokens=self._price(answered=True),
            budget=self._budget,
            left_tokens=self._left,
            bound=self._asked.bound,
            confidence=CONFIDENCE,
            needed=self._needed,
            sends=self._asked.sends,
            clean=clean,
            wrong=sum(
                each.reading is Reading.CLEAN and each.verdict_class == wrong
                for each in self._sitting.trials
            ),
            unclear=self._count(Reading.UNCLEAR),
            upper_bound=upper_bound(0, clean) if clean and exit_code != SHOWN_EXIT else None,
        )

    def _exit(self) -> int:
        if self._count(Reading.SHOWN):
            return SHOWN_EXIT
        done = self._count(Reading.CLEAN) >= self._needed
        return CLEAN_EXIT if done or not self._asked.sends else UNSURE_EXIT

    def _verdict(self, exit_code: int) -> str:
        if not self._asked.sends:
            return "planned"
        return {CLEAN_EXIT: "clean", SHOWN_EXIT: "still bad"}.get(exit_code, "could not tell")

    def _count(self, reading: Reading) -> int:
        return sum(each.reading is reading for each in self._sitting.trials)

    def _price(self, *, answered: bool) -> int:
        price = self._first.price
        return self._needed * (price.answered_tokens if answered else price.refused_tokens)
