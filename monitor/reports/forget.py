"""What ``davylamp db forget`` found and erased, as a record and as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import Field

from monitor.reports.audit import HeadReport
from monitor.reports.check import Record
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.reports.terminal import printable
from monitor.store.forget import Asked, Erased, Found
from monitor.store.links import Head

FORGET_SCHEMA_VERSION: Final = "1.0"


class ForgetReport(Record):
    """What there is to forget, or what was forgotten.

    ``begun`` says that an erasure of it was broken off, which this one ends.
    ``held`` is how many trials each open finding holds. ``replaced`` and ``detached`` are parts of
    tables that may hold copies, ``unreadable`` damaged lines that the spool laid aside.
    ``tombstone`` is the link of the audit chain that tells of it.
    """

    schema_version: Literal["1.0"] = FORGET_SCHEMA_VERSION
    asked: str
    erased: bool
    refused: bool
    rows: dict[str, int]
    markers: int
    held: dict[str, int]
    begun: bool = False
    quarantine: int = 0
    replaced: dict[str, int] = Field(default_factory=dict)
    detached: dict[str, int] = Field(default_factory=dict)
    unreadable: int = 0
    tombstone: HeadReport | None = None
    exit_code: int

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to erase, and no erasure to end."""
        return not (self.begun or self.markers or any(self.rows.values()))


def found_report(asked: Asked, found: Found, *, keep_held: bool) -> ForgetReport:
    """Return what there is. Unless what findings hold may be kept, that refuses the whole."""
    refused = bool(found.held) and not keep_held
    spared = found.held_rows if keep_held else {}
    return ForgetReport(
        asked=str(asked),
        erased=False,
        refused=refused,
        rows={table: number - spared.get(table, 0) for table, number in found.rows.items()},
        markers=found.markers - (found.held_markers if keep_held else 0),
        held=dict(found.held),
        begun=found.begun,
        exit_code=BAD_EXIT if refused else GOOD_EXIT,
    )


def erased_report(
    asked: Asked, found: Found, erased: Erased, tombstone: Head | None
) -> ForgetReport:
    """Return what was erased."""
    unsure = erased.replaced or erased.detached or erased.unreadable
    return ForgetReport(
        asked=str(asked),
        erased=True,
        refused=False,
        rows=dict(erased.rows),
        markers=erased.markers,
        held=dict(found.held),
        quarantine=erased.quarantine,
        replaced=dict(erased.replaced),
        detached=dict(erased.detached),
        unreadable=erased.unreadable,
        tombstone=HeadReport(seq=tombstone.seq, hash=tombstone.hash) if tombstone else None,
        exit_code=UNSURE_EXIT if unsure else GOOD_EXIT,
    )


def forget_lines(report: ForgetReport) -> list[str]:
    """Return the lines of a report."""
    return [printable(line) for line in _lines(report)]


def _lines(report: ForgetReport) -> Iterator[str]:
    verb = "erased" if report.erased else "to erase"
    yield f"{report.asked}, {verb}:"
    for table, number in report.rows.items():
        yield f"  {number:>9}  {table}"
    yield f"  {report.markers:>9}  texts of markers"
    if report.quarantine:
        yield f"  {report.quarantine:>9}  damaged lines of the spool"
    if report.begun:
        yield "an erasure of it was broken off: this ends it"
    yield from _held_lines(report)
    if report.refused:
        yield (
            "nothing was erased: close these findings first, or add --keep-held to erase all but "
            "their evidence"
        )
    elif report.erased:
        yield from _after_lines(report)
    elif report.is_empty:
        yield "nothing is left to erase"
    else:
        yield (
            "what stays: sums by hour and day, findings with the ids they name, hashes and owners "
            "of markers, links of the audit chain, and any backup or export"
        )


def _held_lines(report: ForgetReport) -> Iterator[str]:
    for finding, number in report.held.items():
        trials = "1 trial" if number == 1 else f"{number} trials"
        kept = "kept" if report.erased else "held"
        yield f"{kept} by the open finding {finding}: {trials} (davylamp findings show {finding})"


def _after_lines(report: ForgetReport) -> Iterator[str]:
    for table, number in report.replaced.items():
        yield (
            f"NOT SURE: {number} replaced parts of {table} are still being read; the database "
            "deletes them within minutes"
        )
    for table, number in report.detached.items():
        yield (
            f"NOT SURE: {number} parts of {table} were laid aside as damaged and may hold copies: "
            "look into its folder `detached`"
        )
    if report.unreadable:
        yield (
            f"NOT SURE: {report.unreadable} damaged lines in spool/quarantine cannot be read: look "
            "at them, and delete them if they may be about it"
        )
    if report.tombstone is not None:
        yield f"tombstone: link {report.tombstone.seq} of the audit chain"
        yield f"head {report.tombstone.hash}"
