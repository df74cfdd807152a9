"""Whether the checks still see: seeded specimens go through each, and through what measures.

A check that no longer fails what it must fail is *blind*: everything it says is then worthless, and
nobody would notice, since a blind check looks like a healthy target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from monitor.checks import CHECKS, Check, judge_trial
from monitor.checks.base import Specimen
from monitor.clock import Clock
from monitor.measuring import measure
from monitor.model import Signal, Status
from monitor.scoring import NoScorer, Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """A check that misjudged a specimen, and how, in codes."""

    check: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """What one self-test showed: every check it tried, and those that are blind."""

    at: datetime
    checks: tuple[str, ...]
    blind: tuple[Blind, ...]


class SelfTester:
    """Tries every check and configured instrument; keeps the last result for who asks."""

    def __init__(
        self, clock: Clock, scorer: Scorer | None = None, checks: Sequence[Check] = CHECKS
    ) -> None:
        self._clock = clock
        self._scorer = scorer or NoScorer()
        self._checks = checks
        self.last: SelfTest | None = None

    async def run(self, seed: int) -> SelfTest:
        """Send the specimens of this seed through every check; one that crashes is blind."""
        blind = [each for check in self._checks for each in await self._blind(check, Random(seed))]
        self.last = SelfTest(
            at=self._clock.now(),
            checks=tuple(check.code for check in self._checks),
            blind=tuple(blind),
        )
        return self.last

    async def _blind(self, check: Check, rng: Random) -> list[Blind]:
        if check.specimens is None:
            return [Blind(check=check.code, words="it has no specimens")]
        specimens = check.specimens(rng)
        wrong = [await self._misjudged(check, specimen) for specimen in specimens]
        return [Blind(check=check.code, words=words) for words in wrong if words]

    async def _misjudged(self, check: Check, specimen: Specimen) -> str:
        """Return how the check misjudged a specimen, nothing if it judged rightly."""
        history = specimen.history
        if check.code in self._scorer.codes:
            measured = await measure(specimen.trial, (), history, self._scorer)
            history = replace(history, measured=measured)
        signals = [
            signal
            for signal in judge_trial(specimen.trial, history, [check])
            if signal.exchange == specimen.exchange
        ]
        found = {_said(signal) for signal in signals}
        if specimen.variant:
            missed = specimen.variant not in found
            return f"missed {specimen.variant}: said {_list(found)}" if missed else ""
        return "" if found == {"pass"} else f"a healthy answer: said {_list(found)}"


def _said(signal: Signal) -> str:
    if signal.status is Status.ERROR:
        return f"{signal.status.value} ({signal.explanation})"
    return signal.variant if signal.status is Status.FAIL else signal.status.value


def _list(found: set[str]) -> str:
    return ", ".join(sorted(found)) or "nothing"
