"""Findings as lines."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.errors import UsageError
from monitor.findings import REPORTED_SHAPE, Finding
from monitor.reports.terminal import printable


def findings_lines(findings: Sequence[Finding]) -> list[str]:
    """Return one line a finding."""
    return [printable(_line(finding)) for finding in findings] or ["no open finding"]


def finding_lines(findings: Sequence[Finding], finding_id: str) -> list[str]:
    """Return the lines about one open finding. Raises ``UsageError`` if there is none."""
    found = next((finding for finding in findings if finding.id == finding_id), None)
    if found is None:
        msg = f"{finding_id}: no open finding has this id (davylamp findings list)"
        raise UsageError(msg)
    lines = [_line(found)]
    lines += [f"  stratum  {stratum}" for stratum in (found.stratum, *found.children)]
    lines += [f"  trial    davylamp explain {trial}" for trial in found.trials]
    return [printable(line) for line in lines]


def resolved_line(finding: Finding) -> str:
    """Return what to say when a finding was resolved."""
    if finding.shape == REPORTED_SHAPE:
        return printable(f"{finding.id} is resolved")
    return printable(
        f"{finding.id} is resolved; {finding.shape} is probed again on {finding.target}"
    )


def _confirmed(finding: Finding) -> str:
    if not finding.confirmations:
        return ""
    return f"seen again in {finding.reproduced} of {finding.confirmations} confirmations  "


def _line(finding: Finding) -> str:
    seen = f"{finding.first_seen:%Y-%m-%d %H:%M} to {finding.last_seen:%Y-%m-%d %H:%M} UTC"
    verdicts = "1 verdict" if finding.count == 1 else f"{finding.count} verdicts"
    return (
        f"{finding.id}  {finding.verdict_class.label}  {finding.target}  {finding.shape}  "
        f"{finding.state.value}  {verdicts}  {_confirmed(finding)}{seen}"
    )
