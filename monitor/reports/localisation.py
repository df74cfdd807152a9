"""The result of ``davylamp findings localise``: a documented contract (docs/findings.md).

It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

from enum import StrEnum

from monitor.reports.check import Record
from monitor.reports.examination import (
    ExaminationReport,
    Reading,
    exposure_words,
    line,
    percent,
)
from monitor.reports.terminal import printable

LOCALISATION_SCHEMA_VERSION = "1.0"


class Bearing(StrEnum):
    """Whether a fault depends on an axis, as far as was asked."""

    MATTERS = "matters"
    DOES_NOT_MATTER = "does_not_matter"
    UNCLEAR = "unclear"
    NOT_ASKED = "not_asked"


class PlaceReport(Record):
    """What trials of one stratum said; ``axis`` is empty for the finding's own.

    ``upper_bound`` is how often the fault can still show there, at 95 %, where it did not.
    """

    axis: str
    value: str
    stratum: str
    sent: int
    clean: int
    reading: Reading
    upper_bound: float | None


class AxisReport(Record):
    """Whether an axis matters; ``begins`` is the least value at which the fault showed."""

    axis: str
    value: str
    bearing: Bearing
    begins: str | None
    reason: str


class LocalisationReport(ExaminationReport):
    """Where a fault shows, where not, and on which axes it depends."""

    schema_version: str = LOCALISATION_SCHEMA_VERSION
    repeats: int
    most_trials: int
    sends: bool
    places: list[PlaceReport]
    axes: list[AxisReport]


_BEARING_WORDS = {
    Bearing.MATTERS: "matters",
    Bearing.DOES_NOT_MATTER: "does not matter",
    Bearing.UNCLEAR: "could not tell",
    Bearing.NOT_ASKED: "not asked",
}


def localisation_words(report: LocalisationReport) -> str:
    """Return what a localisation takes at most, for whoever is about to pay."""
    return (
        f"at most {report.most_trials} trials around {report.replayed} ({report.probe} "
        f"{report.stratum}): {report.answered_tokens:,} tokens if all are answered; "
        f"{report.left_tokens:,} left of the {report.budget} budget today"
    )


def render_localisation(report: LocalisationReport) -> list[str]:
    """Return the lines of a localisation: each stratum that was asked, then each axis."""
    lines = [
        f"{report.finding}  {report.finding_class}  {report.target}  {report.verdict.upper()}",
        line("PLAN", localisation_words(report)),
    ]
    lines += [line("STRATUM", _place(place)) for place in report.places]
    lines += [line("AXIS", _axis(axis)) for axis in report.axes]
    lines += [line("REASON", reason) for reason in report.reasons]
    if report.sends:
        lines.append(line("EXPOSED", exposure_words(report.exposures)))
        lines.append(line("TOKENS", f"{report.spent_tokens:,} charged"))
    lines += ["", f"{report.verdict.upper()} (exit {report.exit_code})"]
    return [printable(each) for each in lines]


def _place(place: PlaceReport) -> str:
    said = {
        Reading.SHOWN: f"shows, trial {place.sent} of {place.sent}",
        Reading.CLEAN: f"clean in {place.clean}",
        Reading.UNCLEAR: f"could not tell in {place.sent}",
    }[place.reading]
    if place.upper_bound is not None and place.reading is Reading.CLEAN:
        said += f": shows in at most {percent(place.upper_bound)} (95 %)"
    return f"{place.stratum}  {said}"


def _axis(axis: AxisReport) -> str:
    said = f"{axis.axis} ({axis.value}) {_BEARING_WORDS[axis.bearing]}"
    if axis.begins is not None:
        said += f", begins at {axis.begins}"
    return f"{said}; {axis.reason}" if axis.reason else said
