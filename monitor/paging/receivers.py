"""Who is told directly: PagerDuty's Events API v2, and webhooks. One attempt each time, no more."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from monitor.clock import Clock
from monitor.config import Config, resolve_secret
from monitor.config.pages import PAGERDUTY, PagerDuty, Webhook
from monitor.conventions.pages import PageAction, PageOutcome
from monitor.engines.retry import retry_after_seconds
from monitor.errors import ConfigError
from monitor.http import HttpClient, Limits, origin_of
from monitor.paging.bodies import (
    Body,
    encoded,
    pagerduty_event,
    trial_event,
    trial_page,
    webhook_page,
)
from monitor.paging.message import Message

TIMEOUT_SECONDS = 10.0
ENQUEUE_PATH = "/v2/enqueue"
TOO_MANY = 429
# The same event is refused for the same reason whenever it is sent again.
_NEVER_AGAIN = frozenset({400, 413, 422})
_LIMITS = Limits(connect_seconds=5.0, body_bytes=65_536, headers=50, header_chars=500)
_ROUTING_KEY = re.compile(r"[A-Za-z0-9]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one attempt. ``wait_seconds``: for how long the receiver asks to be left alone.

    ``problem`` says what is wrong, in words of ours.
    """

    outcome: PageOutcome
    status: int | None
    problem: str = ""
    wait_seconds: float | None = None


class Receiver(Protocol):
    """Somebody to tell. Bodies are made when an event is kept, secrets added when it is sent."""

    @property
    def name(self) -> str:
        """The receiver's name: a metric label."""

    def body(self, action: PageAction, message: Message, event: str, at: datetime) -> bytes:
        """Return what an event says, without any secret."""

    def trial(self, action: PageAction, dedup_key: str, environment: str, at: datetime) -> bytes:
        """Return what an event says that only shows that events arrive."""

    async def send(self, body: bytes) -> Answer:
        """Send a body once."""

    async def aclose(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutyReceiver:
    """A service of PagerDuty."""

    url: str
    routing_key: str = field(repr=False)
    client: HttpClient
    clock: Clock
    name: str = PAGERDUTY

    def body(self, action: PageAction, message: Message, event: str, at: datetime) -> bytes:
        """Return the event without its routing key."""
        return encoded(pagerduty_event(action, message))

    def trial(self, action: PageAction, dedup_key: str, environment: str, at: datetime) -> bytes:
        """Return an event that asks nothing of anybody."""
        return encoded(trial_event(dedup_key, action, environment))

    async def send(self, body: bytes) -> Answer:
        """Enqueue an event once."""
        event: Body = {"routing_key": self.routing_key, **json.loads(body)}
        url = f"{self.url}{ENQUEUE_PATH}"
        return await _posted(self.client, self.clock, url, encoded(event), {})

    async def aclose(self) -> None:
        """Close every connection."""
        await self.client.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceiver:
    """Anything that takes JSON over HTTP."""

    name: str
    url: str
    token: str = field(repr=False)
    secret: str = field(repr=False)
    signature_header: str
    client: HttpClient
    clock: Clock

    def body(self, action: PageAction, message: Message, event: str, at: datetime) -> bytes:
        """Return the page."""
        return encoded(webhook_page(action, message, event=event, at=at))

    def trial(self, action: PageAction, dedup_key: str, environment: str, at: datetime) -> bytes:
        """Return a page that asks nothing of anybody."""
        return encoded(trial_page(dedup_key, action, environment, at))

    async def send(self, body: bytes) -> Answer:
        """Post a page once, signed if there is a secret."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if self.secret:
            headers[self.signature_header] = signature(body, self.secret, self.clock.now())
        return await _posted(self.client, self.clock, self.url, body, headers)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.client.aclose()


def signature(body: bytes, secret: str, at: datetime) -> str:
    """Return ``t=SECONDS,v1=HEX``: the HMAC-SHA256 of the time, a dot and the body."""
    seconds = int(at.timestamp())
    made = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return f"t={seconds},v1={made.hexdigest()}"


def receivers_of(
    config: Config, clock: Clock, environ: Mapping[str, str] | None = None
) -> tuple[Receiver, ...]:
    """Return everybody a configuration tells directly.

    Raises ``ConfigError`` that names a secret which is missing or cannot be one.
    """
    pages = config.settings.pages
    first: tuple[Receiver, ...] = ()
    if pages.pagerduty is not None:
        first = (_pagerduty(pages.pagerduty, clock, environ),)
    return (*first, *(webhook_of(each, clock, environ) for each in pages.webhooks))


def _pagerduty(section: PagerDuty, clock: Clock, environ: Mapping[str, str] | None) -> Receiver:
    key = resolve_secret(section.routing_key, environ)
    if not _ROUTING_KEY.fullmatch(key):
        place = section.routing_key.place
        raise ConfigError(
            f"{section.routing_key} does not hold an integration key",
            file=place.file,
            line=place.line,
            path=place.path,
            remedy="it has 32 letters and digits: Service, Integrations, Events API v2",
        )
    return PagerDutyReceiver(
        url=section.url, routing_key=key, client=_client(section.url, clock), clock=clock
    )


def webhook_of(
    section: Webhook, clock: Clock, environ: Mapping[str, str] | None = None
) -> Receiver:
    """Return the receiver that a section names. Raises ``ConfigError`` for a missing secret."""
    token, secret = section.token, section.signing_secret
    return WebhookReceiver(
        name=section.name,
        url=section.url,
        token=resolve_secret(token, environ) if token is not None else "",
        secret=resolve_secret(secret, environ) if secret is not None else "",
        signature_header=section.signature_header,
        client=_client(section.url, clock),
        clock=clock,
    )


def _client(url: str, clock: Clock) -> HttpClient:
    return HttpClient(origins=frozenset({origin_of(url)}), clock=clock, limits=_LIMITS)


async def _posted(
    client: HttpClient, clock: Clock, url: str, body: bytes, headers: Mapping[str, str]
) -> Answer:
    reply = await client.send(
        "POST",
        url,
        headers={"Content-Type": "application/json", **headers},
        body=body,
        timeout_seconds=TIMEOUT_SECONDS,
    )
    status = reply.status
    if status is None:
        problem = reply.failure.detail if reply.failure is not None else "no answer"
        return Answer(outcome=PageOutcome.FAILED, status=None, problem=problem)
    # Whatever becomes of the rest of an answer, its status says whether the event was taken.
    if status // 100 == 2:  # noqa: PLR2004 - HTTP's 2xx
        return Answer(outcome=PageOutcome.ACCEPTED, status=status)
    if status in _NEVER_AGAIN:
        return Answer(outcome=PageOutcome.REJECTED, status=status, problem=f"HTTP {status}")
    wait = retry_after_seconds(reply.header("retry-after"), clock.now())
    return Answer(
        outcome=PageOutcome.FAILED, status=status, problem=f"HTTP {status}", wait_seconds=wait
    )
