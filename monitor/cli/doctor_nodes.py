"""Are the serving nodes there, may they be read, and is their engine known: no tokens are spent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import replace

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, unknown, warn
from monitor.cli.doctor_target import read_secret
from monitor.config import NodeTarget, SecretRef, Target
from monitor.engines.wire import bearer
from monitor.errors import ConfigError
from monitor.http import HttpClient, Transport, origin_of
from monitor.nodes.discovery import NodeFinder
from monitor.nodes.gateway import GatewayReading, held_to, names_of, read_gateway
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.reading import NodeAddress, read_nodes
from monitor.nodes.record import NodeSnapshot
from monitor.reports.node_causes import is_refused

_MOST_LINES = 20
_ASKED = ("/v1/models", "/metrics")
_REFUSED = (401, 403)
_FORBIDDEN = "not among those that may be read"


async def check_nodes(around: Surroundings, target: Target | NodeTarget) -> AsyncIterator[Line]:
    """Look at a target's nodes, its sources of nodes and its gateway: one line for each."""
    missing = list(_missing_tokens(around, target))
    for line in missing:
        yield line
    if missing:
        return
    finder = NodeFinder.of(
        around.config,
        [target],
        clock=around.clock,
        engines=NODE_ENGINES,
        environ=around.environ,
    )
    found = await finder.find()
    for source in found.unread:
        remedy = "check node_sources: the name, the files, and the resolver of this machine"
        yield fail(f"{target.name} nodes of {source.node}", source.gaps[0].why, remedy)
    transport = finder.transport(found, inner=around.transport)
    try:
        snapshots = await read_nodes(
            found.addresses,
            clock=around.clock,
            timeout_seconds=around.timeout_seconds,
            concurrency=around.config.nodes.concurrency,
            transport=transport,
            credentials=finder.credentials,
        )
        pairs = zip(found.addresses, snapshots, strict=True)
        lines = [await _line(around, *each, transport) for each in pairs]
        for line in _shown(target, lines):
            yield line
        if target.gateway is not None:
            credential = finder.credential(target.gateway.token)
            reading = await read_gateway(
                target.name,
                target.gateway,
                asked=(),
                credential=credential,
                clock=around.clock,
                timeout_seconds=around.timeout_seconds,
                transport=transport,
            )
            served = {model for each in snapshots for model in each.facts.models}
            for line in _gateway_lines(target, reading, served):
                yield line
    finally:
        await transport.aclose()


def _gateway_lines(
    target: Target | NodeTarget, reading: GatewayReading, served: Collection[str]
) -> Iterator[Line]:
    """Yield whether a gateway lists its models, and what hinders holding nodes to its promise."""
    what = f"{target.name} gateway"
    if reading.gaps and not reading.models:
        remedy = "check gateway.url and its token: it has to be allowed to list models"
        yield fail(what, f"its models: {reading.gaps[0].why}", remedy)
        return
    if reading.gaps:
        said = f"what it serves is not wholly known: {reading.gaps[0].why}"
        yield unknown(what, said, "let it list all its models by names that can be shown")
    else:
        yield ok(what, f"lists {len(reading.models)} models")
    if not (target.nodes or target.node_sources):
        said = "the nodes behind it are not told, so that nothing is held to what it promises"
        yield unknown(what, said, "name them in nodes or node_sources of the target")
        return
    for gap in held_to(replace(reading, gaps=()), names_of(target, served)).gaps:
        said = f"what it promises could not be told: {gap.why}"
        remedy = "let it list the model by the name the target has, with its context in tokens"
        yield unknown(what, said, remedy)


def _missing_tokens(around: Surroundings, target: Target | NodeTarget) -> Iterator[Line]:
    named: list[tuple[str, SecretRef | None]] = [
        *((f"node {node.name}", node.token) for node in target.nodes),
        *((f"nodes of {each.dns or each.file_sd}", each.token) for each in target.node_sources),
        *([("gateway", target.gateway.token)] if target.gateway else []),
    ]
    for what, ref in named:
        secret = read_secret(around, ref)
        if isinstance(secret, ConfigError):
            yield fail(f"{target.name} {what}", secret.problem, str(secret.remedy))


def _shown(target: Target | NodeTarget, lines: list[Line]) -> Iterator[Line]:
    """Yield a line for each node; of many, only for those that need something."""
    if len(lines) <= _MOST_LINES:
        yield from lines
        return
    others = [line for line in lines if line.remedy]
    well = len(lines) - len(others)
    yield ok(f"{target.name} nodes", f"{well} of {len(lines)} are reachable and known")
    yield from others[:_MOST_LINES]
    if len(others) > _MOST_LINES:
        more = f"{len(others) - _MOST_LINES} more of them need something"
        yield unknown(f"{target.name} nodes", more, "`davylamp nodes` shows each")


async def _line(
    around: Surroundings,
    address: NodeAddress,
    snapshot: NodeSnapshot,
    transport: Transport,
) -> Line:
    what = f"{address.target} node {address.node}"
    facts = snapshot.facts
    if not snapshot.reached:
        why = snapshot.gaps[0].why if snapshot.gaps else "no answer"
        if why.endswith(_FORBIDDEN):
            return fail(what, why, "add its range to nodes.addresses, if it is one of yours")
        return fail(what, why, "check its url, and that this machine may reach it")
    if facts.engine is None:
        return await _unknown_engine(around, what, address, transport)
    known = f"{facts.engine} {facts.version or 'of a version it does not state'}, {snapshot.role}"
    if not snapshot.gaps:
        return ok(what, known)
    refused = next((each.why for each in snapshot.gaps if is_refused(each.why)), None)
    if refused is not None:
        return fail(what, f"{known}; {refused}", "check token_env or token_file")
    gap = snapshot.gaps[0]
    more = f", and {len(snapshot.gaps) - 1} more" if len(snapshot.gaps) > 1 else ""
    said = f"{known}; not read: {gap.fact} ({gap.why}){more}"
    return warn(what, said, "`davylamp nodes` shows what rules cannot be told without them")


async def _unknown_engine(
    around: Surroundings, what: str, address: NodeAddress, transport: Transport
) -> Line:
    """Tell a node that refuses our token from one that is no engine we can read."""
    root = address.url.removesuffix("/v1")
    http = HttpClient(origins=frozenset({origin_of(root)}), clock=around.clock, transport=transport)
    replies = [
        await http.send(
            "GET",
            f"{root}{path}",
            headers=bearer(address.credential),
            timeout_seconds=around.timeout_seconds,
        )
        for path in _ASKED
    ]
    refused = next((each.status for each in replies if each.status in _REFUSED), None)
    if refused is not None:
        return fail(what, f"refused with {refused}", "check token_env or token_file")
    said = "reachable, but no page shows an engine that can be read"
    return unknown(what, said, "set engine; docs/nodes-facts.md says what each engine must serve")
