"""What the configuration says about weekly reports: when, where, in which formats, who is told."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from monitor.config.pages import Webhook
from monitor.config.problems import wrong
from monitor.config.secrets import quoted
from monitor.config.section import Section
from monitor.config.values import FileName

FormatName = Literal["html", "json", "csv", "parquet"]
DayName = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
DAYS: tuple[DayName, ...] = (
    *("monday", "tuesday", "wednesday", "thursday"),
    *("friday", "saturday", "sunday"),
)
FORMATS: tuple[FormatName, ...] = ("html", "json", "csv", "parquet")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)


def _time(value: object) -> str:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value
    raise wrong(f"{quoted(value)} is not a time of a day", 'write hours and minutes: "06:00"')


def _some(values: tuple[FormatName, ...]) -> tuple[FormatName, ...]:
    if not values:
        raise wrong("names no format", "leave it out for all, or write [html]")
    if len(set(values)) < len(values):
        raise wrong("names a format twice", "keep one of them")
    return values


DayTime = Annotated[
    str,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "title": "time", "pattern": f"^{_TIME.pattern}$"}),
]


class Reports(Section):
    """A report of each week, made by the daemon once it is over; see docs/weekly-report.md."""

    folder: FileName = Field(
        description="An existing folder; each report has one of its own in it, named by its week.",
        examples=["./reports"],
    )
    day: DayName = Field(default="monday", description="From which day of the week after (UTC).")
    time: DayTime = Field(
        default="06:00", description="From which time of that day (UTC), in quotes."
    )
    formats: Annotated[tuple[FormatName, ...], AfterValidator(_some)] = Field(
        default=FORMATS, description="What it is written as."
    )
    drill: FileName | None = Field(
        default=None,
        description="The JSON of the last drill, for its time to detect; see docs/drill-json.md.",
    )
    webhook: Webhook | None = Field(
        default=None,
        description="Who is told that a report is there: names, counts and hashes, no text.",
    )

    @property
    def offset_seconds(self) -> int:
        """How long after the end of a week its report is due."""
        hours, minutes = map(int, self.time.split(":"))
        return DAYS.index(self.day) * 86_400 + hours * 3600 + minutes * 60
