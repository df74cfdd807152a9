"""The judgement of a target: bad if anything is, good only with what it is good under.

The rules stand as a table in docs/weekly-report.md, in this order; the first that holds is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from monitor.detect.binomial import upper_bound
from monitor.detect.sequence import confidence_sequence
from monitor.findings import ISOLATION_BROKEN, FindingState
from monitor.model import VerdictClass
from monitor.slo.objective import Sli
from monitor.weekly.coverage import (
    LEAST_VALID_SHARE,
    is_harsh,
    length_order,
    mostly_unjudged,
    size_of,
    sizes_of,
)
from monitor.weekly.inputs import KnownTarget
from monitor.weekly.record import (
    Attainment,
    DayRow,
    FindingRow,
    Judgement,
    ObjectiveRow,
    StratumRow,
    TrendRow,
)
from monitor.weekly.running_record import ContextRow, NodeRow, RescoredRow, WithoutFindingRow
from monitor.weekly.serving import FAILS_BELOW

HOURS = 7 * 24
# In fewer hours than these with a judged answer too little of the week was seen.
LEAST_HOURS = HOURS // 2
# A version or setting stays until somebody changes it. So a few readings that could not tell, one
# now and one then, hide nothing; a tenth of them, or half a day at a stretch, may.
MOST_UNKNOWN_SHARE = 0.1
LONGEST_UNKNOWN_HOURS = 12.0
# What expires does so by whole days; a few rows were erased one by one, or are twice in the sums.
MOST_GONE_SHARE = 0.01
_MOST_NAMED = 10
_BOUNDARY = "boundary"
_NO_FAULT = frozenset({FindingState.DISMISSED.value})
_OPEN = frozenset({FindingState.NEEDS_REVIEW.value, FindingState.CONFIRMED.value})
_NOT_PROVEN = frozenset({VerdictClass.NONE.label, VerdictClass.SUSPECT.label})
_ISOLATION_BROKEN = frozenset(each.label for each in ISOLATION_BROKEN)
# Only many of these prove anything.
_MISTAKE = VerdictClass.WRONG.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All of one target that a week's judgement is made of; each row is of this target.

    ``known`` is ``None`` for a target that is not configured. ``hours`` are those of the week in
    which at least one scheduled answer was judged; ``nodes_silent_hours`` is the longest time of
    it, since the first reading ever, in which no reading of any node could tell. Of ``rows_gone``
    of the ``verdicts`` only the sums are kept.
    """

    known: KnownTarget | None
    now: TrendRow
    hours: int
    nodes_silent_hours: float = 0.0
    verdicts: int = 0
    rows_gone: int = 0
    days: Sequence[DayRow] = ()
    findings: Sequence[FindingRow] = ()
    rescored: Sequence[RescoredRow] = ()
    without_finding: Sequence[WithoutFindingRow] = ()
    objectives: Sequence[ObjectiveRow] = ()
    nodes: Sequence[NodeRow] = ()
    context: Sequence[ContextRow] = ()
    strata: Sequence[StratumRow] = ()

    @property
    def room(self) -> float | None:
        """The share of answers that may be bad; ``None`` if that is not known."""
        return round(1 - self.known.objective_ratio, 9) if self.known is not None else None

    @property
    def valid(self) -> int:
        """The answers of the week that were judged."""
        return self.now.good + self.now.bad

    @property
    def unjudged(self) -> int:
        """What was asked in the week and could not be judged: errors, and invalid exchanges."""
        return self.now.errors + self.now.invalid

    @property
    def asked(self) -> int:
        """All that was asked in the week."""
        return self.valid + self.unjudged

    @property
    def sizes_missing(self) -> Mapping[str, frozenset[str]]:
        """The sizes of the plan of which no answer was judged, with why they are left out."""
        sizes = sizes_of(self.known) if self.known is not None else {}
        looked = {size_of(row.stratum) for row in self.strata if row.good + row.bad}
        return {size: sizes[size] for size in sorted(sizes.keys() - looked, key=length_order)}

    @property
    def most_bad(self) -> float:
        """The exact one-sided 95 % bound of the share of bad answers, for this one look."""
        return upper_bound(self.now.bad, self.valid)


_Rule = Callable[[Seen], str]


def judged(seen: Seen) -> tuple[Judgement, str]:
    """Return the judgement of a target and why, in words of ours."""
    for judgement, rules in ((Judgement.BAD, _SHOW_BAD), (Judgement.UNSURE, _LEAVE_OPEN)):
        for rule in rules:
            if why := rule(seen):
                return judgement, why
    return Judgement.GOOD, _condition(seen)


def _condition(seen: Seen) -> str:
    planned = sum(row.planned for row in seen.strata)
    unknown = sum(row.unknown for row in seen.nodes)
    readings = sum(row.readings for row in seen.nodes)
    dismissed = sum(each.state in _NO_FAULT for each in seen.findings)
    harsh = [size for size, codes in seen.sizes_missing.items() if is_harsh(codes)]
    weaker = [
        f"size {_named(harsh)} left out as not gentle (gentle: false asks it)" if harsh else "",
        f"{seen.unjudged:,} of {seen.asked:,} asked could not be judged" if seen.unjudged else "",
        f"{_many(dismissed, 'finding')} dismissed in the week" if dismissed else "",
        f"{unknown:,} of {readings:,} readings of nodes could not tell" if unknown else "",
        _gone(seen) if seen.rows_gone else "",
    ]
    said = (
        f"{seen.now.bad:,} bad of {seen.valid:,} judged: at most {seen.most_bad:.4%} by the exact "
        f"bound of one look, only for the {_many(planned, 'planned stratum', 'planned strata')} "
        f"and {seen.hours} of {HOURS} hours that were seen"
    )
    return "; ".join([said, *filter(None, weaker)])


def _proven(seen: Seen) -> str:
    faults = [
        each
        for each in seen.findings
        if each.state not in _NO_FAULT and each.finding_class not in _NOT_PROVEN
    ]
    if not faults:
        return ""
    worst = max(faults, key=lambda each: VerdictClass[each.finding_class])
    return f"{_many(len(faults), 'finding')}, the worst {worst.finding_class}"


def _isolation_broken(seen: Seen) -> str:
    """Name answers with another's text that no finding tells of: one is proof enough."""
    broken = [row for row in seen.without_finding if row.verdict_class in _ISOLATION_BROKEN]
    return _in_no_finding(broken)


def _in_no_finding(rows: Sequence[WithoutFindingRow]) -> str:
    if not rows:
        return ""
    worst = max(rows, key=lambda each: VerdictClass[each.verdict_class])
    number = _many(sum(row.verdicts for row in rows), "bad verdict is", "bad verdicts are")
    return f"{number} in no finding, the worst {worst.verdict_class}"


def _judged_again(seen: Seen) -> str:
    return _found_again([row for row in seen.rescored if row.verdict_class != _MISTAKE])


def _found_again(rows: Sequence[RescoredRow]) -> str:
    if not rows:
        return ""
    worst = max(rows, key=lambda each: VerdictClass[each.verdict_class])
    answers = _many(sum(r.answers for r in rows), "kept answer was", "kept answers were")
    return f"{answers} found bad when judged again, the worst {worst.verdict_class}"


def _too_many_bad(seen: Seen) -> str:
    if seen.room is not None and seen.now.bad_at_least > seen.room:
        return f"more than {seen.room:.4%} of its answers were bad, shown with 95 %"
    return ""


def _missed(seen: Seen) -> str:
    # What was not looked at is not bad: coverage leaves it open.
    told = [row for row in seen.objectives if row.sli != Sli.COVERAGE]
    names = sorted({row.objective for row in told if row.attainment is Attainment.MISSED})
    return f"missed over its window: objective {', '.join(names)}" if names else ""


def _failing_nodes(seen: Seen) -> str:
    failing = [row for row in seen.nodes if row.failing]
    if not failing:
        return ""
    readings = sum(row.failing for row in failing)
    return f"{_many(len(failing), 'node')} failed in {_many(readings, 'reading')}"


def _context_fails(seen: Seen) -> str:
    shown = any(row.in_week and row.state == FAILS_BELOW for row in seen.context)
    return "its context fails below what it says" if shown else ""


def _not_asked(seen: Seen) -> str:
    return "" if seen.asked else "nothing was asked of it"


def _not_configured(seen: Seen) -> str:
    gone = "it is not configured any more: what it is held to is not known"
    return gone if seen.known is None else ""


def _few_judged(seen: Seen) -> str:
    if seen.valid and seen.valid >= LEAST_VALID_SHARE * seen.asked:
        return ""
    return f"only {seen.valid:,} of {seen.asked:,} exchanges could be judged"


def _in_review(seen: Seen) -> str:
    waiting = sum(each.state in _OPEN for each in seen.findings)
    return f"{_many(waiting, 'finding')} in review" if waiting else ""


def _mistakes_again(seen: Seen) -> str:
    return _found_again(seen.rescored)


def _without_finding(seen: Seen) -> str:
    return _in_no_finding([r for r in seen.without_finding if r.verdict_class != _MISTAKE])


def _rows_gone(seen: Seen) -> str:
    """Say that rows have expired: sums tell neither a leak in no finding nor what moved."""
    if seen.rows_gone <= MOST_GONE_SHARE * seen.verdicts:
        return ""
    return f"{_gone(seen)}: a leak in no finding would not be seen"


def _gone(seen: Seen) -> str:
    return f"only the sums of {seen.rows_gone:,} of {_many(seen.verdicts, 'verdict')} are kept"


def _never_judged(seen: Seen) -> str:
    """Name planned strata without one judged answer, those at boundaries first."""
    planned = [row for row in seen.strata if row.planned]
    if not planned:
        return "nothing is planned for it"
    never = [row for row in planned if not row.good + row.bad]
    if not never:
        return ""
    edges = sum(row.shape == _BOUNDARY for row in never)
    told = f", {edges} of them at boundaries" if edges else ""
    return f"{len(never):,} of {len(planned):,} planned strata were never judged{told}"


def _mostly_unjudged(seen: Seen) -> str:
    """Name planned strata of which most could not be judged: a whole may hide a part."""
    planned = [row for row in seen.strata if row.planned]
    mostly = sum(mostly_unjudged(row) for row in planned)
    if not mostly:
        return ""
    strata = _many(len(planned), "planned stratum", "planned strata")
    return f"in {mostly:,} of {strata} less than half of what was asked could be judged"


def _little_of_the_week(seen: Seen) -> str:
    silent = sum(not row.good + row.bad for row in seen.days)
    if silent:
        return f"on {silent} of {_many(len(seen.days), 'day')} no answer was judged"
    if seen.hours < LEAST_HOURS:
        return f"in {HOURS - seen.hours} of {HOURS} hours no answer was judged"
    return ""


def _bad_strata(seen: Seen) -> str:
    """Name strata whose own answers are worse than the target may be: a whole may hide a part."""
    room = seen.room or 0.0
    worse = sum(confidence_sequence(r.bad, r.good + r.bad)[0] > room for r in seen.strata if r.bad)
    if not worse:
        return ""
    return f"in {_many(worse, 'stratum', 'strata')} more were bad than {room:.4%}"


def _bound(seen: Seen) -> str:
    room = seen.room or 0.0
    if seen.most_bad <= room:
        return ""
    left = f"{seen.now.bad:,} bad of {seen.valid:,} leave up to {seen.most_bad:.4%}"
    return f"{left}, and {room:.4%} may be bad"


def _not_shown(seen: Seen) -> str:
    """Name objectives of the whole target that are not shown to be met."""
    names = sorted(
        {
            row.objective
            for row in seen.objectives
            if not row.probe and row.attainment is not Attainment.MET and not _spares(seen, row)
        }
    )
    return f"not shown to be met: objective {', '.join(names)}" if names else ""


def _spares(seen: Seen, row: ObjectiveRow) -> bool:
    """True of coverage that lacks no size but those that the configuration spares the target.

    They are not covered, and ``good`` names them; else it could not be had with that setting.
    """
    if row.sli != Sli.COVERAGE:
        return False
    missing = seen.sizes_missing
    return 0 < row.bad <= len(missing) and all(map(is_harsh, missing.values()))


def _unread_nodes(seen: Seen) -> str:
    known = seen.known
    if known is not None and known.reads_nodes and not seen.nodes:
        return "its nodes were not read"
    if known is not None and (unread := set(known.nodes) - {row.node for row in seen.nodes}):
        return f"never read: {len(unread)} of its {_many(len(known.nodes), 'listed node')}"
    if seen.nodes and seen.nodes_silent_hours > LONGEST_UNKNOWN_HOURS:
        return f"for {seen.nodes_silent_hours:.1f} hours no reading of any node could tell"
    unsure = [
        row
        for row in seen.nodes
        if row.unknown_ratio > MOST_UNKNOWN_SHARE
        or row.longest_unknown_hours > LONGEST_UNKNOWN_HOURS
    ]
    if not unsure:
        return ""
    share = max(row.unknown_ratio for row in unsure)
    hours = max(row.longest_unknown_hours for row in unsure)
    return (
        f"{_many(len(unsure), 'node')} could not be told for long: at worst in {share:.1%} of the "
        f"readings, for {hours:.1f} hours at a stretch"
    )


def _context_failed_before(seen: Seen) -> str:
    failed = any(row.state == FAILS_BELOW for row in seen.context)
    return "its context failed below what it says when last measured" if failed else ""


_SHOW_BAD: tuple[_Rule, ...] = (
    *(_proven, _isolation_broken, _judged_again, _too_many_bad, _failing_nodes),
    # What is seen in the week is told before what its windows come to.
    *(_context_fails, _missed),
)
_LEAVE_OPEN: tuple[_Rule, ...] = (
    *(_not_asked, _not_configured, _few_judged, _in_review, _without_finding, _mistakes_again),
    *(
        _rows_gone,
        _never_judged,
        _mostly_unjudged,
        _little_of_the_week,
        _bad_strata,
        _bound,
        _not_shown,
        _unread_nodes,
        _context_failed_before,
    ),
)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"
