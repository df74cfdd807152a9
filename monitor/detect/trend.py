"""TREND: a target that gets worse the more it has been asked, also where a restart mends it.

A decay that a restart hides looks harmless on the whole: few answers are late in a life. So beside
the detector over all scores there is one for each *stretch* of age, the number of exchanges since
the start, and these go on over restarts. Each score moves the whole and one stretch. Their sum,
halved, is again a process that grows by at most one a score while all is well, so what ``esr`` says
of false alarms holds of it as it stands; the stretches cost a factor of two in evidence.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from monitor.detect import plain
from monitor.detect.esr import CAP, Alarm, Detector, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The ages at which stretches end. The public case (sglang#23020) decayed within 150 requests;
# others take thousands.
ENDS = (50, 100, 200, 400, 800, 1600, 3200)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendState:
    """Where TREND stands: over all, and in each stretch of age. Plain numbers, as ``State``."""

    whole: State
    stretches: tuple[State, ...]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can keep it, without loss."""
        return {"whole": self.whole.plain(), "stretches": [each.plain() for each in self.stretches]}

    def scaled(self, factor: float) -> TrendState:
        """Return the same with all evidence times ``factor``, for a threshold that changed so."""
        stretches = tuple(each.scaled(factor) for each in self.stretches)
        return TrendState(whole=self.whole.scaled(factor), stretches=stretches)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendAlarm:
    """Answers got worse: what the strongest detector says, and at which ages.

    ``ages`` is the stretch it looked at, from, and up to but without; ``None`` for all ages, and
    an open end is ``None``.
    """

    alarm: Alarm
    ages: tuple[int, int | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The rule; it holds no state. ``detector`` gives ``y0``, bets and threshold."""

    detector: Detector

    def begin(self) -> TrendState:
        """Return the state before the first score, and after an alarm."""
        fresh = self.detector.begin()
        return TrendState(whole=fresh, stretches=(fresh,) * (len(ENDS) + 1))

    def restored(self, kept: object) -> TrendState:
        """Return the state of which ``kept`` is the plain form.

        Raises ``ValueError`` for anything else.
        """
        kept, many = plain.record(kept, "whole", "stretches"), len(ENDS) + 1
        stretches = plain.items(kept["stretches"], least=many, most=many)
        return TrendState(
            whole=self.detector.restored(kept["whole"]),
            stretches=tuple(self.detector.restored(each) for each in stretches),
        )

    def value(self, state: TrendState) -> float:
        """Return what is compared with the threshold."""
        of = self.detector.value
        return (of(state.whole) + sum(of(each) for each in state.stretches)) / 2

    def step(self, state: TrendState, y: float, age: int) -> tuple[TrendState, TrendAlarm | None]:
        """Take the score of an exchange that ``age`` others came before since the start.

        Returns the state after it, begun anew if it raised an alarm. Raises ``ValueError`` for a
        score outside [0, 1].
        """
        after = self.follow(state, y, age)
        if self.value(after) < self.detector.threshold or y <= self.detector.y0:
            return after, None
        return self.begin(), self.alarm(after)

    def follow(self, state: TrendState, y: float, age: int) -> TrendState:
        """Take one score and compare with nothing."""
        place, follow = bisect_right(ENDS, age), self.detector.follow
        stretches = list(state.stretches)
        stretches[place] = follow(stretches[place], y)
        return TrendState(whole=follow(state.whole, y), stretches=tuple(stretches))

    def alarm(self, state: TrendState) -> TrendAlarm:
        """Return what an alarm in this state says."""
        of = self.detector.value
        place = max(range(len(state.stretches)), key=lambda each: of(state.stretches[each]))
        one = state.stretches[place]
        in_stretch = of(one) > of(state.whole)
        since, bad = self.detector.onset(one if in_stretch else state.whole)
        alarm = Alarm(value=self.value(state), seen=state.whole.seen, since=since, bad=bad)
        return TrendAlarm(alarm=alarm, ages=_stretches()[place] if in_stretch else None)


def _stretches() -> tuple[tuple[int, int | None], ...]:
    return (*pairwise((0, *ENDS)), (ENDS[-1], None))


def trend_values(
    detector: Detector, scores: NDArray[np.float64], ages: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the value of TREND after each score of many targets at once, never reset.

    ``scores`` and ``ages`` have a row a target and a column an instant; so has what is returned.
    """
    import numpy as np

    bets, targets = np.asarray(detector.bets), np.arange(len(scores))
    places = np.digitize(ages, ENDS)
    whole = np.zeros((len(scores), len(bets)))
    stretches = np.zeros((len(scores), len(ENDS) + 1, len(bets)))
    sums = np.zeros((len(scores), len(ENDS) + 1))
    values = np.empty(scores.shape)
    for instant in range(scores.shape[1]):
        place = places[:, instant]
        growth = 1 + bets * (scores[:, instant, None] / detector.y0 - 1)
        whole = np.minimum(growth * (whole + 1), CAP)
        own = np.minimum(growth * (stretches[targets, place] + 1), CAP)
        stretches[targets, place] = own
        sums[targets, place] = own.mean(axis=1)
        values[:, instant] = (whole.mean(axis=1) + sums.sum(axis=1)) / 2
    return values
