"""Looking at a finding because a person asked: does its fault still show, and where it begins."""

from monitor.examining.localise import (
    DEFAULT_MOST_TRIALS,
    DEFAULT_REPEATS,
    Localise,
    localise_finding,
)
from monitor.examining.sitting import ExaminationStep, OnExaminationStep
from monitor.examining.verify import DEFAULT_BOUND, Verify, verify_finding

__all__ = [
    "DEFAULT_BOUND",
    "DEFAULT_MOST_TRIALS",
    "DEFAULT_REPEATS",
    "ExaminationStep",
    "Localise",
    "OnExaminationStep",
    "Verify",
    "localise_finding",
    "verify_finding",
]
