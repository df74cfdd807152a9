"""A stream for people: K failures of the last N, how many would be enough, and the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from monitor.detect.esr import State, rate_bets, rate_detector
from monitor.detect.watch import REMEMBERED, Latched, Watch

# Ten scores, and an hour, six hours and a day of one a minute.
WINDOWS = (10, 60, 360, 1440)
# Who asks for more failures in a row than these is told that it takes more.
MOST_IN_A_ROW = 100
_KINDS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """``failed`` of the last ``of`` scores failed.

    ``enough`` failures, evenly spread over as many scores after a long time without any, reach the
    threshold; ``None`` if not even all of them do. It says how much is needed, not what happens
    next: what came before and how failures lie counts too.
    """

    failed: int
    of: int
    enough: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """How a stream stands.

    ``threshold`` is that of the next tier it can reach, ``None`` if there is none. So many more
    failures ``in_a_row`` reach it; ``None`` if it takes more than 100, or ages decide.
    """

    y0: float
    scored: int
    errors: int
    invalid: int
    valid_share: float | None
    windows: tuple[Window, ...]
    evidence: float
    threshold: float | None
    in_a_row: int | None
    alarm: Latched | None
    clean_needed: int


def card(watch: Watch, windows: Sequence[int] = WINDOWS) -> Card:
    """Return the card of a stream, with the windows that its scores fill and that are remembered.

    One of few scores has a single window of all of them; one without scores has none.
    """
    threshold = _next_threshold(watch)
    filled = [of for of in windows if of <= watch.scored and _remembers(watch, of)]
    if not filled and 0 < watch.scored < min(windows):
        filled = [watch.scored]
    return Card(
        y0=watch.y0,
        scored=watch.scored,
        errors=watch.errors,
        invalid=watch.invalid,
        valid_share=watch.valid_share,
        windows=tuple(
            Window(
                failed=sum(number > watch.scored - of for number in watch.failures),
                of=of,
                enough=None if threshold is None else failures_of(of, watch.y0, threshold),
            )
            for of in filled
        ),
        evidence=watch.value,
        threshold=threshold,
        in_a_row=None if threshold is None else _in_a_row(watch, threshold),
        alarm=watch.alarm,
        clean_needed=watch.clean_needed,
    )


def _remembers(watch: Watch, of: int) -> bool:
    return len(watch.failures) < REMEMBERED or watch.failures[0] <= watch.scored - of + 1


def _next_threshold(watch: Watch) -> float | None:
    """Return the threshold of a ticket unless there is one, or none to come; then of a page."""
    limits = watch.thresholds
    known = [each for each in (limits.ticket, limits.page) if each is not None]
    if watch.alarm is not None and limits.page is not None:
        return limits.page
    return min(known, default=None)


def _in_a_row(watch: Watch, threshold: float) -> int | None:
    state, detector = watch.evidence, rate_detector(watch.y0, 1.0)
    if not isinstance(state, State):
        return None
    for many in range(1, MOST_IN_A_ROW + 1):
        state = detector.follow(state, 1.0)
        if detector.value(state) >= threshold:
            return many
    return None


@lru_cache(maxsize=_KINDS)
def failures_of(scores: int, y0: float, threshold: float) -> int | None:
    """Return how many failures of so many scores reach the threshold after a long healthy time.

    The first and the last score failed, the others in between evenly. ``None`` if not even all do.
    """
    if not _reached(scores, scores, y0, threshold):
        return None
    low, high = 0, scores
    while high - low > 1:
        middle = (low + high) // 2
        if _reached(middle, scores, y0, threshold):
            high = middle
        else:
            low = middle
    return high


def _reached(failures: int, scores: int, y0: float, threshold: float) -> bool:
    bets = rate_bets(y0)
    # Where the values come to rest while nothing fails.
    values = [(1 - bet) / bet for bet in bets]
    steps = max(1, failures - 1)
    places = [1 + round(n * (scores - 1) / steps) for n in range(failures)]
    if failures == 1:
        places = [scores]
    before = 0
    for place in places:
        clean = place - before - 1
        before = place
        values = [
            (_after_clean(value, bet, clean) + 1) * (1 + bet * (1 / y0 - 1))
            for value, bet in zip(values, bets, strict=True)
        ]
        if sum(values) / len(values) >= threshold:
            return True
    return False


def _after_clean(value: float, bet: float, clean: int) -> float:
    """Return the value after so many scores without a failure: it nears (1 - bet) / bet."""
    rest = (1 - bet) / bet
    return float(rest + (value - rest) * (1 - bet) ** clean)
