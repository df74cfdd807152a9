"""A local endpoint of PagerDuty's Events API v2: holds events to what is documented, and records.

It answers 202 to a valid event and 400 to any other, as the real one does, unless it is told to
answer something else. What it knows of incidents is what the documentation says of keys: a trigger
opens one or adds to the one that is open, a resolve closes it.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ROUTING_KEY = "0123456789abcdefABCDEF9876543210"
MAX_EVENT = 512 * 1024
_TOP = frozenset(
    {"routing_key", "event_action", "dedup_key", "payload", "images", "links", "client"}
    | {"client_url"}
)
_PAYLOAD = frozenset(
    {"summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """One request: when it came, what it said, and how it was answered."""

    at: datetime
    path: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    status: int

    @property
    def event(self) -> dict[str, Any]:
        """The body as JSON."""
        event = json.loads(self.body)
        assert isinstance(event, dict)
        return event


@dataclass(slots=True)
class Endpoint:
    """What came, and what to answer next: each of ``answers`` once, then what is deserved."""

    url: str = ""
    arrived: list[Arrived] = field(default_factory=list)
    answers: deque[tuple[int, Mapping[str, str]]] = field(default_factory=deque)
    always: tuple[int, Mapping[str, str]] | None = None
    alerts: dict[str, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    def answer(self, *statuses: int, **headers: str) -> None:
        """Answer the next requests like this."""
        dressed = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.extend((status, dressed) for status in statuses)

    def accepted(self) -> list[dict[str, Any]]:
        """Return the events that were taken, in the order they came in."""
        return [each.event for each in self.arrived if each.status == 202]

    def actions(self, key: str | None = None) -> list[str]:
        """Return the actions that were taken, of one key or of all."""
        events = [e for e in self.accepted() if key in (None, e["dedup_key"])]
        return [event["event_action"] for event in events]

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Record a request and return what to answer."""
        status, more = self._status(path, body)
        arrived = Arrived(
            at=datetime.now(UTC), path=path, headers=headers, body=body, status=status
        )
        self.arrived.append(arrived)
        if status == 202:
            self._apply(arrived.event)
        return status, more

    def _status(self, path: str, body: bytes) -> tuple[int, Mapping[str, str]]:
        if self.answers:
            return self.answers.popleft()
        if self.always is not None:
            return self.always
        if path != "/v2/enqueue":
            return (404 if b'"routing_key"' in body else 202), {}
        return (400 if problems(body) else 202), {}

    def _apply(self, event: Mapping[str, Any]) -> None:
        key, action = event.get("dedup_key", ""), event.get("event_action")
        if action == "trigger" and key not in self.alerts:
            self.opened.append(key)
            self.alerts[key] = "triggered"
        elif action == "acknowledge" and key in self.alerts:
            self.alerts[key] = "acknowledged"
        elif action == "resolve":
            self.alerts.pop(key, None)


def problems(body: bytes) -> list[str]:
    """Return what the documentation of the Events API v2 holds against an event."""
    if len(body) > MAX_EVENT:
        return ["larger than 512 KB"]
    try:
        event = json.loads(body)
    except ValueError:
        return ["no JSON"]
    if not isinstance(event, dict):
        return ["no object"]
    found = [f"unknown key {key}" for key in event.keys() - _TOP]
    key = event.get("dedup_key")
    if event.get("routing_key") != ROUTING_KEY:
        found.append("invalid routing key")
    if event.get("event_action") not in ("trigger", "acknowledge", "resolve"):
        found.append("event_action")
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= 255):
        found.append("dedup_key")
    if event.get("event_action") != "trigger":
        return found + ([] if key else ["dedup_key is needed"])
    return found + _payload_problems(event.get("payload"), event.get("links", []))


def _payload_problems(payload: object, links: Sequence[Mapping[str, str]]) -> list[str]:
    if not isinstance(payload, dict):
        return ["payload"]
    found = [f"unknown key payload.{key}" for key in payload.keys() - _PAYLOAD]
    summary = payload.get("summary")
    if not (isinstance(summary, str) and 0 < len(summary) <= 1024):
        found.append("summary")
    if not payload.get("source"):
        found.append("source")
    if payload.get("severity") not in ("critical", "error", "warning", "info"):
        found.append("severity")
    if "timestamp" in payload:
        datetime.fromisoformat(payload["timestamp"])
    texts = ("component", "group", "class")
    found += [name for name in texts if not isinstance(payload.get(name, ""), str)]
    if not all(link.get("href", "").startswith(("http://", "https://")) for link in links):
        found.append("links")
    return found


@contextlib.contextmanager
def serving() -> Iterator[Endpoint]:
    """Serve on a free port of the loopback while entered, in threads of its own."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more = endpoint.take(self.path, headers, body)
            answer = json.dumps({"status": "success" if status == 202 else "invalid"}).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(answer)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
