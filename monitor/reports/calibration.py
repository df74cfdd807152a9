"""The result of ``davylamp calibrate``: a documented contract (docs/calibration.md).

What the terminal shows is made from it, so a calibration through the daemon and one of its own
print the same. It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic import ConfigDict, Field

from monitor.model import Calibration, CalibrationState, ToleranceSource
from monitor.reports.calibrated import calibrated_lines, percent
from monitor.reports.check import CalibratedReport, Record
from monitor.reports.terminal import printable

CALIBRATION_SCHEMA_VERSION = "1.0"
_LABEL_COLUMNS = 12
_SHOWN_GROUPS = 16
_VERDICTS = {0: "calibrated", 1: "refused", 3: "could not tell"}


class PromptReport(Record):
    """How one golden prompt was answered."""

    prompt: str
    version: str
    asked: int
    missed: int
    quarantined: bool
    fingerprints: int
    similarities: int


class GroupReport(Record):
    """How often a group of one probe's answers failed, and what such answers are held to."""

    probe: str
    group: str
    judged: int
    failed: int
    tolerance: float


class BaselineReport(Record):
    """What a calibration says. ``tolerance`` is that of all its answers together."""

    tolerance: float
    missed_at_most: float
    confidence: float
    margin: float
    checks_version: str
    subject: str
    parts: dict[str, str]
    prompts: list[PromptReport]
    groups: list[GroupReport]
    border_inputs: int
    scripts: list[str]
    names_per_answer: float
    best_prefill_tokens_per_second: float | None


class CostReport(Record):
    """What asking was priced at, was charged, and what is left of the day's budgets; in tokens."""

    priced: int
    priced_usd: float | None = None
    charged: int = 0
    ordinary_left: int
    boundary_left: int


class UnhealthyReport(Record):
    """What was found while recording: a target that shows it cannot be calibrated."""

    verdict_class: str = Field(alias="class")
    probe: str
    stratum: str
    words: str
    trial: str
    finding: str | None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class CalibrationReport(Record):
    """What ``calibrate`` came to, or with ``--show`` how the calibration stands.

    ``exit_code`` is 0 if it is stored, or shown; 1 if the target is not healthy or misses most
    prompts; 3 if it could not be told. ``tolerance_source`` says which tolerance is in force.
    """

    schema_version: str = CALIBRATION_SCHEMA_VERSION
    davylamp_version: str
    configuration_hash: str
    environment: str
    target: str
    model: str
    started_at: datetime
    finished_at: datetime
    exit_code: int
    reason: str
    answers: int = 0
    errors: int = 0
    tolerance: float
    tolerance_source: str
    calibrated: CalibratedReport
    baseline: BaselineReport | None
    cost: CostReport | None = None
    unhealthy: UnhealthyReport | None = None
    notes: list[str] = Field(default_factory=list)


def baseline_report(calibration: Calibration) -> BaselineReport:
    """Return what a calibration says, as numbers."""
    return BaselineReport(
        tolerance=calibration.tolerance,
        missed_at_most=calibration.missed_at_most,
        confidence=calibration.confidence,
        margin=calibration.margin,
        checks_version=calibration.checks_version,
        subject=calibration.subject,
        parts=dict(calibration.parts),
        prompts=[
            PromptReport(
                prompt=prompt.name,
                version=prompt.version,
                asked=prompt.asked,
                missed=prompt.missed,
                quarantined=prompt.quarantined,
                fingerprints=len(prompt.fingerprints),
                similarities=len(prompt.similarities),
            )
            for prompt in calibration.prompts
        ],
        groups=[
            GroupReport(
                probe=group.probe,
                group=group.group,
                judged=group.judged,
                failed=group.failed,
                tolerance=group.tolerance,
            )
            for group in calibration.groups
        ],
        border_inputs=len(calibration.first_tokens),
        scripts=list(calibration.scripts),
        names_per_answer=calibration.names_per_answer,
        best_prefill_tokens_per_second=calibration.best_prefill_tokens_per_second,
    )


def render_calibration(report: CalibrationReport) -> list[str]:
    """Return the lines of a report."""
    return [printable(line) for line in _lines(report)]


def _lines(report: CalibrationReport) -> Iterator[str]:
    asked = report.cost is not None
    said = _VERDICTS.get(report.exit_code, "unknown") if asked else report.calibrated.state
    yield f"{report.target}  {report.model}  {said.upper()}"
    if report.unhealthy is not None:
        yield from _unhealthy(report.unhealthy)
    if report.reason:
        yield _line("BECAUSE", report.reason)
    if asked:
        errors = f", {report.errors} that did not come and were asked again" * bool(report.errors)
        yield _line("ASKED", f"{report.answers:,} answers judged{errors}")
    if report.baseline is not None:
        used = report.tolerance_source == ToleranceSource.CALIBRATED.value
        yield from _baseline(report.baseline, used=used)
    yield from _made(report.calibrated)
    yield _line("IN FORCE", _in_force(report))
    for words in calibrated_lines(report.target, report.calibrated):
        yield _line("CALIBRATION", words)
    if report.cost is not None:
        yield _line("TOKENS", cost_words(report.cost))
    for note in report.notes:
        yield _line("NOTE", note)


def _unhealthy(found: UnhealthyReport) -> Iterator[str]:
    yield _line(found.verdict_class, found.words)
    yield _line("", f"{found.probe} {found.stratum}")
    yield _line("", f"  trial {found.trial}" + (f", finding {found.finding}" * bool(found.finding)))


def _baseline(baseline: BaselineReport, *, used: bool) -> Iterator[str]:
    """Yield what was measured; where other tolerances are in force, under a label that says so."""
    level, points = percent(baseline.confidence), percent(baseline.margin).removesuffix("%")
    how = f"the upper bound at {level} and a margin of {points} points"
    label = "TOLERANCE" if used else "NOT USED"
    yield _line(label, f"{percent(baseline.tolerance)} of all answers: {how}")
    probes = [group for group in baseline.groups if not group.group]
    for each in probes:
        said = f"{percent(each.tolerance)} of {each.probe}: {each.failed} of {each.judged} failed"
        yield _line("", said)
    own = [g for g in baseline.groups if g.group and g.failed]
    for each in own[:_SHOWN_GROUPS]:
        group = f"{each.probe}, {each.group}"
        said = f"{percent(each.tolerance)} of {group}: {each.failed} of {each.judged} failed"
        yield _line("", said)
    if len(own) > _SHOWN_GROUPS:
        yield _line("", f"and {len(own) - _SHOWN_GROUPS} more groups in --json")
    misses = f"at most {percent(baseline.missed_at_most)} of its golden answers are missed"
    yield _line("PROMPTS", f"{len(baseline.prompts)} golden prompts; {misses}")


def _made(calibrated: CalibratedReport) -> Iterator[str]:
    if calibrated.calibration is None or calibrated.made_at is None:
        return
    why = f": {calibrated.reason}" if calibrated.reason else ""
    when = f"{calibrated.made_at:%Y-%m-%d %H:%M} UTC"
    yield _line("MADE", f"{calibrated.calibration}, {when} by {calibrated.made_by}{why}")


def _in_force(report: CalibrationReport) -> str:
    held = percent(report.tolerance)
    if report.tolerance_source == ToleranceSource.CONFIGURED.value:
        return f"a tolerance of {held}, as the configuration says; it wins over any calibration"
    if report.tolerance_source == ToleranceSource.CALIBRATED.value:
        return f"a tolerance of {held}, and one for each group, by this calibration"
    none = report.calibrated.state == CalibrationState.NONE.value
    how = f": `davylamp calibrate {report.target}` measures it" if none else ""
    return f"a tolerance of {held}, the default{how}"


def cost_words(cost: CostReport) -> str:
    """Return what asking costs and what is left, in tokens."""
    usd = "" if cost.priced_usd is None else f", {cost.priced_usd:.2f} USD"
    charged = f"{cost.charged:,} charged of {cost.priced:,} at most{usd}"
    left = f"left today: {cost.ordinary_left:,}, boundary {cost.boundary_left:,}"
    return f"{charged}; {left}"


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_COLUMNS}}{text}"
