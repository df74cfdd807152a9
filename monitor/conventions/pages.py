"""Metrics and words of pages: how urgent a finding is, by which route it goes, what was sent."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import L, counter, gauge
from monitor.model import VerdictClass


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


_WORDS = {
    VerdictClass.LEAK: "answers carry another tenant's text, proven",
    VerdictClass.CROSSED: "answers carry another request's text, proven",
    VerdictClass.WRONG_INPUT: "the model does not read all that it is sent",
    VerdictClass.CORRUPT: "answers hold template tokens or damaged characters",
    VerdictClass.CONTRACT: "answers break the protocol, their own counts or their own limits",
    VerdictClass.UNSAFE_NODE: "a node runs a version or setting known to be unsafe",
    VerdictClass.DRIFT: "answers moved away from what they were",
}
_URGENT_WORDS = {
    VerdictClass.WRONG_INPUT: "the model answers something else than it is sent",
}


def words_of(verdict_class: VerdictClass, *, urgent: bool = False) -> str:
    """Return what a finding of a class means, in plain words."""
    plain = _WORDS.get(verdict_class, "answers are wrong")
    return _URGENT_WORDS.get(verdict_class, plain) if urgent else plain


PAGES = counter(
    "pages_total",
    "Attempts to deliver an event of a page, by receiver and what became of them.",
    *(L.ENV, L.ROUTE, L.ACTION, L.OUTCOME),
)
PAGE_INCIDENTS_UNSAID = gauge(
    "page_incidents_unsaid",
    "Incidents whose page the receiver rejected, and that are not over; 0 if it took each.",
    *(L.ENV, L.ROUTE),
)
PAGE_OUTBOX_EVENTS = gauge("page_outbox_events", "Events of pages that wait to be sent.", L.ENV)
PAGE_OUTBOX_AGE = gauge(
    "page_outbox_age_seconds",
    "For how long the oldest event of a page has waited; 0 if none waits.",
    L.ENV,
)
