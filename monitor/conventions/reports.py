"""Metrics of the weekly reports a daemon builds; none is there unless it is to build some."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import L, counter, gauge


class ReportFailure(StrEnum):
    """Why a report was not built, or its webhook not told."""

    STORE = "store"
    CONFIG = "config"
    FILES = "files"
    WEBHOOK_FAILED = "webhook_failed"
    WEBHOOK_REJECTED = "webhook_rejected"
    CRASHED = "crashed"


REPORT_NEWEST_DUE = gauge(
    "report_newest_due_timestamp_seconds",
    "When the newest weekly report that is there was due, whenever it was written, in seconds "
    "since 1970; 0 if none is there.",
    L.ENV,
)
REPORTS_MISSING = gauge(
    "reports_missing",
    "Weeks whose report is due and not there, or does not hold, or cannot be seen.",
    L.ENV,
)
REPORTS_UNTOLD = gauge(
    "reports_untold",
    "Reports that the webhook was not told of since it is on, or refused to be; 0 if there is no "
    "webhook.",
    L.ENV,
)
REPORT_FAILURES = counter(
    "report_failures_total",
    "Attempts to build a weekly report, or to tell of it, that failed, and of what.",
    *(L.ENV, L.KIND),
)
