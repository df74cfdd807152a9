"""Findings as records, a documented contract (docs/findings.md), and as the lines made of them.

They hold codes, numbers, our own words and what people wrote about their decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from monitor.findings import REPORTED_SHAPE, Finding
from monitor.model import VerdictClass
from monitor.reports.check import Record
from monitor.reports.terminal import printable
from monitor.store.rows import FindingChangeRow

FINDINGS_SCHEMA_VERSION = "1.0"
# A fault seen for weeks has thousands of versions that only count on.
_SHOWN_CHANGES = 50


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

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class FindingsReport(Record):
    """The findings that were asked for, and the dismissed ones that suppress their twins now."""

    schema_version: str = FINDINGS_SCHEMA_VERSION
    findings: tuple[FindingReport, ...]
    suppressing: tuple[FindingReport, ...]


class ShownFinding(Record):
    """One finding, and each version of it that is known, the oldest first."""

    schema_version: str = FINDINGS_SCHEMA_VERSION
    finding: FindingReport
    history: tuple[FindingChangeReport, ...]


def findings_report(
    findings: Sequence[Finding], suppressing: Sequence[Finding] = ()
) -> FindingsReport:
    """Return findings as a record, with those that keep others from opening."""
    return FindingsReport(
        findings=tuple(_finding_report(finding) for finding in findings),
        suppressing=tuple(_finding_report(finding) for finding in suppressing),
    )


def shown_finding(finding: Finding, history: Sequence[FindingChangeRow]) -> ShownFinding:
    """Return a finding with its history as a record."""
    known = FindingChangeReport.model_fields
    changes = [{name: getattr(row, name) for name in known} for row in history]
    return ShownFinding(
        finding=_finding_report(finding),
        history=tuple(FindingChangeReport.model_validate(change) for change in changes),
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
    lines += [f"  stratum  {stratum}" for stratum in (finding.stratum, *finding.children)]
    lines += [f"  signal   {signal}" for signal in finding.signals]
    lines += [f"  trial    davylamp explain {trial}" for trial in finding.trials]
    lines += [f"  history  {line}" for line in _history(history)]
    return [printable(line) for line in lines]


def decided_line(finding: Finding) -> str:
    """Return what to say when a person decided about a finding."""
    said = f"{finding.id} is {finding.state.value}"
    if finding.suppressed_until is not None:
        said += f"; its twins open nothing until {finding.suppressed_until:%Y-%m-%d %H:%M} UTC"
    # Neither what was reported nor a stream is a shape that waited for this.
    waited = finding.shape != REPORTED_SHAPE and finding.opened_class is not VerdictClass.DRIFT
    if finding.is_open or not waited:
        return printable(said)
    return printable(f"{said}; {finding.shape} is probed again on {finding.target}")


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
        version.suppressed_until,
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
    return "  ".join(parts)


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


def _line(finding: FindingReport) -> str:
    seen = f"{finding.first_seen:%Y-%m-%d %H:%M} to {finding.last_seen:%Y-%m-%d %H:%M} UTC"
    verdicts = "1 verdict" if finding.count == 1 else f"{finding.count} verdicts"
    return (
        f"{finding.id}  {finding.verdict_class}  {finding.target}  {finding.shape}  "
        f"{finding.state}  {verdicts}  {_confirmed(finding)}{seen}{_suppressed(finding)}"
    )
