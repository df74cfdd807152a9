"""Findings: one fault of one target, however many verdicts tell of it."""

from monitor.findings.book import (
    MAX_CONFIRMATIONS,
    MAX_SUSPECT_FINDINGS_PER_DAY,
    REMEMBERED_TRIALS,
    Findings,
    FindingStore,
    is_bare_wrong,
)
from monitor.findings.finding import REPORTED_SHAPE, Finding, FindingState
from monitor.findings.stored import StoredFindings, findings_in, from_row, to_row

__all__ = [
    "MAX_CONFIRMATIONS",
    "MAX_SUSPECT_FINDINGS_PER_DAY",
    "REMEMBERED_TRIALS",
    "REPORTED_SHAPE",
    "Finding",
    "FindingState",
    "FindingStore",
    "Findings",
    "StoredFindings",
    "findings_in",
    "from_row",
    "is_bare_wrong",
    "to_row",
]
