"""Reading nodes: side by side, each within its own time, none able to hold up another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from monitor.clock import Clock
from monitor.http import HttpClient, Origin, Transport, origin_of
from monitor.nodes.pages import NodePages, page_limits
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.readers.base import NodeReader, Reading
from monitor.nodes.record import Gap, NodeFacts, NodeSnapshot, Role

SHORTEST_SECRET = 8
"""Placeholders of nodes that take any credential ("none", "EMPTY") are part of ordinary names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddress:
    """One node to read.

    ``url`` is its base, with or without ``/v1``. ``engine`` is a name of ``NODE_ENGINES``; without
    it the node's pages tell. ``metrics_url`` is where its metrics are, if not at ``/metrics``.
    ``role`` is what the configuration says it is.
    """

    node: str
    target: str
    url: str
    role: Role | None = None
    engine: str | None = None
    metrics_url: str | None = None
    credential: str | None = field(default=None, repr=False)


async def read_nodes(
    addresses: Sequence[NodeAddress],
    *,
    clock: Clock,
    timeout_seconds: float = 5.0,
    concurrency: int = 32,
    transport: Transport | None = None,
) -> tuple[NodeSnapshot, ...]:
    """Read ``addresses``, at most ``concurrency`` at a time, and return them in their order.

    Each node has ``timeout_seconds`` in all. What a node does wrong is a gap of its snapshot, and
    never an exception.
    """
    turns = asyncio.Semaphore(max(1, concurrency))

    async def one(address: NodeAddress) -> NodeSnapshot:
        async with turns:
            return await _read_node(
                address, clock=clock, timeout_seconds=timeout_seconds, transport=transport
            )

    return tuple(await asyncio.gather(*(one(address) for address in addresses)))


async def _read_node(
    address: NodeAddress,
    *,
    clock: Clock,
    timeout_seconds: float,
    transport: Transport | None,
) -> NodeSnapshot:
    read_at = clock.now()
    snapshot = NodeSnapshot(
        node=address.node,
        target=address.target,
        read_at=read_at,
        role=address.role or Role.UNIFIED,
        reached=False,
    )
    try:
        origins = _origins(address)
    except ValueError as error:
        return _unread(snapshot, f"its address is {error}")
    http = HttpClient(origins=origins, clock=clock, limits=page_limits(), transport=transport)
    pages = NodePages(
        http,
        url=address.url,
        metrics_url=address.metrics_url,
        credential=address.credential,
        clock=clock,
        deadline_seconds=timeout_seconds,
    )
    try:
        reading = await _reading(address, pages)
    finally:
        if transport is None:
            await http.aclose()
    if not pages.reached:
        return _unread(snapshot, pages.first_problem or "no page could be read")
    return _snapshot(snapshot, address, reading)


async def _reading(address: NodeAddress, pages: NodePages) -> Reading:
    reader = await _reader(address.engine, pages)
    if reader is None:
        why = "no page shows an engine that can be read"
        return Reading(gaps=(Gap(fact="engine", why=why),))
    return await reader.read(pages, address.role)


async def _reader(engine: str | None, pages: NodePages) -> NodeReader | None:
    if engine is not None and engine in NODE_ENGINES:
        return NODE_ENGINES[engine]
    await pages.fetch(sorted({path for each in NODE_ENGINES.values() for path in each.signs}))
    for each in NODE_ENGINES.values():
        if await each.recognises(pages):
            return each
    return None


def _origins(address: NodeAddress) -> frozenset[Origin]:
    urls = [address.url, *([address.metrics_url] if address.metrics_url else [])]
    if set(address.url) & set("?#"):
        raise ValueError("not the base of a node's pages: it has a query")
    return frozenset(origin_of(url) for url in urls)


def _unread(snapshot: NodeSnapshot, why: str) -> NodeSnapshot:
    return replace(snapshot, gaps=(Gap(fact="node", why=why),))


def _without(
    secret: str, facts: NodeFacts, gaps: tuple[Gap, ...]
) -> tuple[NodeFacts, tuple[Gap, ...]]:
    """Return facts in which nothing repeats the credential that the node was read with."""
    version = facts.version
    if version is not None and secret in version:
        version = None
        gaps += (Gap(fact="version", why="it repeats the credential of the node"),)
    settings = {name: value for name, value in facts.settings.items() if secret not in str(value)}
    models = tuple(name for name in facts.models if secret not in name)
    return replace(facts, version=version, settings=settings, models=models), gaps


def _snapshot(snapshot: NodeSnapshot, address: NodeAddress, reading: Reading) -> NodeSnapshot:
    facts, gaps = reading.facts, reading.gaps
    if address.credential and len(address.credential) >= SHORTEST_SECRET:
        facts, gaps = _without(address.credential, facts, gaps)
    if address.role and facts.role and address.role is not facts.role:
        why = f"the configuration says {address.role}, the node says {facts.role}"
        gaps += (Gap(fact="role", why=why),)
    return replace(
        snapshot,
        reached=True,
        role=address.role or facts.role or Role.UNIFIED,
        facts=facts,
        live=reading.live,
        gaps=gaps,
    )
