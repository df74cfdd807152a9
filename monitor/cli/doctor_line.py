"""What the doctor says, one line a thing, and what its checks may use."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import httpx

from monitor.clock import Clock
from monitor.config import Config
from monitor.http import HttpClient, Limits, RawReply, origin_of

MAX_BODY_BYTES = 2_000_000


class Health(StrEnum):
    """``UNKNOWN`` could not be told, and is never a success."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing looked at: how it is, and what to do where it is not well."""

    health: Health
    what: str
    said: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"\n         do: {self.remedy}" if self.remedy else ""
        return f"{self.health:<8} {self.what}: {self.said}{remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the checks work with; tests give a clock, an environment and shorter times."""

    config: Config
    clock: Clock
    environ: Mapping[str, str] | None = None
    timeout_seconds: float = 5.0
    transport: httpx.AsyncBaseTransport | None = None
    tls: ssl.SSLContext = field(default_factory=lambda: httpx.create_ssl_context(trust_env=False))

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> RawReply:
        """Ask once, only this origin, bounded in time and bytes, following nothing."""
        client = HttpClient(
            origins=frozenset({origin_of(url)}),
            clock=self.clock,
            limits=Limits(connect_seconds=self.timeout_seconds, body_bytes=MAX_BODY_BYTES),
            transport=self.transport,
        )
        try:
            return await client.send(
                "GET", url, headers=headers or {}, timeout_seconds=self.timeout_seconds
            )
        finally:
            await client.aclose()


def ok(what: str, said: str) -> Line:
    """Return a line that asks for nothing."""
    return Line(health=Health.OK, what=what, said=said)


def fail(what: str, said: str, remedy: str) -> Line:
    """Return a line on something that must be mended."""
    return Line(health=Health.FAIL, what=what, said=said, remedy=remedy)


def warn(what: str, said: str, remedy: str) -> Line:
    """Return a line on something that works but will not always."""
    return Line(health=Health.WARN, what=what, said=said, remedy=remedy)


def unknown(what: str, said: str, remedy: str) -> Line:
    """Return a line on something that could not be told."""
    return Line(health=Health.UNKNOWN, what=what, said=said, remedy=remedy)


def no_answer(reply: RawReply) -> str:
    """Say in our own words why there is no whole answer."""
    return "no answer" if reply.failure is None else reply.failure.detail
