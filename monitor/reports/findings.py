"""Findings as records, a documented contract (docs/findings.md), and as the lines made of them.

They hold codes, numbers, our own words and what people wrote about their decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from pydantic import ConfigDict, Field

from monitor.findings import (
    ISOLATION_BROKEN,
    REPORTED_SHAPE,
    Decision,
    Finding,
    FindingState,
    Rotation,
)
from monitor.model import Status, Verdict, VerdictClass
from monitor.nodes.ruleset import RuleSet
from monitor.nodewatch.verdicts import OVER_LENGTH
from monitor.nodewatch.verdicts import SHAPE as NODE_SHAPE
from monitor.reports.check import Record
from monitor.reports.terminal import printable
from monitor.store.rows import FindingChangeRow

FINDINGS_SCHEMA_VERSION = "1.1"
# A fault seen for weeks has thousands of versions that only count on.
_SHOWN_CHANGES = 50
_OPEN = frozenset(state.value for state in FindingState if state.is_open)


class FindingReport(Record):
    """A finding as it stands."""

    id: str
    version: int
    target: str
    shape: str
    stratum: str
    verdict_class: str = Field(alias="class")
    opened_class: str
    state: str
    first_seen: datetime
    last_seen: datetime
    changed_at: datetime
    count: int
    confirmations: int
    reproduced: int
    children: tuple[str, ...]
    trials: tuple[str, ...]
    signals: tuple[str, ...]
    urgent: bool
    who: str
    why: str
    suppressed_until: datetime | None
    suppressed: int
    out_of_rotation_at: datetime | None
    back_in_rotation_at: datetime | None
    rotation_by: str
    rotation_why: str

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class FindingChangeReport(Record):
    """A finding as it stood after one of its changes."""

    version: int
    changed_at: datetime
    verdict_class: str = Field(alias="class")
    state: str
    last_seen: datetime
    count: int
    confirmations: int
    reproduced: int
    child_count: int
    trial_count: int
    who: str
    why: str
    suppressed_until: datetime | None
    suppressed: int
    out_of_rotation_at: datetime | None
    back_in_rotation_at: datetime | None
    rotation_by: str
    rotation_why: str

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class FindingsReport(Record):
    """The findings that were asked for, and the dismissed ones that suppress their twins now."""

    schema_version: str = FINDINGS_SCHEMA_VERSION
    findings: tuple[FindingReport, ...]
    suppressing: tuple[FindingReport, ...]


class FoundRuleReport(Record):
    """A rule that fails a node: why, where one reads about it, and since when it is public.

    ``link`` is empty and ``public_since`` null where the rules in force do not hold it.
    """

    rule: str
    why: str
    link: str
    public_since: date | None


class FoundNodeReport(Record):
    """What the newest verdict of a finding says of its node, and when that was."""

    decided_at: datetime
    reason: str
    rules: tuple[FoundRuleReport, ...]


class ShownFinding(Record):
    """One finding, and each version of it that is known, the oldest first.

    ``node`` is of a finding of a node; null for any other, or if no verdict of it is kept.
    """

    schema_version: str = FINDINGS_SCHEMA_VERSION
    finding: FindingReport
    history: tuple[FindingChangeReport, ...]
    node: FoundNodeReport | None = None


def findings_report(
    findings: Sequence[Finding], suppressing: Sequence[Finding] = ()
) -> FindingsReport:
    """Return findings as a record, with those that keep others from opening."""
    return FindingsReport(
        findings=tuple(_finding_report(finding) for finding in findings),
        suppressing=tuple(_finding_report(finding) for finding in suppressing),
    )


def found_node(said: Verdict, rules: RuleSet | None) -> FoundNodeReport:
    """Return what a verdict says of a node; ``rules`` give the links, if they can be read."""
    known = {rule.id: rule for rule in rules.rules} if rules else {}
    failing = [
        each for each in said.signals if each.status is Status.FAIL and each.variant != OVER_LENGTH
    ]
    return FoundNodeReport(
        decided_at=said.decided_at,
        reason=said.reason,
        rules=tuple(
            FoundRuleReport(
                rule=each.variant,
                why=each.explanation,
                link=known[each.variant].link if each.variant in known else "",
                public_since=known[each.variant].public if each.variant in known else None,
            )
            for each in failing
        ),
    )


def shown_finding(
    finding: Finding,
    history: Sequence[FindingChangeRow],
    node: FoundNodeReport | None = None,
) -> ShownFinding:
    """Return a finding with its history as a record."""
    known = FindingChangeReport.model_fields
    changes = [{name: getattr(row, name) for name in known} for row in history]
    return ShownFinding(
        finding=_finding_report(finding),
        history=tuple(FindingChangeReport.model_validate(change) for change in changes),
        node=node,
    )


def _finding_report(finding: Finding) -> FindingReport:
    plain: dict[str, Any] = {each.name: getattr(finding, each.name) for each in fields(finding)}
    named = {
        "verdict_class": finding.verdict_class.label,
        "opened_class": finding.opened_class.label,
        "state": finding.state.value,
    }
    return FindingReport.model_validate(plain | named)


def findings_lines(report: FindingsReport, *, none: str = "no open finding") -> list[str]:
    """Return one line a finding, and one for each that keeps its twins from opening."""
    lines = [_line(finding) for finding in report.findings] or [none]
    lines += [_suppressing_line(finding) for finding in report.suppressing]
    return [printable(line) for line in lines]


def finding_lines(shown: ShownFinding) -> list[str]:
    """Return the lines about one finding: strata, trials, and what changed about it when."""
    finding, history = shown.finding, shown.history
    lines = [_line(finding)]
    if finding.shape == NODE_SHAPE:
        lines += [f"  {line}" for line in _of_node(finding, shown.node)]
    else:
        lines += [f"  stratum  {stratum}" for stratum in (finding.stratum, *finding.children)]
        lines += [f"  signal   {signal}" for signal in finding.signals]
    lines += [f"  trial    davylamp explain {trial}" for trial in finding.trials]
    lines += [f"  history  {line}" for line in _history(history)]
    if finding.shape == NODE_SHAPE and finding.state in _OPEN:
        now = f"davylamp nodes --target {finding.target}"
        closing = f"davylamp findings resolve {finding.id} --why …"
        lines.append(f"  next     {now}    # whether a rule still fails it")
        lines.append(f"  next     {closing}    # once none does; it does not close by itself")
    return [printable(line) for line in lines]


def _of_node(finding: FindingReport, node: FoundNodeReport | None) -> Iterator[str]:
    """Yield which node, and each rule that failed it when that was last said."""
    yield f"node     {finding.stratum}"
    if node is None:
        yield from (f"signal   {signal}" for signal in finding.signals)
        return
    yield f"said     {node.decided_at:%Y-%m-%d %H:%M:%S} UTC"
    for rule in node.rules:
        public = f", public since {rule.public_since.isoformat()}" if rule.public_since else ""
        yield f"fails    {rule.rule}{public}"
        yield f"         {rule.why}"
        if rule.link:
            yield f"         {rule.link}"
    if not node.rules:
        yield f"fails    {node.reason}"


def decided_line(finding: Finding, decision: Decision) -> str:
    """Return what to say when a person decided about a finding, which stands as given after it."""
    said = f"{finding.id} is {finding.state.value}"
    if finding.suppressed_until is not None:
        said += f"; its twins open nothing until {finding.suppressed_until:%Y-%m-%d %H:%M} UTC"
    # Neither what was reported, a node nor a stream is a shape that waited for this.
    waited = (
        finding.shape not in {REPORTED_SHAPE, NODE_SHAPE}
        and finding.opened_class is not VerdictClass.DRIFT
    )
    if decision is Decision.REOPEN and finding.back_in_rotation_at is not None:
        drained = f"davylamp findings drained {finding.id}"
        return printable(f"{said}; its target counts as in rotation (if it is not: {drained})")
    if finding.is_open or not waited:
        return printable(said)
    return printable(f"{said}; {finding.shape} is probed again on {finding.target}")


def rotated_lines(finding: Finding, open_there: Sequence[Finding]) -> list[str]:
    """Return what to say when somebody told of a finding's target, which ``open_there`` are of.

    Each finding is told of apart: those that stand otherwise are named.
    """
    how = _rotation(_finding_report(finding))
    verb = Rotation.DRAINED if finding.is_out_of_rotation else Rotation.RETURNED
    lines = [f"{finding.id}: {finding.target} is {how}"]
    if finding.is_out_of_rotation and finding.verdict_class in ISOLATION_BROKEN:
        lines[0] += "; what shows in a further stratum opens a finding of its own"
    lines += [
        f"also open there: davylamp findings {verb} {other.id}"
        for other in open_there
        if other.is_out_of_rotation is not finding.is_out_of_rotation
    ]
    return [printable(line) for line in lines]


def _history(versions: Sequence[FindingChangeReport]) -> Iterator[str]:
    """Yield a line for each version that changed more than the count, oldest first."""
    told = [
        version
        for before, version in zip((None, *versions), versions, strict=False)
        if before is None or _what(before) != _what(version)
    ]
    if len(told) > _SHOWN_CHANGES:
        yield f"{len(told) - _SHOWN_CHANGES} older changes are in the table finding_changes"
    for version in told[-_SHOWN_CHANGES:]:
        yield f"{version.changed_at:%Y-%m-%d %H:%M:%S} UTC  {_change(version)}"
    if versions and versions[-1] is not (told[-1] if told else None):
        last = versions[-1]
        yield f"{last.changed_at:%Y-%m-%d %H:%M:%S} UTC  {_seen(last)}"


def _what(version: FindingChangeReport) -> tuple[object, ...]:
    return (
        *(version.verdict_class, version.state, version.child_count),
        *(version.confirmations, version.reproduced, version.who, version.why),
        *(version.suppressed_until, version.out_of_rotation_at, version.back_in_rotation_at),
    )


def _change(version: FindingChangeReport) -> str:
    parts = [version.verdict_class, version.state, _seen(version)]
    if version.child_count:
        parts.append(f"{version.child_count + 1} strata")
    if version.confirmations:
        parts.append(f"seen again in {version.reproduced} of {version.confirmations} confirmations")
    if version.who:
        # The time of the decision stands before its reason.
        parts.append(f"by {version.who}: {version.why.partition(' ')[2]}")
    if version.suppressed_until is not None:
        parts.append(f"twins open nothing until {version.suppressed_until:%Y-%m-%d %H:%M} UTC")
    rotation = _rotation(version)
    if rotation:
        why = f": {version.rotation_why}" if version.rotation_why else ""
        parts.append(f"{rotation}, as {version.rotation_by} told{why}")
    return "  ".join(parts)


def _rotation(finding: FindingReport | FindingChangeReport) -> str:
    """Return since when the target is out of rotation, or back; empty if nobody told."""
    if finding.back_in_rotation_at is not None:
        return f"back in rotation since {finding.back_in_rotation_at:%Y-%m-%d %H:%M:%S} UTC"
    if finding.out_of_rotation_at is not None:
        return f"out of rotation since {finding.out_of_rotation_at:%Y-%m-%d %H:%M:%S} UTC"
    return ""


def _seen(version: FindingChangeReport) -> str:
    return "1 verdict" if version.count == 1 else f"{version.count} verdicts"


def _confirmed(finding: FindingReport) -> str:
    if not finding.confirmations:
        return ""
    return f"seen again in {finding.reproduced} of {finding.confirmations} confirmations  "


def _suppressing_line(finding: FindingReport) -> str:
    verdicts = "1 verdict" if finding.suppressed == 1 else f"{finding.suppressed} verdicts"
    return (
        f"{finding.id} suppresses its twins ({finding.verdict_class} {finding.target} "
        f"{finding.shape} {finding.stratum}) until {finding.suppressed_until:%Y-%m-%d %H:%M} UTC: "
        f"{verdicts} so far"
    )


def _suppressed(finding: FindingReport) -> str:
    """Return until when a finding keeps twins out, and how many verdicts it kept out so far."""
    parts = []
    if finding.suppressed_until is not None:
        parts.append(f"twins suppressed until {finding.suppressed_until:%Y-%m-%d %H:%M} UTC")
    if finding.suppressed:
        verdicts = "1 verdict" if finding.suppressed == 1 else f"{finding.suppressed} verdicts"
        parts.append(f"{verdicts} suppressed")
    return "".join(f"  {part}" for part in parts)


def _out(finding: FindingReport) -> str:
    """Return since when an open finding's target is out of rotation."""
    is_out = finding.out_of_rotation_at is not None and finding.back_in_rotation_at is None
    return f"  {_rotation(finding)}" if is_out and finding.state in _OPEN else ""


def _line(finding: FindingReport) -> str:
    seen = f"{finding.first_seen:%Y-%m-%d %H:%M} to {finding.last_seen:%Y-%m-%d %H:%M} UTC"
    verdicts = "1 verdict" if finding.count == 1 else f"{finding.count} verdicts"
    # Of nodes the stratum is the name, and tells one finding from another.
    node = f" {finding.stratum}" if finding.shape == NODE_SHAPE else ""
    return (
        f"{finding.id}  {finding.verdict_class}  {finding.target}  {finding.shape}{node}  "
        f"{finding.state}  {verdicts}  {_confirmed(finding)}{seen}"
        f"{_suppressed(finding)}{_out(finding)}"
    )
