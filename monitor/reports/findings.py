"""Findings as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.findings import REPORTED_SHAPE, Finding
from monitor.reports.terminal import printable
from monitor.store.rows import FindingChangeRow

# A fault seen for weeks has thousands of versions that only count on.
_SHOWN_CHANGES = 50


def findings_lines(findings: Sequence[Finding], *, none: str = "no open finding") -> list[str]:
    """Return one line a finding."""
    return [printable(_line(finding)) for finding in findings] or [none]


def finding_lines(finding: Finding, history: Sequence[FindingChangeRow]) -> list[str]:
    """Return the lines about one finding: strata, trials, and what changed about it when."""
    lines = [_line(finding)]
    lines += [f"  stratum  {stratum}" for stratum in (finding.stratum, *finding.children)]
    lines += [f"  trial    davylamp explain {trial}" for trial in finding.trials]
    lines += [f"  history  {line}" for line in _history(history)]
    return [printable(line) for line in lines]


def decided_line(finding: Finding) -> str:
    """Return what to say when a person decided about a finding."""
    said = f"{finding.id} is {finding.state.value}"
    if finding.is_open or finding.shape == REPORTED_SHAPE:
        return printable(said)
    return printable(f"{said}; {finding.shape} is probed again on {finding.target}")


def _history(versions: Sequence[FindingChangeRow]) -> Iterator[str]:
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


def _what(version: FindingChangeRow) -> tuple[object, ...]:
    return (
        *(version.verdict_class, version.state, version.child_count),
        *(version.confirmations, version.reproduced, version.who, version.why),
    )


def _change(version: FindingChangeRow) -> str:
    parts = [version.verdict_class, version.state, _seen(version)]
    if version.child_count:
        parts.append(f"{version.child_count + 1} strata")
    if version.confirmations:
        parts.append(f"seen again in {version.reproduced} of {version.confirmations} confirmations")
    if version.who:
        # The time of the decision stands before its reason.
        parts.append(f"by {version.who}: {version.why.partition(' ')[2]}")
    return "  ".join(parts)


def _seen(version: FindingChangeRow) -> str:
    return "1 verdict" if version.count == 1 else f"{version.count} verdicts"


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
