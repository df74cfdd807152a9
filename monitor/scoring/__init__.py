"""Instruments: what is read off an answer by a model or a large library, in a worker of its own.

Checks stay pure: an instrument measures, the check judges what was measured.
"""

from monitor.scoring.base import (
    Asked,
    Instrument,
    Reading,
    ScoringSettings,
    Skipped,
    missing_extras,
)
from monitor.scoring.inline import InlineScorer
from monitor.scoring.worker import NoScorer, Scorer, WorkerScorer

__all__ = [
    "Asked",
    "InlineScorer",
    "Instrument",
    "NoScorer",
    "Reading",
    "Scorer",
    "ScoringSettings",
    "Skipped",
    "WorkerScorer",
    "missing_extras",
]
