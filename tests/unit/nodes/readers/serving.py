"""Nodes for tests: pages by path, and what was asked of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from monitor.nodes.reading import NodeAddress, read_nodes
from monitor.nodes.record import NodeSnapshot, Role

URL = "http://node.test:30000"
CREDENTIAL = "node-credential-7731"


class StillClock:
    """A clock that stands."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class Node:
    """Serves ``pages``: text as it is, a number as a status, everything else as JSON."""

    pages: Mapping[str, Any]
    asked: list[httpx.Request] = field(default_factory=list)

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        page = self.pages.get(request.url.path, 404)
        if isinstance(page, Exception):
            raise page
        if isinstance(page, int):
            return httpx.Response(page)
        if isinstance(page, str | bytes):
            return httpx.Response(200, content=page)
        return httpx.Response(200, content=json.dumps(page))


def read(
    pages: Mapping[str, Any],
    *,
    role: Role | None = None,
    engine: str | None = None,
    credential: str | None = CREDENTIAL,
) -> NodeSnapshot:
    """Return the reading of a node with these pages."""
    address = NodeAddress(
        node="a", target="t", url=URL, role=role, engine=engine, credential=credential
    )
    return read_with(Node(pages), address)


def read_with(node: Node, address: NodeAddress) -> NodeSnapshot:
    """Return the reading of ``node`` at ``address``."""
    reading = read_nodes([address], clock=StillClock(), transport=node.transport())
    return asyncio.run(reading)[0]


def why(snapshot: NodeSnapshot, fact: str) -> str:
    """Return why ``fact`` could not be read; it is a failure if it could."""
    reasons = {gap.fact: gap.why for gap in snapshot.gaps}
    assert fact in reasons, reasons
    return reasons[fact]


def gaps_of(snapshot: NodeSnapshot) -> set[str]:
    """Return the facts that could not be read."""
    return {gap.fact for gap in snapshot.gaps}
