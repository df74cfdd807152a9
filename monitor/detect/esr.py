"""When a stream of scores moved: the mixture e-SR detector for badness in [0, 1].

Shin, Ramdas and Rinaldo, *E-detectors* (arXiv 2203.03532). Healthy means that the expected score,
given the past, is at most ``y0``; scores need not be independent. For each bet ``l`` in (0, 1)

    L(y) = 1 + l (y / y0 - 1)        has a conditional mean of at most 1 while all is well,
    M    = L(y) (M + 1), from 0      and the detector alarms when the mean of M over the bets is c.

M - n is then a supermartingale, so the mean time between false alarms is at least ``threshold``,
the chance of one within n scores at most n / threshold, and with a reset after each alarm at most
n / threshold are expected in n scores. The price: it sees no move that stays below ``y0``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Bets for scores that are not 0 or 1, such as one less a similarity.
SCORE_BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
# Scores that are remembered to say when the move began.
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
    last scores of these, oldest first.
    """

    values: tuple[float, ...]
    seen: int = 0
    recent: tuple[float, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can keep it, without loss."""
        return {"values": list(self.values), "seen": self.seen, "recent": list(self.recent)}


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

    def restored(self, plain: Mapping[str, Any]) -> State:
        """Return the state that was kept as ``plain``.

        Raises ``ValueError`` for anything else, also for the state of a detector with more or
        fewer bets. Whoever changes ``y0`` begins anew: going on would be peeking by configuration.
        """
        try:
            state = State(
                values=tuple(float(each) for each in plain["values"]),
                seen=int(plain["seen"]),
                recent=tuple(float(each) for each in plain["recent"]),
            )
        except (KeyError, TypeError, OverflowError) as error:
            msg = "not the state of a detector"
            raise ValueError(msg) from error
        fits = len(state.values) == len(self.bets) and len(state.recent) <= REMEMBERED
        sane = all(0 <= each < math.inf for each in state.values) and state.seen >= 0
        if not (fits and sane and all(0 <= each <= 1 for each in state.recent)):
            msg = "the state of another detector"
            raise ValueError(msg)
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
        if value < self.threshold:
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
        recent = (*state.recent, y)[-REMEMBERED:]
        return State(values=values, seen=state.seen + 1, recent=recent)

    def onset(self, state: State) -> tuple[int, float]:
        """Return how many scores ago the move began, as far as remembered, and their sum.

        The start with the largest product of bets up to now; 0 before the first score.
        """
        products = [1.0] * len(self.bets)
        best, since, bad, sum_of_bad = -1.0, 0, 0.0, 0.0
        for place, y in enumerate(reversed(state.recent), start=1):
            grown = y / self.y0 - 1
            products = [p * (1 + b * grown) for p, b in zip(products, self.bets, strict=True)]
            sum_of_bad += y
            evidence = math.fsum(products)
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
    over = values_over(detector, scores) >= detector.threshold
    return [int(row.argmax()) + 1 if row.any() else 0 for row in over]
