"""What the command says of a report that was built, and of one that was verified."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.reports.terminal import printable
from monitor.weekly.building import Built
from monitor.weekly.verifying import Verified

GOOD_EXIT, BAD_EXIT, UNSURE_EXIT = 0, 1, 3
NO_DATA_EXIT = UNSURE_EXIT
_MOST_PROBLEMS = 50


def built_lines(built: Built) -> list[str]:
    """Return what a report says, in short, and the hash that is to be kept elsewhere."""
    return [printable(line) for line in _built(built)]


def _built(built: Built) -> Iterator[str]:
    report = built.report
    yield f"{report.week} in {built.folder}: {report.judgement.value.replace('_', ' ')}"
    for row in report.targets:
        yield f"  {row.target}: {row.judgement.value.replace('_', ' ')}: {row.why}"
    if not report.has_data:
        yield "NO DATA: not one scheduled exchange was judged in this week"
    yield f"not looked at: {len(report.not_looked_at)} entries, first in the report"
    yield from (f"NOT FOLLOWED: {problem}" for problem in built.passed_over[:_MOST_PROBLEMS])
    yield from (f"LEFT OUT OF THE CHAIN: {each}" for each in built.left_out[:_MOST_PROBLEMS])
    before = built.previous
    if before is None:
        yield "there is no report before: it is the first of its chain"
    else:
        gap = f"; {_weeks_without(before.weeks_between)}" if before.weeks_between else ""
        yield f"it follows {before.week}{_of_another(built.previous_environment)}{gap}"
    yield f"manifest {built.manifest_sha256} (keep it elsewhere)"


def verified_exit(verified: Verified) -> int:
    """Return 0 if a report holds, 1 if not, 3 if nobody's key was there to hold it against."""
    if verified.problems:
        return BAD_EXIT
    return GOOD_EXIT if verified.key_checked else UNSURE_EXIT


def verified_lines(verified: Verified) -> list[str]:
    """Return whether a report holds, and what was not checked."""
    return [printable(line) for line in _verified(verified)]


def _verified(verified: Verified) -> Iterator[str]:
    manifest = verified.manifest
    if verified.problems or manifest is None:
        yield "DOES NOT HOLD"
        yield from (f"  {problem}" for problem in verified.problems[:_MOST_PROBLEMS])
        if (left := len(verified.problems) - _MOST_PROBLEMS) > 0:
            yield f"  and {left:,} more"
        return
    if verified.key_checked:
        yield f"HOLDS: report {manifest.week} of {manifest.environment}"
        yield f"signed by installation {manifest.installation}"
    else:
        yield f"UNCHANGED SINCE ITS MANIFEST: it says it is {manifest.week}"
        yield "key not checked: anybody could have written all of it (--public-key)"
    yield f"{len(manifest.files)} files, manifest {verified.manifest_sha256}"
    before = manifest.previous
    if before is None:
        yield "it says that there was no report before it"
    else:
        gap = f"; {_weeks_without(before.weeks_between)}" if before.weeks_between else ""
        checked = "" if verified.chain_checked else " (not checked: --previous)"
        week = f"{before.week}{_of_another(verified.previous_environment)}"
        yield f"it follows {week}{gap}, manifest {before.manifest_sha256}{checked}"


def _of_another(environment: str) -> str:
    # A renamed environment goes on with its chain; a key in two places mixes two up.
    return f" of another environment, {environment}" if environment else ""


def _weeks_without(weeks: int) -> str:
    # Whether there are reports of them that it does not follow, a report cannot tell.
    said = "week in between has" if weeks == 1 else "weeks in between have"
    return f"{weeks} {said} no report of this chain"
