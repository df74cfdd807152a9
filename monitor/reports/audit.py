"""The result of ``davylamp db audit``: as JSON (docs/audit.md) and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal

from monitor.reports.check import Record
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.reports.terminal import printable
from monitor.store.links import Flaw, FlawKind, Verified
from monitor.store.rows import AuditRow

AUDIT_SCHEMA_VERSION: Final = "1.0"
_WORDS = {
    FlawKind.MISSING: "is missing",
    FlawKind.CHANGED: "was changed: its hash is not that of what it says",
    FlawKind.UNLINKED: "was not written after the link that stands before it: one of them was "
    "replaced",
    FlawKind.FORKED: "stands there more than once, with different words",
    FlawKind.DOUBLED: "stands there twice, word for word",
    FlawKind.HEAD: "is missing: a head that was seen before is not in the chain, so its end was "
    "cut off or written again",
}


class HeadReport(Record):
    """The last link: keep it where nobody who can write to the store can."""

    seq: int
    hash: str


class FlawReport(Record):
    """One thing that is wrong, from the link numbered ``seq`` to ``until``."""

    kind: str
    seq: int
    until: int
    words: str


class LinkReport(Record):
    """One link. ``details`` is JSON of codes, names and numbers."""

    seq: int
    at: datetime
    actor: str
    action: str
    object: str
    details: str
    hash: str


class AuditReport(Record):
    """How the chain stands.

    ``published`` is the number of the link whose hash was given with ``--head``.
    ``unended_erasures`` were begun and have no end.
    """

    schema_version: Literal["1.0"] = AUDIT_SCHEMA_VERSION
    verdict: str
    exit_code: int
    links: int
    head: HeadReport | None
    began_at: datetime | None
    installation: str
    installation_is_ours: bool
    published: int | None
    flaws: list[FlawReport]
    flaw_count: int
    unended_erasures: list[str]
    last: list[LinkReport]


def audit_report(verified: Verified, last: Sequence[AuditRow], ours: str) -> AuditReport:
    """Return the report of a verified chain; ``ours`` is this installation's fingerprint."""
    exit_code = _exit_code(verified)
    head = verified.head
    return AuditReport(
        verdict={GOOD_EXIT: "whole", BAD_EXIT: "broken", UNSURE_EXIT: "could not tell"}[exit_code],
        exit_code=exit_code,
        links=head.seq if head else 0,
        head=HeadReport(seq=head.seq, hash=head.hash) if head else None,
        began_at=verified.began_at,
        installation=verified.installation,
        installation_is_ours=verified.installation == ours,
        published=verified.published,
        flaws=[_flaw(flaw) for flaw in verified.flaws],
        flaw_count=verified.flaw_count,
        unended_erasures=list(verified.unended),
        last=[
            LinkReport(
                seq=link.seq,
                at=link.at,
                actor=link.actor,
                action=link.action,
                object=link.object,
                details=link.details,
                hash=link.hash,
            )
            for link in last
        ],
    )


def audit_lines(report: AuditReport) -> list[str]:
    """Return the lines of a report."""
    return [printable(line) for line in _lines(report)]


def _exit_code(verified: Verified) -> int:
    if not verified.whole:
        return BAD_EXIT
    # Nothing recorded yet looks like everything removed.
    return UNSURE_EXIT if verified.head is None or verified.unended else GOOD_EXIT


def _flaw(flaw: Flaw) -> FlawReport:
    return FlawReport(kind=flaw.kind.value, seq=flaw.seq, until=flaw.until, words=_WORDS[flaw.kind])


def _lines(report: AuditReport) -> Iterator[str]:
    for link in report.last:
        yield (
            f"{link.seq:>6}  {link.at:%Y-%m-%d %H:%M:%S} UTC  {link.actor}  {link.action}  "
            f"{link.object}  {link.details}"
        )
    for flaw in report.flaws:
        which = (
            f"link {flaw.seq}" if flaw.seq == flaw.until else f"links {flaw.seq} to {flaw.until}"
        )
        yield f"{which}: {flaw.words}"
    if report.flaw_count > len(report.flaws):
        yield f"and {report.flaw_count - len(report.flaws)} more"
    for asked in report.unended_erasures:
        yield f"the erasure of {asked} was begun and has no end: run it again"
    if report.links and not report.installation_is_ours:
        yield (
            f"the chain was begun by the installation {report.installation or 'unknown'}, which is "
            "not this one: it has another key"
        )
    if report.head is None:
        yield (
            "the chain is empty: nothing was recorded yet, or everything was removed; only a head "
            "seen outside could tell (--head)"
        )
        return
    if report.published is not None:
        yield f"the head you gave is link {report.published}: nothing up to it was changed"
    yield f"{report.verdict.upper()}: {report.links} links since {report.began_at:%Y-%m-%d}"
    yield f"head {report.head.hash}"
