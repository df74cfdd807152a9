"""The result of ``davylamp rescore``: a documented contract (docs/rescore-json.md).

It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from monitor.reports.check import Record
from monitor.reports.terminal import printable

RESCORE_SCHEMA_VERSION = "1.0"
_SHOWN = 20


class MatrixReport(Record):
    """How many trials were judged so first, and so again."""

    old_class: str
    old_outcome: str
    new_class: str
    new_outcome: str
    trials: int

    @property
    def moved(self) -> bool:
        """True if the judgement is another one."""
        return (self.old_class, self.old_outcome) != (self.new_class, self.new_outcome)


class ChangedReport(Record):
    """A trial that is judged otherwise than it was. ``gained`` and ``lost`` are ``CODE:variant``.

    ``past_whole`` is false if texts of trials before it are missing, so that less is known than was
    when it was judged first. ``uncovered`` is true for a LEAK or CROSSED that no finding of this
    gravity tells of.
    """

    trial: str
    target: str
    probe: str
    stratum: str
    decided_at: datetime
    old_class: str
    old_outcome: str
    old_checks_version: str
    new_class: str
    new_outcome: str
    verdict: str
    new_verdict: str
    finding: str | None
    worse: bool
    past_whole: bool
    uncovered: bool
    gained: list[str]
    lost: list[str]


class CountReport(Record):
    """How many there are of one thing."""

    name: str
    count: int


class RescoreReport(Record):
    """What judging stored answers again came to.

    Of ``trials`` that were judged in the time asked about, ``judged`` were judged again; the texts
    of ``sealed`` did not open with this key, of ``absent`` none or not all are kept, and those of
    ``unreadable`` are damaged. ``earlier`` ones were read to know what was known. ``changed`` are
    the worst of the trials that are judged otherwise, ``changed_trials`` counts all;
    ``signals_only`` came to the same by other failed signals.
    """

    schema_version: str = RESCORE_SCHEMA_VERSION
    davylamp_version: str
    checks_version: str
    old_checks_versions: list[CountReport]
    configuration_hash: str
    environment: str
    since: datetime
    until: datetime
    targets: list[str]
    key_id: str
    exit_code: int
    verdict: str
    trials: int
    earlier: int
    judged: int
    sealed: int
    absent: int
    unreadable: int
    sealed_to: list[CountReport]
    unreadable_why: list[CountReport]
    worse: int
    better: int
    less_known: int
    unsure: int
    uncovered: int
    changed_trials: int
    signals_only: int
    matrix: list[MatrixReport]
    changed: list[ChangedReport]
    notes: list[str]


def render_rescore(report: RescoreReport) -> list[str]:
    """Return the result as lines, the worst first."""
    return [printable(line) for line in _lines(report)]


def _lines(report: RescoreReport) -> Iterator[str]:
    yield f"{report.since:%Y-%m-%d %H:%M} to {report.until:%Y-%m-%d %H:%M} UTC: {report.verdict}"
    yield (
        f"  {report.trials} trials: {report.judged} judged again, {report.sealed} sealed to "
        f"another key, {report.absent} without their texts, {report.unreadable} unreadable"
    )
    for key in report.sealed_to:
        yield f"  SEALED     {key.count} to key {key.name}; this one is {report.key_id}"
    for why in report.unreadable_why:
        yield f"  UNREADABLE {why.count}: {why.name}"
    old = ", ".join(f"{each.name} ({each.count})" for each in report.old_checks_versions)
    if report.judged:
        yield f"  checks {report.checks_version}; then {old}"
    uncovered = [each for each in report.changed if each.uncovered]
    for leak in uncovered[:_SHOWN]:
        yield (
            f"  !! {leak.new_class} WITHOUT A FINDING: {leak.target} {leak.probe} {leak.stratum}, "
            f"{leak.decided_at:%Y-%m-%d %H:%M:%S} UTC. davylamp explain {leak.trial}"
        )
    if report.uncovered > len(uncovered[:_SHOWN]):
        yield f"  !! and {report.uncovered - len(uncovered[:_SHOWN])} more"
    yield from _matrix(report)
    yield from _changed(report)
    for note in report.notes:
        yield f"  NOTE       {note}"


def _matrix(report: RescoreReport) -> Iterator[str]:
    if not report.judged:
        return
    same = sum(cell.trials for cell in report.matrix if not cell.moved)
    other = f", {report.signals_only} by other signals" if report.signals_only else ""
    yield f"  the same   {same} of {report.judged}{other}"
    for cell in report.matrix:
        if cell.moved:
            old = _said(cell.old_class, cell.old_outcome)
            yield f"  {old:>24} -> {_said(cell.new_class, cell.new_outcome):<24} {cell.trials}"


def _changed(report: RescoreReport) -> Iterator[str]:
    for each in report.changed[:_SHOWN]:
        mark = "WORSE " if each.worse else "CHANGED"
        codes = [*(f"+{code}" for code in each.gained), *(f"-{code}" for code in each.lost)]
        yield (
            f"  {mark:<10} {each.trial} {each.target} {each.probe}: "
            f"{_said(each.old_class, each.old_outcome)} -> "
            f"{_said(each.new_class, each.new_outcome)} {' '.join(codes)}".rstrip()
            + ("" if each.past_whole else " (less is known than was)")
        )
    if report.changed_trials > _SHOWN:
        yield f"  and {report.changed_trials - _SHOWN} more (--json FILE lists up to 1,000)"


def _said(verdict_class: str, outcome: str) -> str:
    """Return the class, and the outcome where the class does not say it."""
    plain = {"none": "good", "SUSPECT": "good"}.get(verdict_class, "bad") == outcome
    if verdict_class == "none":
        return outcome
    return verdict_class if plain else f"{verdict_class}, {outcome}"
