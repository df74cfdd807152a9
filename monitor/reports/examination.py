"""What both ways of looking at a finding report: which trials were sent, and what they came to."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict, Field

from monitor.reports.check import Record


class Reading(StrEnum):
    """What one trial, or all of a stratum, say of the fault that is looked for."""

    CLEAN = "clean"
    SHOWN = "shown"
    UNCLEAR = "unclear"


class ExaminedTrial(Record):
    """One trial that was sent."""

    trial: str
    stratum: str
    outcome: str
    verdict_class: str = Field(alias="class")
    reason: str
    reading: Reading

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ExaminationReport(Record):
    """Which finding was looked at, with what, and what that cost.

    ``replayed`` is the trial of its evidence that was asked again. ``exposures`` counts answers
    that carried somebody else's text, proven.
    """

    davylamp_version: str
    checks_version: str
    configuration_hash: str
    environment: str
    finding: str
    finding_class: str
    target: str
    model: str
    shape: str
    probe: str
    stratum: str
    replayed: str
    started_at: datetime
    finished_at: datetime
    exit_code: int
    verdict: str
    reasons: list[str]
    refused_tokens: int
    answered_tokens: int
    budget: str
    left_tokens: int
    spent_tokens: int
    exposures: int
    trials: list[ExaminedTrial]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def percent(rate: float) -> str:
    """Return a bound as people read it, never lower than it is."""
    hundredths = -int(-rate * 10_000 // 1)
    return f"{hundredths / 100:g} %"


def line(name: str, text: str) -> str:
    """Return a line of a report with its label in front."""
    return f"  {name:<12}{text}"


def exposure_words(count: int) -> str:
    """Return how many answers carried others' text."""
    answers = "answer" if count == 1 else "answers"
    return f"{count} {answers} carried somebody else's text" if count else "nobody's text was read"
