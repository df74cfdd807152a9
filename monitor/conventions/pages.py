"""Metrics and words of pages: how urgent a finding is, by which route it goes, what was sent."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import L, counter, gauge


class Severity(StrEnum):
    """What a finding asks for: to wake somebody, a ticket, or nothing."""

    CRITICAL = "critical"
    WARNING = "warning"
    NONE = "none"


class Route(StrEnum):
    """Who tells people of a finding: Davylamp itself, or Alertmanager. Never both."""

    DIRECT = "direct"
    ALERTMANAGER = "alertmanager"


class PageAction(StrEnum):
    """What an event does to the incident of a finding."""

    TRIGGER = "trigger"
    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"


class PageOutcome(StrEnum):
    """What became of an attempt to deliver an event."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    FAILED = "failed"
    DROPPED = "dropped"


PAGES = counter(
    "pages_total",
    "Attempts to deliver an event of a page, by receiver and what became of them.",
    *(L.ENV, L.ROUTE, L.ACTION, L.OUTCOME),
)
PAGE_OUTBOX_EVENTS = gauge("page_outbox_events", "Events of pages that wait to be sent.", L.ENV)
PAGE_OUTBOX_AGE = gauge(
    "page_outbox_age_seconds",
    "For how long the oldest event of a page has waited; 0 if none waits.",
    L.ENV,
)
