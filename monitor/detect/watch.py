"""A stream under watch: its evidence, its alarm until that is over, and what gave no score. Pure.

``step`` takes the next score and returns the watch after it; whatever changed (an alarm, one tier
up, resolved) shows by comparing the two. A watch is plain numbers, so that it survives a restart
(``kept``).

*Two tiers, one evidence.* A ticket is raised where the evidence reaches the lower threshold, and
stays; the evidence goes on, and a page raises the same alarm in place. It begins anew after a page,
after a ticket of a stream that has no pages, and when an alarm is resolved. Every alarm is thus
counted from evidence that began at 0, which is what the bounds in ``thresholds`` ask for.

*Latched.* An alarm stays until enough scores in a row were clean: as many as a fault of the rate
that raised it would let through with a chance of one in a thousand. That rate is taken at its lower
95 % bound (Clopper-Pearson), so that three failures of three do not count as a rate of one, and at
y0 at least. The chance is that of one run of scores, and a fault that goes on has many: at that
rate it is resolved by mistake on average not before 999 / rate scores, that is a thousand more
failures, and raised again by the evidence, which begins anew. An alarm of TREND about some ages
looks at scores of these ages only.

*One trial, one score.* Exchanges of a trial fail together: with the same prompts, on the same
replica, in the same second. As scores of their own they would break what the bounds ask for, that
the next score fails with at most y0 whatever came before. So a score is the share of a trial that
failed, and only a trial without any failure is clean.

*Only scores count.* Trials that end in errors, or invalid, are counted and change nothing else:
neither a gap nor an outage is a failure, or proof that one is over.

*Another y0 is another question.* Evidence against the old one is dropped, in either direction; an
alarm stays until enough answers in a row were clean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from monitor.detect.binomial import exchanges_to_show, lower_bound
from monitor.detect.esr import Alarm, Detector, State, rate_detector
from monitor.detect.thresholds import LARGEST
from monitor.detect.trend import Trend, TrendState
from monitor.model import Outcome

# Failures, and trials without a score, of which is remembered which they were.
REMEMBERED = 256
# How often a fault that goes on lets so many through in a row that its alarm is resolved.
MISSED = 0.001
# A burst of failures says little of the rate of what caused it.
LEAST_CLEAN = 5
_KINDS = 1024


class Tier(IntEnum):
    """Whom an alarm calls: a ticket waits for working hours, a page wakes somebody."""

    TICKET = 1
    PAGE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The evidence at which a stream raises each tier; ``None`` if it never does."""

    page: float | None = None
    ticket: float | None = None

    def __post_init__(self) -> None:
        if any(each is not None and not 1 <= each <= LARGEST for each in (self.page, self.ticket)):
            raise ValueError(f"no such thresholds: page {self.page}, ticket {self.ticket}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latched:
    """An alarm that is not over. Scores go by their number in the stream, from 1.

    ``alarm`` and ``ages`` are what the evidence said when it reached ``threshold``, at score
    ``raised``. The move ``began`` at about that score (of these ages, it may have been before).
    Since the alarm was raised ``failed`` failed, and the last ``clean`` scores did not. ``rate`` is
    the lower bound of the failure rate that raised it, the least if it was raised again.
    """

    tier: Tier
    alarm: Alarm
    threshold: float
    raised: int
    began: int
    rate: float
    failed: int = 0
    clean: int = 0
    ages: tuple[int, int | None] | None = None

    def concerns(self, age: int | None) -> bool:
        """True if a score of this age says something about what it is about."""
        if self.ages is None or age is None:
            return True
        first, end = self.ages
        return first <= age and (end is None or age < end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Where a stream stands.

    ``scored`` counts its scores, one a trial; ``failures`` are the numbers of the last in which
    something failed. ``errors`` and ``invalid`` count trials that gave no score; ``unscored`` are
    the numbers of the last of these, among all trials. ``pages`` and ``tickets`` count alarms.
    """

    y0: float
    thresholds: Thresholds
    evidence: State | TrendState
    scored: int = 0
    failures: tuple[int, ...] = ()
    errors: int = 0
    invalid: int = 0
    unscored: tuple[int, ...] = ()
    pages: int = 0
    tickets: int = 0
    alarm: Latched | None = None

    @property
    def asked(self) -> int:
        """All trials, also those that gave no score."""
        return self.scored + self.errors + self.invalid

    @property
    def by_age(self) -> bool:
        """True for TREND, which takes the age of an exchange with its score."""
        return isinstance(self.evidence, TrendState)

    @property
    def value(self) -> float:
        """The evidence that is compared with the thresholds."""
        return _value(self.y0, self.evidence)

    @property
    def valid_share(self) -> float | None:
        """Which share of the last 256 trials gave a score; ``None`` before the first."""
        recent = min(self.asked, REMEMBERED)
        if not recent:
            return None
        lost = sum(number > self.asked - recent for number in self.unscored)
        return 1 - lost / recent

    @property
    def clean_needed(self) -> int:
        """How many clean scores in a row end the alarm; 0 without one."""
        if self.alarm is None:
            return 0
        return max(LEAST_CLEAN, exchanges_to_show(max(self.y0, self.alarm.rate), MISSED))


def begin(y0: float, thresholds: Thresholds, *, by_age: bool = False) -> Watch:
    """Return the watch of a stream before its first score.

    Raises ``ValueError`` for a ``y0`` outside (0, 0.5].
    """
    return Watch(y0=y0, thresholds=thresholds, evidence=_fresh(y0, by_age=by_age))


def step(watch: Watch, failed: int, y0: float, *, of: int = 1, age: int | None = None) -> Watch:
    """Return the watch after one score, held to ``y0``: so many exchanges of a trial failed.

    What is asked in one trial fails together, so that is one score: the share that failed. ``age``
    counts only for TREND. Raises ``ValueError`` for more failures than exchanges, for a trial
    without any, and for TREND without an age.
    """
    if not 0 <= failed <= of or of < 1:
        raise ValueError(f"no such score: {failed} of {of}")
    if y0 != watch.y0:
        watch = held_to(watch, y0)
    number, alarm = watch.scored + 1, watch.alarm
    if alarm is not None and alarm.concerns(age):
        failures, clean = (alarm.failed + 1, 0) if failed else (alarm.failed, alarm.clean + 1)
        alarm = replace(alarm, failed=failures, clean=clean)
    after = replace(
        watch,
        scored=number,
        evidence=_follow(watch, failed / of, age),
        failures=(*watch.failures, number)[-REMEMBERED:] if failed else watch.failures,
        alarm=alarm,
    )
    if failed > y0 * of:
        tier = _reached(after)
        return after if tier is None else _raised(after, tier)
    over = alarm is not None and not failed and alarm.clean >= after.clean_needed
    return resolved(after) if over else after


def _reached(watch: Watch) -> Tier | None:
    """Return the tier that is to be raised. A ticket on its way to a page counts once."""
    value, page, ticket = watch.value, watch.thresholds.page, watch.thresholds.ticket
    if page is not None and value >= page:
        return Tier.PAGE
    waits = watch.alarm is not None and page is not None
    return Tier.TICKET if ticket is not None and value >= ticket and not waits else None


def _raised(watch: Watch, tier: Tier) -> Watch:
    held, page = _latched(watch, tier), watch.thresholds.page
    spent = tier is Tier.PAGE or page is None
    return replace(
        watch,
        alarm=held,
        pages=watch.pages + (tier is Tier.PAGE),
        tickets=watch.tickets + (tier is Tier.TICKET),
        evidence=_fresh(watch.y0, by_age=watch.by_age) if spent else watch.evidence,
    )


def _latched(watch: Watch, tier: Tier) -> Latched:
    """Return the alarm that is raised; one that was raised before keeps its beginning."""
    held, limits, evidence = watch.alarm, watch.thresholds, watch.evidence
    detector, ages = _detector(watch.y0), None
    if isinstance(evidence, TrendState):
        said = Trend(detector=detector).alarm(evidence)
        alarm, ages = said.alarm, said.ages
    else:
        since, bad = detector.onset(evidence)
        alarm = Alarm(value=watch.value, seen=evidence.seen, since=since, bad=bad)
    rate = lower_bound(int(alarm.bad), alarm.since)
    if held is not None and held.tier >= tier:
        return replace(held, rate=min(rate, held.rate), ages=ages if ages == held.ages else None)
    return Latched(
        tier=tier,
        alarm=alarm,
        threshold=(limits.page if tier is Tier.PAGE else limits.ticket) or 1.0,
        raised=held.raised if held else watch.scored,
        began=held.began if held else watch.scored - alarm.since + 1,
        rate=min(rate, held.rate) if held else rate,
        failed=held.failed if held else 0,
        ages=ages,
    )


def resolved(watch: Watch) -> Watch:
    """Return the watch without its alarm, begun anew: enough was clean, or a person says so."""
    return replace(watch, alarm=None, evidence=_fresh(watch.y0, by_age=watch.by_age))


def unscored(watch: Watch, outcome: Outcome) -> Watch:
    """Count a trial that gave no score: ``error`` or ``invalid``.

    Raises ``ValueError`` for an outcome that is a score.
    """
    if outcome not in (Outcome.ERROR, Outcome.INVALID):
        raise ValueError(f"a trial that is {outcome.value} gives a score")
    return replace(
        watch,
        errors=watch.errors + (outcome is Outcome.ERROR),
        invalid=watch.invalid + (outcome is Outcome.INVALID),
        unscored=(*watch.unscored, watch.asked + 1)[-REMEMBERED:],
    )


def held_to(watch: Watch, y0: float) -> Watch:
    """Return the watch held to another ``y0``: evidence begins anew, an alarm stays."""
    return replace(watch, y0=y0, evidence=_fresh(y0, by_age=watch.by_age))


def limited(watch: Watch, thresholds: Thresholds) -> Watch:
    """Return the watch with other thresholds: what was gathered keeps its part of the way.

    Of two tiers the one that changed less upwards says how much; a tier that is new begins at 0,
    for nothing was paid for it until now.
    """
    now = ((watch.thresholds.page, thresholds.page), (watch.thresholds.ticket, thresholds.ticket))
    if any(old is None and new is not None for old, new in now):
        return replace(watch, thresholds=thresholds, evidence=_fresh(watch.y0, by_age=watch.by_age))
    changes = [new / old for old, new in now if old is not None and new is not None]
    evidence = watch.evidence.scaled(min(changes)) if changes else watch.evidence
    return replace(watch, thresholds=thresholds, evidence=evidence)


@lru_cache(maxsize=_KINDS)
def _detector(y0: float) -> Detector:
    """Return the detector whose own threshold is not used: ours come from the watch."""
    return rate_detector(y0, 1.0)


def _fresh(y0: float, *, by_age: bool) -> State | TrendState:
    detector = _detector(y0)
    return Trend(detector=detector).begin() if by_age else detector.begin()


def _value(y0: float, evidence: State | TrendState) -> float:
    detector = _detector(y0)
    if isinstance(evidence, TrendState):
        return Trend(detector=detector).value(evidence)
    return detector.value(evidence)


def _follow(watch: Watch, y: float, age: int | None) -> State | TrendState:
    detector = _detector(watch.y0)
    if not isinstance(watch.evidence, TrendState):
        return detector.follow(watch.evidence, y)
    if age is None or age < 0:
        raise ValueError(f"TREND takes the age of an exchange with its score: {age}")
    return Trend(detector=detector).follow(watch.evidence, y, age)
