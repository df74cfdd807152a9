"""What a ladder came to: exit code, report and rows. Pure but for the clock."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from monitor import __version__
from monitor.app import Installation
from monitor.checks import CHECKS_VERSION
from monitor.detect.ladder import Read, Rung, Search, Standing, seen_rate, standing
from monitor.live import LiveTarget
from monitor.model import Exchange, Outcome, Part, VerdictClass
from monitor.passes import Done
from monitor.probes.base import Price, TokenLimit
from monitor.probes.ladder import Cut
from monitor.reports.check import LimitReport
from monitor.reports.ladder import (
    EstimateReport,
    LadderReport,
    RungReport,
    UnpaidReport,
    verdict_words,
)
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.store.rows import AnyRow, LadderRow, RungRow

_SHOWN_REASONS = 6
# How often a fault may be missed that the notes speak of.
_MISS = 0.05
_NOT_JUDGED = (Outcome.ERROR, Outcome.INVALID)


@dataclass(slots=True, kw_only=True)
class Climbed:
    """One rung that was sent: ``size`` ± ``error`` is what it came to, ``asked`` what was wanted.

    ``measured`` replaces both where only an assumed ruler was known when it was sent.
    """

    cut: Cut
    asked: int
    cold: bool
    read: Read
    done: Done
    measured: Cut | None = None

    @property
    def exchange(self) -> Exchange | None:
        """The prompt of the wanted size, if it was sent."""
        return next((e for e in self.done.trial.exchanges if e.part is Part.VICTIM), None)

    @property
    def size(self) -> int:
        """The size it came to, in tokens."""
        return self._known().size

    @property
    def error(self) -> int:
        """How far off that size may be; 0 where the target counted it."""
        return self._known().error

    @property
    def rung(self) -> Rung:
        """What the search is told of it."""
        return Rung(size=self.asked, read=self.read, cold=self.cold)

    def _known(self) -> Cut:
        expected = self.exchange.expectation if self.exchange else None
        if expected is not None and expected.size_tokens is not None:
            counted = Cut(sentences=0, size=expected.size_tokens, error=expected.size_error_tokens)
            if not counted.error:
                return counted
        return self.measured or self.cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Everything a ladder came to."""

    id: str
    live: LiveTarget
    started_at: datetime
    search: Search
    climbed: tuple[Climbed, ...]
    enforced: TokenLimit
    advertised: TokenLimit
    estimate: EstimateReport
    unpaid: tuple[Cut, Price, str] | None
    stopped: str
    spent: int
    left: int
    measured: bool

    @property
    def goal(self) -> int:
        """The largest size that an engine with the enforced limit must read."""
        return min(start for start, _ in self.search.bands) - 1

    def standing(self) -> Standing:
        """Return how the rungs stand."""
        return standing(self.search, [each.rung for each in self.climbed])


def conclude(ladder: Ladder) -> tuple[int, list[str]]:
    """Return the exit code and why: bad beats could not tell, which beats good."""
    bad = [
        f"{each.size:,} ± {each.error:,} tokens: {each.done.verdict.verdict_class.label}, "
        f"{each.done.verdict.reason}"
        for each in ladder.climbed
        if each.done.verdict.outcome is Outcome.BAD
        and each.done.verdict.verdict_class > VerdictClass.WRONG
    ]
    if bad:
        return BAD_EXIT, [*bad[:_SHOWN_REASONS], *([ladder.stopped] if ladder.stopped else [])]
    unsure = _unsure(ladder)
    if unsure:
        return UNSURE_EXIT, unsure[:_SHOWN_REASONS]
    stands = ladder.standing()
    if stands.verified >= ladder.goal - ladder.search.fine(ladder.goal):
        return GOOD_EXIT, ["content is verified up to what the enforced limit leaves"]
    accepted = ladder.live.view.truncation_accepted and stands.stopped_by is Read.TRUNCATED
    if accepted:
        return GOOD_EXIT, ["shortened in silence below the limit, which is accepted as configured"]
    return UNSURE_EXIT, ["verified less than the limit leaves, and nothing shows why"]


def _unsure(ladder: Ladder) -> list[str]:
    said = [ladder.stopped] if ladder.stopped else []
    if ladder.unpaid:
        said.append(f"not probed: {ladder.unpaid[2]}")
    for each in ladder.climbed:
        place = f"{each.size:,} ± {each.error:,} tokens"
        if each.read is Read.UNCLEAR:
            said.append(f"{place}: the answer does not show what was read")
        elif each.read is Read.NO_ANSWER or each.done.verdict.outcome in _NOT_JUDGED:
            said.append(f"{place}: {each.done.verdict.reason}")
    return said


def report_of(installation: Installation, ladder: Ladder) -> LadderReport:
    """Return the report of a ladder that has ended."""
    stands, view = ladder.standing(), ladder.live.view
    exit_code, reasons = conclude(ladder)
    claimed = _claimed(ladder, stands)
    stopped = next((each for each in ladder.climbed if each.asked == stands.stopped), None)
    return LadderReport(
        davylamp_version=__version__,
        checks_version=CHECKS_VERSION,
        configuration_hash=installation.config.hash,
        environment=installation.config.environment,
        ladder=ladder.id,
        target=view.name,
        model=view.model,
        started_at=ladder.started_at,
        finished_at=installation.clock.now(),
        exit_code=exit_code,
        verdict=verdict_words(exit_code),
        reasons=reasons,
        limits=[LimitReport(tokens=each.tokens, source=each.source) for each in view.limits],
        advertised_tokens=ladder.advertised.tokens,
        advertised_source=ladder.advertised.source,
        enforced_tokens=ladder.enforced.tokens,
        goal_tokens=ladder.goal,
        verified_tokens=claimed.size if claimed else 0,
        verified_error_tokens=claimed.error if claimed else 0,
        failed_tokens=stopped.size if stopped else None,
        failed_outcome=stands.stopped_by,
        islands=list(stands.islands),
        exact=claimed is not None and claimed.error == 0,
        shared_beginning=ladder.search.shared,
        repeats=ladder.search.repeats,
        rungs=[_rung(position, each) for position, each in enumerate(ladder.climbed)],
        unpaid=_unpaid(ladder),
        estimate=ladder.estimate,
        spent_tokens=ladder.spent,
        boundary_left_tokens=ladder.left,
        notes=_notes(ladder),
    )


def _claimed(ladder: Ladder, stands: Standing) -> Climbed | None:
    """Return the largest rung of the verified ones that was read cold.

    A ladder that ended early may stand on one that a cache had a part in: that is not claimed.
    """
    asked = Counter(each.asked for each in ladder.climbed)
    cold = [
        each
        for each in ladder.climbed
        if each.cold
        and each.asked <= stands.verified
        and asked[each.asked] >= ladder.search.repeats
    ]
    return max(cold, key=lambda each: (each.asked, -each.size), default=None)


def _rung(position: int, climbed: Climbed) -> RungReport:
    exchange, verdict = climbed.exchange, climbed.done.verdict
    usage = exchange.response.usage if exchange and exchange.response else None
    return RungReport(
        position=position,
        asked_tokens=climbed.asked,
        size_tokens=climbed.size,
        size_error_tokens=climbed.error,
        cold=climbed.cold,
        outcome=climbed.read,
        verdict_class=verdict.verdict_class.label,
        reason=verdict.reason,
        reported_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        http_status=exchange.http_status if exchange else None,
        trial=verdict.trial,
        finding=verdict.finding,
    )


def _unpaid(ladder: Ladder) -> UnpaidReport | None:
    if ladder.unpaid is None:
        return None
    cut, price, reason = ladder.unpaid
    return UnpaidReport(
        size_tokens=cut.size,
        refused_tokens=price.refused_tokens,
        answered_tokens=price.answered_tokens,
        reason=reason,
    )


def _notes(ladder: Ladder) -> list[str]:
    asked = len({each.asked for each in ladder.climbed})
    if not asked:
        return ["no size was asked"]
    notes = [f"sizes between the {asked} that were asked were not asked"]
    repeats = ladder.search.repeats
    often = "once" if repeats == 1 else f"{repeats} times"
    notes.append(
        f"each size was asked {often}: a fault that strikes fewer than "
        f"{seen_rate(repeats, _MISS):.0%} of such prompts may be missed"
    )
    if not ladder.measured:
        notes.append("sizes are assumed, not measured: no token counts that can be true came back")
    if not ladder.search.shared:
        notes.append("every prompt was cold: no beginning was shared")
    return notes


def rows_of(report: LadderReport) -> list[AnyRow]:
    """Return a ladder and its rungs as the store keeps them."""
    ladder = LadderRow(
        id=report.ladder,
        target=report.target,
        model=report.model,
        started_at=report.started_at,
        finished_at=report.finished_at,
        verified_tokens=report.verified_tokens,
        verified_error_tokens=report.verified_error_tokens,
        failed_tokens=report.failed_tokens,
        enforced_tokens=report.enforced_tokens,
        advertised_tokens=report.advertised_tokens,
        advertised_source=report.advertised_source,
        exit_code=report.exit_code,
        reason="; ".join(report.reasons),
        spent_tokens=report.spent_tokens,
    )
    rungs = [
        RungRow(
            ladder=report.ladder,
            position=rung.position,
            target=report.target,
            started_at=report.started_at,
            asked_tokens=rung.asked_tokens,
            size_tokens=rung.size_tokens,
            size_error_tokens=rung.size_error_tokens,
            cold=rung.cold,
            outcome=rung.outcome.value,
            verdict_class=rung.verdict_class,
            trial=rung.trial,
        )
        for rung in report.rungs
    ]
    return [ladder, *rungs]
