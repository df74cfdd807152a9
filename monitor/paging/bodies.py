"""What receivers are sent: events of PagerDuty's Events API v2, and the JSON of webhooks.

No secret is in them: the routing key is added, and a webhook's page signed, when it is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from monitor.conventions.pages import PageAction, Severity
from monitor.paging.message import Message

WEBHOOK_VERSION = 1
CLIENT = "Davylamp"
Body = Mapping[str, object]


def pagerduty_event(action: PageAction, message: Message) -> Body:
    """Return an event of the Events API v2 without its routing key."""
    event = {"event_action": action.value, "dedup_key": message.dedup_key}
    if action is not PageAction.TRIGGER:
        return event
    links = dict(message.links)
    client = {"client": CLIENT} | ({"client_url": links["finding"]} if "finding" in links else {})
    return {
        **event,
        **client,
        "payload": {
            "summary": message.summary,
            "source": message.target,
            "severity": message.severity.value,
            "timestamp": _instant(message.since),
            **({"component": message.evidence.routes[0]} if message.evidence.routes else {}),
            "group": message.model or message.target,
            "class": message.verdict_class,
            "custom_details": _details(message),
        },
        "links": [{"href": href, "text": text} for text, href in message.links],
    }


def webhook_page(action: PageAction, message: Message, *, event: str, at: datetime) -> Body:
    """Return the JSON of a page for a webhook: every action carries all there is to say."""
    return {
        "version": WEBHOOK_VERSION,
        "id": event,
        "at": _instant(at),
        "action": action.value,
        "dedup_key": message.dedup_key,
        "class": message.verdict_class,
        "severity": message.severity.value,
        "summary": message.summary,
        **_details(message),
        "links": dict(message.links),
    }


def trial_event(dedup_key: str, action: PageAction, environment: str) -> Body:
    """Return an event that only shows that events arrive."""
    event = {"event_action": action.value, "dedup_key": dedup_key}
    if action is not PageAction.TRIGGER:
        return event
    payload = {
        "summary": trial_summary(environment),
        "source": "davylamp",
        "severity": "info",
        "class": "test",
    }
    return {**event, "client": CLIENT, "payload": payload}


def trial_page(dedup_key: str, action: PageAction, environment: str, at: datetime) -> Body:
    """Return a webhook's page that only shows that pages arrive."""
    return {
        "version": WEBHOOK_VERSION,
        "id": f"{dedup_key}/{action.value}",
        "at": _instant(at),
        "action": action.value,
        "dedup_key": dedup_key,
        "class": "test",
        "severity": Severity.NONE.value,
        "summary": trial_summary(environment),
        "environment": environment,
    }


def trial_summary(environment: str) -> str:
    """Return the words of an event that asks nothing of anybody."""
    return f"a test of Davylamp's pages in {environment}: nothing is wrong, nothing is to be done"


def encoded(body: Body) -> bytes:
    """Return the body as it is sent and kept."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _details(message: Message) -> dict[str, object]:
    return {
        "environment": message.environment,
        "finding": message.finding,
        "target": message.target,
        "model": message.model,
        "since": _instant(message.since),
        "last_seen": _instant(message.last_seen),
        "verdicts": message.verdicts,
        "confirmations": message.confirmations,
        "reproduced": message.reproduced,
        "out_of_rotation_at": _instant_or_none(message.out_of_rotation_at),
        "back_in_rotation_at": _instant_or_none(message.back_in_rotation_at),
        "shape": message.shape,
        "strata": list(message.strata),
        "further_strata": message.further_strata,
        "lengths": list(message.lengths),
        "routes": list(message.evidence.routes),
        "http": [{"status": code, "exchanges": n} for code, n in message.evidence.http],
        "drain": message.drain,
        "look": message.look,
    }


def _instant_or_none(instant: datetime | None) -> str | None:
    return None if instant is None else _instant(instant)


def _instant(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
