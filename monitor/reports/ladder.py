"""The result of ``davylamp context verify``: a documented contract (docs/context-json.md).

What the terminal shows is made from it, so a ladder through the daemon and one of its own print
the same. It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime

from pydantic import ConfigDict, Field

from monitor.detect.ladder import Read
from monitor.reports.check import LimitReport, Record
from monitor.reports.terminal import printable

LADDER_SCHEMA_VERSION = "1.0"
_BAR_COLUMNS = 32
_LABEL_COLUMNS = 12
_VERDICTS = {0: "good", 1: "bad", 3: "could not tell"}
_MARKS = {
    Read.VERIFIED: "#",
    Read.REFUSED: "-",
    Read.TRUNCATED: "!",
    Read.REPLACED: "!",
    Read.UNCLEAR: "?",
    Read.NO_ANSWER: "?",
}


class RungReport(Record):
    """One prompt of the ladder."""

    position: int
    asked_tokens: int
    size_tokens: int
    size_error_tokens: int
    cold: bool
    outcome: Read
    verdict_class: str = Field(alias="class")
    reason: str
    reported_tokens: int | None
    cached_tokens: int | None
    http_status: int | None
    trial: str
    finding: str | None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class UnpaidReport(Record):
    """The size that was not probed because it could not be paid, and its two prices."""

    size_tokens: int
    refused_tokens: int
    answered_tokens: int
    reason: str


class EstimateReport(Record):
    """What the ladder was expected to cost, in tokens, before anything was sent.

    ``least_tokens`` if the largest size is verified at once; ``most_tokens`` for the worst limit
    with every prompt answered, ``most_refused_tokens`` with every failing prompt refused.
    """

    least_tokens: int
    most_refused_tokens: int
    most_tokens: int
    least_usd: float | None = None
    most_usd: float | None = None


class LadderReport(Record):
    """Up to which size content is verified, and what is known beyond."""

    schema_version: str = LADDER_SCHEMA_VERSION
    davylamp_version: str
    checks_version: str
    configuration_hash: str
    environment: str
    ladder: str
    target: str
    model: str
    started_at: datetime
    finished_at: datetime
    exit_code: int
    verdict: str
    reasons: list[str]
    limits: list[LimitReport]
    advertised_tokens: int
    advertised_source: str
    enforced_tokens: int
    goal_tokens: int
    verified_tokens: int
    verified_error_tokens: int
    failed_tokens: int | None
    failed_outcome: Read | None
    islands: list[int]
    exact: bool
    shared_beginning: bool
    repeats: int
    rungs: list[RungReport]
    unpaid: UnpaidReport | None
    estimate: EstimateReport
    spent_tokens: int
    boundary_left_tokens: int
    notes: list[str]


def estimate_words(estimate: EstimateReport, left: int) -> str:
    """Return what a ladder will cost, for whoever is about to pay."""
    usd = ""
    if estimate.most_usd is not None and estimate.least_usd is not None:
        usd = f" (about {estimate.least_usd:.4f} to {estimate.most_usd:.4f} USD)"
    return (
        f"expected cost: {estimate.least_tokens:,} tokens if the largest size is verified at once, "
        f"at most {estimate.most_refused_tokens:,} if what fails is refused, "
        f"{estimate.most_tokens:,} if it is answered{usd}; "
        f"{left:,} left of today's boundary budget"
    )


def rung_words(size: int, error: int, *, cold: bool, outcome: Read) -> str:
    """Return one rung in words."""
    temperature = "cold" if cold else "shared"
    return f"{size:,} ± {error:,} tokens, {temperature}: {outcome.value.replace('_', ' ')}"


def render_ladder(report: LadderReport) -> list[str]:
    """Return the lines of a ladder: the claim, then the rungs from the largest size down."""
    lines = [f"{report.target}  {report.model}  {report.verdict.upper()}"]
    lines += [_line("VERIFIED", _verified(report))]
    if _falls_short(report):
        lines.append(
            _line(
                "ADVERTISED",
                f"advertised {report.advertised_tokens:,} ({report.advertised_source}), "
                f"verified {report.verified_tokens:,} ± {report.verified_error_tokens:,}: "
                f"{report.advertised_tokens - report.verified_tokens:,} tokens "
                "nobody has seen read",
            )
        )
    lines += [_line("REASON", reason) for reason in report.reasons]
    lines += _ladder(report)
    lines += [_line("ISLAND", f"verified at {size:,} above a fault") for size in report.islands]
    if report.unpaid:
        unpaid = report.unpaid
        lines.append(
            _line(
                "NOT PROBED",
                f"{unpaid.size_tokens:,} tokens: {unpaid.reason} "
                f"(price {unpaid.refused_tokens:,} to {unpaid.answered_tokens:,} tokens)",
            )
        )
    spent = f"{report.spent_tokens:,} charged; {report.boundary_left_tokens:,} left today"
    lines.append(_line("TOKENS", spent))
    lines += [_line("NOTE", note) for note in report.notes]
    lines += [_line("NEXT", command) for command in _next(report)]
    lines += ["", f"{_VERDICTS.get(report.exit_code, 'unknown').upper()} (exit {report.exit_code})"]
    return [printable(line) for line in lines]


def verdict_words(exit_code: int) -> str:
    """Return the words of an exit code."""
    return _VERDICTS[exit_code]


def _verified(report: LadderReport) -> str:
    if not report.verified_tokens:
        return "nothing: no size was read whole"
    counted = "counted by the target" if report.exact else "by the ruler of reported usage"
    return (
        f"content up to {report.verified_tokens:,} ± {report.verified_error_tokens:,} tokens "
        f"({counted}), of {report.goal_tokens:,} that the limit of {report.enforced_tokens:,} "
        "leaves"
    )


def _falls_short(report: LadderReport) -> bool:
    """True if what is advertised was not verified, but for the room an answer takes."""
    room = report.enforced_tokens - report.goal_tokens
    short = report.advertised_tokens - report.verified_tokens
    return short > room + report.verified_error_tokens + report.advertised_tokens // 100


def _ladder(report: LadderReport) -> Iterator[str]:
    """Draw the rungs, the largest first; the length of a bar is the logarithm of the size."""
    if not report.rungs:
        return
    largest = max(rung.size_tokens for rung in report.rungs)
    smallest = min(rung.size_tokens for rung in report.rungs)
    width = len(f"{largest:,}")
    for rung in sorted(report.rungs, key=lambda r: (-r.size_tokens, r.position)):
        columns = _columns(rung.size_tokens, smallest, largest)
        bar = _MARKS[rung.outcome] * columns
        temperature = "cold" if rung.cold else "shared"
        wrong = "" if rung.verdict_class == "none" else f"  {rung.verdict_class}: {rung.reason}"
        yield (
            f"  {rung.size_tokens:>{width},} ± {rung.size_error_tokens:<6,} "
            f"{bar:<{_BAR_COLUMNS}} {rung.outcome.value.replace('_', ' '):<9} "
            f"{temperature:<6}{wrong}"
        ).rstrip()


def _columns(size: int, smallest: int, largest: int) -> int:
    if largest <= smallest:
        return _BAR_COLUMNS
    share = math.log(max(1, size) / max(1, smallest)) / math.log(largest / max(1, smallest))
    return max(1, round(2 + share * (_BAR_COLUMNS - 2)))


def _next(report: LadderReport) -> list[str]:
    telling = [r for r in report.rungs if r.verdict_class != "none" or not r.outcome.told]
    if telling:
        return [f"davylamp explain {telling[0].trial}"]
    return [f"davylamp check --target {report.target} --probe boundary"]


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_COLUMNS}}{text}"
