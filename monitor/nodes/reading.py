"""Reading nodes: side by side, each within its own time, none able to hold up another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from monitor.clock import Clock
from monitor.http import HttpClient, Origin, Transport, origin_of
from monitor.nodes.credentials import Credentials
from monitor.nodes.pages import NodePages, page_limits
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.readers.base import NodeReader, Reading
from monitor.nodes.record import Gap, NodeSnapshot, Role

REFUSED = frozenset({401, 403})
"""What a node answers that wants a credential, or another one."""


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
    credentials: Credentials | None = None,
) -> tuple[NodeSnapshot, ...]:
    """Read ``addresses``, at most ``concurrency`` at a time, and return them in their order.

    Each node has ``timeout_seconds`` in all. What a node does wrong is a gap of its snapshot, and
    never an exception. Nothing of it repeats any of ``credentials``, else of the nodes' own.
    """
    turns = asyncio.Semaphore(max(1, concurrency))
    known = credentials or Credentials(each.credential for each in addresses if each.credential)

    async def one(address: NodeAddress) -> NodeSnapshot:
        async with turns:
            read = await _read_node(
                address, clock=clock, timeout_seconds=timeout_seconds, transport=transport
            )
            return _without(known, read)

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
        return Reading(gaps=(Gap(fact="engine", why=await _why_no_engine(pages)),))
    return await reader.read(pages, address.role)


async def _why_no_engine(pages: NodePages) -> str:
    """Say that the credential was refused, where any page was: that hides the engine."""
    signs = sorted({path for each in NODE_ENGINES.values() for path in each.signs})
    for page in [await pages.page(path) for path in signs]:
        if page.status in REFUSED:
            return f"{page.path}: {page.why}"
    return "no page shows an engine that can be read"


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


def _without(credentials: Credentials, snapshot: NodeSnapshot) -> NodeSnapshot:
    """Return what was read, in which nothing repeats a credential."""
    facts, gaps = snapshot.facts, snapshot.gaps
    version, repeated = facts.version, credentials.repeated_in
    if version is not None and repeated(version):
        version = None
        gaps += (Gap(fact="version", why="it repeats a credential"),)
    settings = {name: value for name, value in facts.settings.items() if not repeated(str(value))}
    models = tuple(name for name in facts.models if not repeated(name))
    if len(models) < len(facts.models):
        gaps += (Gap(fact="models", why="a name of them repeats a credential"),)
    facts = replace(facts, version=version, settings=settings, models=models)
    return replace(snapshot, facts=facts, gaps=gaps)


def _snapshot(snapshot: NodeSnapshot, address: NodeAddress, reading: Reading) -> NodeSnapshot:
    facts, gaps = reading.facts, reading.gaps
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
