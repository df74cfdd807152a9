"""What became of a reported answer: as JSON (docs/scan-json.md) and as lines; never its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pydantic import ConfigDict, Field

from monitor.model import Outcome, Signal, Status, VerdictClass
from monitor.reports.check import Record
from monitor.reports.terminal import printable
from monitor.scanning import Scanned


class ScanSignal(Record):
    """One thing found. ``spans`` are half-open places in the window ``window`` of the answer."""

    code: str
    variant: str
    explanation: str
    window: int
    spans: list[tuple[int, int]]
    evidence_bits: float | None = None
    owner_target: str | None = None
    owner_tenant: str | None = None
    owner_trial: str | None = None
    owner_exchange: int | None = None
    minted: str | None = None


class ScanReport(Record):
    """One answer. ``unsure`` says what only its prompt could tell."""

    name: str
    outcome: str
    verdict_class: str = Field(alias="class")
    reason: str
    trial: str
    finding: str | None
    found: list[ScanSignal]
    unsure: list[str]
    not_looked_for: list[str]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @property
    def is_bad(self) -> bool:
        """True if something bad was found."""
        return self.outcome == Outcome.BAD

    @property
    def is_suspect(self) -> bool:
        """True if something was found that is for people to look at, and not bad by itself."""
        return bool(self.found) and not self.is_bad

    @property
    def is_sure(self) -> bool:
        """True if everything that was looked for could be told."""
        return self.outcome in (Outcome.GOOD, Outcome.BAD) and not self.unsure


def scan_report(scanned: Scanned) -> ScanReport:
    """Return the record of one scanned answer."""
    verdict = scanned.verdict
    found = [s for s in verdict.signals if s.status is Status.FAIL]
    skipped = {s.code: s.explanation for s in verdict.signals if s.status is Status.SKIP}
    looked = {s.code for s in verdict.signals if s.status in (Status.FAIL, Status.PASS)}
    unsure = {words.partition(":")[0] for words in scanned.unsure}
    return ScanReport(
        name=scanned.name,
        outcome=verdict.outcome.value,
        verdict_class=verdict.verdict_class.label,
        reason=verdict.reason,
        trial=verdict.trial,
        finding=verdict.finding,
        found=[_signal(signal) for signal in found],
        unsure=list(dict.fromkeys(scanned.unsure)),
        not_looked_for=[
            f"{code}: {why}"
            for code, why in skipped.items()
            if code not in looked and code not in unsure
        ],
    )


def _signal(signal: Signal) -> ScanSignal:
    owner = signal.owner
    return ScanSignal(
        code=signal.code,
        variant=signal.variant,
        explanation=signal.explanation,
        window=signal.exchange,
        spans=list(signal.spans),
        evidence_bits=signal.evidence_bits,
        owner_target=owner.target if owner else None,
        owner_tenant=owner.tenant if owner else None,
        owner_trial=owner.trial if owner else None,
        owner_exchange=owner.exchange if owner else None,
        minted=owner.epoch if owner else None,
    )


def scan_lines(report: ScanReport) -> Iterator[str]:
    """Yield the lines of one answer, what was found first."""
    name = f"{report.name}  " if report.name else ""
    yield printable(f"{name}{_headline(report)}")
    said = Counter(map(_said, report.found))
    for found in report.found:
        # A long answer is searched in windows: what each of them says is said once.
        if not (times := said.pop(_said(found), 0)):
            continue
        windows = f" ({times} times)" if times > 1 else ""
        yield printable(f"  {found.code:<10} {found.explanation}{windows}")
        if found.owner_tenant is not None:
            yield printable(
                f"  {'':<10} written for {found.owner_tenant} of {found.owner_target} on "
                f"{found.minted}, exchange {found.owner_exchange} of {found.owner_trial}"
            )
    for words in report.unsure:
        yield printable(f"  UNSURE     {words}")
    if not report.found:
        for words in report.not_looked_for:
            yield printable(f"  NOT SOUGHT {words}")
    if report.finding:
        yield printable(f"  FINDING    davylamp findings show {report.finding}")


def _said(found: ScanSignal) -> tuple[object, ...]:
    """Return what a line says: two markers are two lines, however alike their evidence is."""
    return (found.code, found.explanation, found.owner_trial, found.owner_exchange)


def _headline(report: ScanReport) -> str:
    if report.verdict_class != VerdictClass.NONE.label:
        return f"{report.verdict_class.upper()}  {report.reason}"
    if report.outcome == Outcome.GOOD:
        # Not "good": nobody knows what the answer should hold (docs/decisions/0034).
        return "NOTHING FOUND  of what is looked for; what it lacks is not known"
    return f"{report.outcome.upper()}  {report.reason}"
