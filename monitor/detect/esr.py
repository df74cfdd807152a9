"""When a stream of scores moved: the mixture e-SR detector for badness in [0, 1].

Shin, Ramdas and Rinaldo, *E-detectors* (arXiv 2203.03532). Healthy means that the expected score,
given the past, is at most ``y0``; scores need not be independent. For each bet ``l`` in (0, 1)

    L(y) = 1 + l (y / y0 - 1)        has a conditional mean of at most 1 while all is well,
    M    = L(y) (M + 1), from 0      and the detector alarms when the mean of M over the bets is c.

M - n is then a supermartingale, so the mean time between false alarms is at least ``threshold``,
the chance of one within n scores at most n / threshold, and with a reset after each alarm at most
n / threshold are expected in n scores. The price: it sees no move that stays below ``y0``.

Only a score above ``y0`` raises an alarm. M also grows while all is well, by one a score, until it
levels off at the mean of (1 - l) / l; a small threshold lies below that, and nobody should be woken
by an answer that was right. Waiting with an alarm that is due only makes it rarer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from monitor.detect import plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Bets for scores that are not 0 or 1, such as one less a similarity.
SCORE_BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
# Runs of equal scores that are remembered to say when the move began.
REMEMBERED = 256
# Of the tolerances a healthy stream may be held to; beyond this nothing is judged.
LARGEST_Y0 = 0.5
_TOP_RATE = 0.95
_LAST_DOUBLING = 0.9
# Far above every threshold, far below what a float holds.
CAP = 1e200


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a detector stands: plain numbers, so that it survives a restart.

    ``values`` are M by bet, ``seen`` the scores since the start or the last alarm, ``recent`` the
    last runs of equal scores among these, oldest first: the score, and how many in a row.
    """

    values: tuple[float, ...]
    seen: int = 0
    recent: tuple[tuple[float, int], ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can keep it, without loss."""
        recent = [[score, times] for score, times in self.recent]
        return {"values": list(self.values), "seen": self.seen, "recent": recent}

    def scaled(self, factor: float) -> State:
        """Return the same with all evidence times ``factor``, for a threshold that changed so."""
        values = tuple(min(value * factor, CAP) for value in self.values)
        return State(values=values, seen=self.seen, recent=self.recent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """The stream moved: about ``since`` scores ago, and these summed up to ``bad``.

    ``value`` is what the detector stood at; ``seen`` the scores since its start.
    """

    value: float
    seen: int
    since: int
    bad: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """A rule for one kind of stream; it holds no state. ``bets`` have equal weights.

    False alarms: at most one in ``threshold`` scores, on average, of a stream within ``y0``.
    """

    y0: float
    threshold: float
    bets: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (0 < self.y0 < 1 and self.threshold >= 1 and math.isfinite(self.threshold)):
            msg = f"no such detector: y0 {self.y0}, threshold {self.threshold}"
            raise ValueError(msg)
        if not self.bets or not all(0 < bet < 1 for bet in self.bets):
            msg = f"bets lie between 0 and 1: {self.bets}"
            raise ValueError(msg)

    def begin(self) -> State:
        """Return the state before the first score, and after an alarm."""
        return State(values=(0.0,) * len(self.bets))

    def restored(self, kept: object) -> State:
        """Return the state of which ``kept`` is the plain form.

        Raises ``ValueError`` for anything else, also for the state of a detector with more or
        fewer bets. Whoever changes ``y0`` begins anew: going on would be peeking by configuration.
        """
        kept = plain.record(kept, "values", "seen", "recent")
        bets, runs = len(self.bets), plain.items(kept["recent"], most=REMEMBERED)
        values = plain.items(kept["values"], least=bets, most=bets)
        state = State(
            values=tuple(plain.number(each, low=0, high=CAP) for each in values),
            seen=plain.count(kept["seen"]),
            recent=tuple(
                (plain.number(score, low=0, high=1), plain.count(times, low=1))
                for score, times in (plain.items(run, least=2, most=2) for run in runs)
            ),
        )
        known = sum(times for _, times in state.recent)
        if known > state.seen or (known < state.seen and len(runs) < REMEMBERED):
            raise ValueError("the state of a detector that forgot scores")
        return state

    def value(self, state: State) -> float:
        """Return what is compared with the threshold: the mean over the bets."""
        return math.fsum(state.values) / len(self.bets)

    def step(self, state: State, y: float) -> tuple[State, Alarm | None]:
        """Take one score; return the state after it, begun anew if it raised an alarm.

        Raises ``ValueError`` for a score outside [0, 1].
        """
        after = self.follow(state, y)
        value = self.value(after)
        if value < self.threshold or y <= self.y0:
            return after, None
        since, bad = self.onset(after)
        return self.begin(), Alarm(value=value, seen=after.seen, since=since, bad=bad)

    def follow(self, state: State, y: float) -> State:
        """Take one score and compare with nothing: for several detectors judged together."""
        if not 0 <= y <= 1:
            msg = f"a score lies in [0, 1]: {y}"
            raise ValueError(msg)
        grown = y / self.y0 - 1
        values = tuple(
            min((1 + bet * grown) * (old + 1), CAP)
            for bet, old in zip(self.bets, state.values, strict=True)
        )
        last, times = state.recent[-1] if state.recent else (None, 0)
        earlier, times = (state.recent[:-1], times + 1) if last == y else (state.recent, 1)
        recent = (*earlier, (float(y), times))[-REMEMBERED:]
        return State(values=values, seen=state.seen + 1, recent=recent)

    def onset(self, state: State) -> tuple[int, float]:
        """Return how many scores ago the move began, as far as remembered, and their sum.

        The start with the largest product of bets up to now; 0 before the first score. Within a
        run of equal scores the products are convex in the start, so only its ends are tried.
        """
        logs = [0.0] * len(self.bets)
        best, since, bad, place, sum_of_bad = -math.inf, 0, 0.0, 0, 0.0
        for y, times in reversed(state.recent):
            grown = y / self.y0 - 1
            logs = [w + times * math.log1p(b * grown) for w, b in zip(logs, self.bets, strict=True)]
            place, sum_of_bad = place + times, sum_of_bad + y * times
            largest = max(logs)
            evidence = largest + math.log(math.fsum(math.exp(each - largest) for each in logs))
            if evidence > best:
                best, since, bad = evidence, place, sum_of_bad
        return since, bad


def rate_bets(y0: float) -> tuple[float, ...]:
    """Return the bets for scores of 0 and 1: on 2, 4, 8 … times the tolerated rate, and on 95 %.

    A bet on b times the rate is l = (b - 1) y0 / (1 - y0): L is then the likelihood ratio, which
    is the burn rate of a service level objective as evidence.
    """
    burns = [2.0] if 2.0 * y0 < _TOP_RATE else []
    while burns and burns[-1] * 2 * y0 < _LAST_DOUBLING:
        burns.append(burns[-1] * 2)
    burns.append(_TOP_RATE / y0)
    return tuple((burn - 1) * y0 / (1 - y0) for burn in burns)


def rate_detector(y0: float, threshold: float) -> Detector:
    """Return the detector of a stream of 0 and 1 that may be 1 at a rate of at most ``y0``.

    Raises ``ValueError`` above ``LARGEST_Y0``.
    """
    if not 0 < y0 <= LARGEST_Y0:
        msg = f"a tolerated rate lies in (0, {LARGEST_Y0}]: {y0}"
        raise ValueError(msg)
    return Detector(y0=y0, threshold=threshold, bets=rate_bets(y0))


def score_detector(y0: float, threshold: float) -> Detector:
    """Return the detector of a stream of scores whose mean may be at most ``y0``."""
    return Detector(y0=y0, threshold=threshold, bets=SCORE_BETS)


def values_over(detector: Detector, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the value after each score of many streams at once, never reset.

    ``scores`` has a row a stream and a column an instant; so has what is returned. NaN is an
    instant at which a stream had no score.
    """
    import numpy as np

    bets = np.asarray(detector.bets)
    states = np.zeros((scores.shape[0], len(bets)))
    values = np.empty(scores.shape)
    for instant in range(scores.shape[1]):
        y = scores[:, instant, None]
        after = np.minimum((1 + bets * (y / detector.y0 - 1)) * (states + 1), CAP)
        states = np.where(np.isnan(y), states, after)
        values[:, instant] = states.mean(axis=1)
    return values


def first_alarms(detector: Detector, scores: NDArray[np.float64]) -> Sequence[int]:
    """Return, for each stream, after how many scores it first alarms; 0 if it never does."""
    over = (values_over(detector, scores) >= detector.threshold) & (scores > detector.y0)
    return [int(row.argmax()) + 1 if row.any() else 0 for row in over]
