"""What the weekly report asks of exchanges and their verdicts: sums by day or by hour, and times.

Values are always bound by the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from monitor.store.client import Row
from monitor.store.panels import Step
from monitor.store.reader import Reader
from monitor.store.rows import TABLES, VerdictRow
from monitor.store.week_questions import DURATIONS, FIRST_TOKENS, within

_OUTCOMES = (
    "sumIf(number, outcome = 'good'), sumIf(number, outcome = 'bad'), "
    "sumIf(number, outcome = 'error'), sumIf(number, outcome = 'invalid')"
)
_EVERY = {Step.HOUR: "hourly", Step.DAY: "daily"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From ``since`` up to before ``until``."""

    since: datetime
    until: datetime

    def bound(self) -> dict[str, Any]:
        """Return it as parameters."""
        return {"since": self.since.astimezone(UTC), "until": self.until.astimezone(UTC)}

    def with_before(self) -> Span:
        """Return it together with as long a time before it."""
        return Span(since=self.since - (self.until - self.since), until=self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Scheduled exchanges that count, by outcome."""

    good: int = 0
    bad: int = 0
    errors: int = 0
    invalid: int = 0

    @property
    def valid(self) -> int:
        """Those that say something of the answers."""
        return self.good + self.bad

    @property
    def asked(self) -> int:
        """All of them."""
        return self.valid + self.errors + self.invalid

    def plus(self, other: Tally) -> Tally:
        """Return the sum."""
        return Tally(
            good=self.good + other.good,
            bad=self.bad + other.bad,
            errors=self.errors + other.errors,
            invalid=self.invalid + other.invalid,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Exchanges of a probe by how long they took: of those that were ``timed`` some were ``slow``.

    ``streamed`` and ``kept`` are of the rows that are left, ``asked`` is by sums that last longer.
    """

    slow: int = 0
    timed: int = 0
    kept: int = 0
    streamed: int = 0
    asked: int = 0

    @property
    def not_kept(self) -> int:
        """At most so many are in the sums alone, expired or erased: no time of theirs is known.

        A sum counts what was delivered twice twice, so it can be fewer.
        """
        return max(0, self.asked - self.kept)

    def plus(self, other: Timed) -> Timed:
        """Return the sum."""
        return Timed(
            slow=self.slow + other.slow,
            timed=self.timed + other.timed,
            kept=self.kept + other.kept,
            streamed=self.streamed + other.streamed,
            asked=self.asked + other.asked,
        )


class ExchangeReader(Reader):
    """Reads how often exchanges of a span of time came to what, and how long they took."""

    def tallies(
        self, span: Span, by: Sequence[str], step: Step = Step.DAY
    ) -> dict[tuple[str, ...], Tally]:
        """Return tallies by these columns of ours; ``at`` is the day or the hour as text."""
        named = ", ".join("toString(at)" if name == "at" else name for name in by)
        every = _EVERY[step]
        rows = self._client.query(
            f"SELECT {named}, {_OUTCOMES} FROM exchange_verdicts_{every} "  # noqa: S608 - ours
            f"WHERE {within('at')} AND scheduled AND counted AND source != 'rescore' "
            f"GROUP BY {', '.join(by)} ORDER BY {', '.join(by)}",
            span.bound(),
        )
        return {tuple(map(str, row[: len(by)])): _tally(row[len(by) :]) for row in rows}

    def timed(
        self, span: Span, within_seconds: float, step: Step, *, first_token: bool = False
    ) -> dict[tuple[str, str], Timed]:
        """Return by target and probe how many exchanges took longer, or their first tokens.

        An exchange is of the time at which it was begun. ``step`` is the largest that fits.
        """
        bound = span.bound() | {"within_seconds": within_seconds}
        sums = self._client.query(
            f"SELECT target, probe, sum(number) FROM exchanges_{_EVERY[step]} "  # noqa: S608
            f"WHERE {within('at')} AND probe != 'traffic' GROUP BY target, probe",
            span.bound(),
        )
        kept = {
            (str(target), str(probe)): tuple(map(int, numbers))
            for target, probe, *numbers in self._client.query(
                FIRST_TOKENS if first_token else DURATIONS, bound
            )
        }
        asked = {(str(target), str(probe)): int(number) for target, probe, number in sums}
        found = {}
        for key in sorted({*kept, *asked}):
            slow, timed, rows, streamed = kept.get(key, (0, 0, 0, 0))
            found[key] = Timed(
                slow=slow, timed=timed, kept=rows, streamed=streamed, asked=asked.get(key, rows)
            )
        return found

    def judged_strata(self, span: Span) -> dict[str, set[str]]:
        """Return by target the strata of which a probe's answer was judged, good or bad."""
        rows = self._client.query(
            "SELECT target, groupUniqArray(stratum) FROM verdicts_daily "  # noqa: S608 - ours
            f"WHERE {within('at')} AND source = 'probe' AND outcome IN ('good', 'bad') "
            "GROUP BY target",
            span.bound(),
        )
        return {str(target): set(map(str, strata)) for target, strata in rows}

    def looked_hours(self, span: Span) -> dict[str, int]:
        """Return in how many hours of each target a scheduled answer was judged."""
        rows = self._client.query(
            "SELECT target, uniqExact(at) FROM verdicts_hourly "  # noqa: S608 - ours
            f"WHERE {within('at')} AND scheduled AND source = 'probe' "
            "AND outcome IN ('good', 'bad') GROUP BY target",
            span.bound(),
        )
        return {str(target): int(hours) for target, hours in rows}

    def kept_verdicts(self, span: Span) -> dict[str, int]:
        """Return of how many verdicts of each target the rows themselves are still kept."""
        rows = self._client.query(
            f"SELECT target, count() FROM {TABLES[VerdictRow]} FINAL "  # noqa: S608
            f"WHERE {within('decided_at')} AND source != 'rescore' GROUP BY target",
            span.bound(),
        )
        return {str(target): int(number) for target, number in rows}

    def scores(self, span: Span) -> dict[tuple[str, str, str], int]:
        """Return how many scheduled verdicts of each stratum could be scored."""
        rows = self._client.query(
            "SELECT target, probe, stratum, sum(number) FROM verdicts_daily "  # noqa: S608
            f"WHERE {within('at')} AND scheduled AND source = 'probe' "
            "AND outcome IN ('good', 'bad') GROUP BY target, probe, stratum",
            span.bound(),
        )
        return {(str(t), str(p), str(s)): int(number) for t, p, s, number in rows}


def _tally(numbers: Row) -> Tally:
    good, bad, errors, invalid = (int(number) for number in numbers)
    return Tally(good=good, bad=bad, errors=errors, invalid=invalid)
