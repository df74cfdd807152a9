"""Findings: one fault of one target, however many verdicts tell of it."""

from monitor.findings.book import (
    MAX_CONFIRMATIONS,
    MAX_SUSPECT_FINDINGS_PER_DAY,
    Findings,
    FindingStore,
)
from monitor.findings.evidence import is_bare_wrong, tells_of_a_fault
from monitor.findings.finding import REPORTED_SHAPE, Decision, Finding, FindingState
from monitor.findings.rotation import Rotation, Turn
from monitor.findings.said import MOST_WHO, MOST_WHY
from monitor.findings.stored import (
    StoredFindings,
    beginning_of_id,
    finding_named,
    findings_in,
    from_row,
    to_row,
)
from monitor.findings.suppression import ISOLATION_BROKEN, MOST_SUPPRESSION
from monitor.findings.versions import REMEMBERED_TRIALS

__all__ = [
    "ISOLATION_BROKEN",
    "MAX_CONFIRMATIONS",
    "MAX_SUSPECT_FINDINGS_PER_DAY",
    "MOST_SUPPRESSION",
    "MOST_WHO",
    "MOST_WHY",
    "REMEMBERED_TRIALS",
    "REPORTED_SHAPE",
    "Decision",
    "Finding",
    "FindingState",
    "FindingStore",
    "Findings",
    "Rotation",
    "StoredFindings",
    "Turn",
    "beginning_of_id",
    "finding_named",
    "findings_in",
    "from_row",
    "is_bare_wrong",
    "tells_of_a_fault",
    "to_row",
]
