"""Which nodes there are: those that are listed, and those found in DNS or in Prometheus' files."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from monitor.clock import Clock
from monitor.config import Config, NodeTarget, SecretRef, Target, resolve_secret
from monitor.config.acceptance import AcceptedRule
from monitor.config.nodes import Node, NodeReading, NodeSource, Reached, host_and_port
from monitor.errors import ConfigError
from monitor.http import Origin, Transport, origin_of
from monitor.nodes.credentials import Credentials
from monitor.nodes.file_sd import BadFileError, Listed, files_of, read_file, shown_name
from monitor.nodes.guard import Allowed, GuardedTransport, Resolve, addresses, resolve_host
from monitor.nodes.reading import NodeAddress
from monitor.nodes.record import Gap, NodeSnapshot, Role

Served = Target | NodeTarget
NodeKey = tuple[str, str]
"""A target and a node of it."""

MAX_NODES = 2_000
"""The most nodes of one target that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The nodes there are now.

    ``unread`` stand for sources that could not be read, each as a node that was not reached: a
    fleet that cannot be found is never taken for one that is well. ``names`` are those that
    servers at the bare addresses of found nodes show a certificate for; where two sources lead to
    one address and port, the first one's.
    """

    addresses: tuple[NodeAddress, ...]
    unread: tuple[NodeSnapshot, ...] = ()
    accepted: Mapping[NodeKey, tuple[AcceptedRule, ...]] = field(default_factory=dict)
    names: Mapping[Origin, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """One node as a source gives it."""

    address: NodeAddress
    accepted: tuple[AcceptedRule, ...]
    certified_name: str | None = None


class NodeFinder:
    """Finds the nodes of some targets, anew each time.

    A source that cannot be read now keeps what it last gave, and says so; so does a pattern that
    no file fits any more. Of several files, one that is gone takes its nodes along. ``folder`` is
    where relative files are. ``credentials`` are all that no reading may repeat. Raises
    ``ConfigError`` at once if a token that is named is not there.
    """

    def __init__(
        self,
        served: Sequence[Served],
        reading: NodeReading,
        *,
        folder: Path,
        clock: Clock,
        engines: Collection[str],
        resolve: Resolve = resolve_host,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.served = tuple(served)
        self._folder = folder
        self._clock = clock
        self._engines = engines
        self._resolve = resolve
        self._seconds = reading.timeout_seconds
        self._tokens = {ref: resolve_secret(ref, environ) for ref in _secrets(self.served)}
        self.credentials = Credentials([*self._tokens.values(), *_keys(self.served, environ)])
        self._last: dict[tuple[str, int], dict[str, tuple[Listed, ...]]] = {}
        self._allowed = Allowed.by(reading.addresses, list(_urls(self.served)))

    @classmethod
    def of(
        cls,
        config: Config,
        served: Sequence[Served],
        *,
        clock: Clock,
        engines: Collection[str],
        resolve: Resolve = resolve_host,
        environ: Mapping[str, str] | None = None,
    ) -> NodeFinder:
        """Return what finds the nodes of these targets of a configuration."""
        return cls(
            served,
            config.nodes,
            folder=config.file.parent,
            clock=clock,
            engines=engines,
            resolve=resolve,
            environ=environ,
        )

    def credential(self, ref: SecretRef | None) -> str | None:
        """Return the value of a token of these targets."""
        return None if ref is None else self._tokens[ref]

    def transport(
        self, found: Found | None = None, *, inner: Transport | None = None
    ) -> GuardedTransport:
        """Return what connects, for one reading, to allowed addresses only."""
        names = found.names if found else {}
        return GuardedTransport(self._allowed, resolve=self._resolve, inner=inner, names=names)

    async def find(self) -> Found:
        """Return the nodes there are now, in the order of the configuration."""
        parts = await asyncio.gather(*(self._of_target(target) for target in self.served))
        given = [each for part, _ in parts for each in part]
        return Found(
            addresses=tuple(each.address for each in given),
            unread=tuple(each for _, unread in parts for each in unread),
            accepted={_key(each.address): each.accepted for each in given if each.accepted},
            names={
                origin_of(each.address.url): each.certified_name
                for each in reversed(given)
                if each.certified_name
            },
        )

    async def _of_target(self, target: Served) -> tuple[list[_Given], list[NodeSnapshot]]:
        sources = list(enumerate(target.node_sources))
        parts = await asyncio.gather(*(self._of_source(target, *each) for each in sources))
        listed = [self._listed(target, node) for node in target.nodes]
        kept, disputed = _once(listed, [each for part, _ in parts for each in part])
        unread = [
            self._unread(target, source, *gaps)
            for (_, source), (_, gaps) in zip(sources, parts, strict=True)
            if gaps
        ]
        last = target.node_sources[-1] if target.node_sources else None
        unread += [
            self._unread(target, last, Gap(fact="nodes", why=why))
            for why in _not_whole(len(kept), disputed)
        ]
        return kept[:MAX_NODES], unread

    def _listed(self, target: Served, node: Node) -> _Given:
        address = NodeAddress(
            node=node.name,
            target=target.name,
            url=node.url,
            role=_role(node),
            engine=node.engine,
            metrics_url=node.metrics_url,
            credential=self.credential(node.token),
        )
        return _Given(address=address, accepted=node.accepted)

    async def _of_source(
        self, target: Served, place: int, source: NodeSource
    ) -> tuple[list[_Given], tuple[Gap, ...]]:
        before = self._last.setdefault((target.name, place), {})
        listed, gaps = (
            await self._of_name(source.dns, source.scheme, before)
            if source.dns is not None
            else await asyncio.to_thread(self._of_files, source, before)
        )
        if not listed and not gaps:
            gaps = (Gap(fact="nodes", why="it gives no node"),)
        name = _certified_name(source)
        return [self._found(target, source, each, name) for each in listed], gaps

    def _found(self, target: Served, source: NodeSource, each: Listed, name: str | None) -> _Given:
        address = NodeAddress(
            node=each.name,
            target=target.name,
            url=each.url,
            role=each.role or _role(source),
            engine=each.engine or source.engine,
            credential=self.credential(source.token),
        )
        return _Given(address=address, accepted=source.accepted, certified_name=name)

    async def _of_name(
        self, name: str, scheme: str, before: dict[str, tuple[Listed, ...]]
    ) -> tuple[tuple[Listed, ...], tuple[Gap, ...]]:
        host, _, port = name.rpartition(":")
        try:
            async with asyncio.timeout(self._seconds):
                found = await addresses(self._resolve, host, int(port))
        except TimeoutError:
            return _as_before(before, "the name was not resolved in time")
        except OSError:
            return _as_before(before, "the host name has no address")
        listed = tuple(
            Listed(
                scheme=scheme,
                host=f"[{each}]" if each.version == 6 else str(each),  # noqa: PLR2004
                port=int(port),
            )
            for each in sorted(found.addresses, key=lambda each: (each.version, int(each)))
        )
        before[name] = listed
        if not found.left_out:
            return listed, ()
        why = f"{found.left_out} more answers for the name are not read"
        return listed, (Gap(fact="nodes", why=why),)

    def _of_files(
        self, source: NodeSource, before: dict[str, tuple[Listed, ...]]
    ) -> tuple[tuple[Listed, ...], tuple[Gap, ...]]:
        try:
            files = files_of(source.file_sd or "", self._folder)
        except BadFileError as error:
            return _as_before(before, error.why)
        for gone in before.keys() - {str(file) for file in files}:
            del before[gone]
        listed: list[Listed] = []
        gaps: list[Gap] = []
        for file in files:
            key = str(file)
            try:
                before[key] = read_file(file, scheme=source.scheme, engines=self._engines)
            except BadFileError as error:
                known = {key: before[key]} if key in before else {}
                _, each = _as_before(known, f"{shown_name(file)}: {error.why}")
                gaps += each
            listed += before.get(key, ())
        return tuple(listed), tuple(gaps)

    def _unread(self, target: Served, source: NodeSource | None, *gaps: Gap) -> NodeSnapshot:
        name = (source.dns or f"file_sd {source.file_sd}") if source else "nodes"
        return NodeSnapshot(
            node=name,
            target=target.name,
            read_at=self._clock.now(),
            role=(_role(source) if source else None) or Role.UNIFIED,
            reached=False,
            gaps=gaps,
        )


def _as_before(
    before: Mapping[str, tuple[Listed, ...]], why: str
) -> tuple[tuple[Listed, ...], tuple[Gap, ...]]:
    """Return what a source, or a part of it, gave before, and why that is not what it gives now."""
    listed = tuple(each for part in before.values() for each in part)
    kept = f"; the {len(listed)} found before are read" if listed else ""
    return listed, (Gap(fact="nodes", why=f"{why}{kept}"),)


def _role(reached: Reached) -> Role | None:
    return None if reached.role is None else Role(reached.role)


def _once(listed: Sequence[_Given], found: Sequence[_Given]) -> tuple[list[_Given], int]:
    """Return all that are listed, and of those found each host and port that is not there yet.

    One that is found again adds what the first one left out. Also returned is of how many it says
    something else; there the first one holds.
    """
    kept: dict[str, _Given] = {}
    seen = {host_and_port(each.address.url) for each in listed}
    disputed: set[str] = set()
    for each in found:
        place = host_and_port(each.address.url)
        if place in seen:
            continue
        first = kept.setdefault(place, each)
        if _differ(first.address, each.address):
            disputed.add(place)
        role = first.address.role or each.address.role
        engine = first.address.engine or each.address.engine
        kept[place] = replace(first, address=replace(first.address, role=role, engine=engine))
    return [*listed, *kept.values()], len(disputed)


def _differ(first: NodeAddress, other: NodeAddress) -> bool:
    """Tell whether two say different things of one node; what one leaves out is no difference."""
    told = ((first.role, other.role), (first.engine, other.engine))
    return first.url != other.url or any(a and b and a != b for a, b in told)


def _not_whole(count: int, disputed: int) -> Iterator[str]:
    """Yield why what sources give together is not what is read."""
    if count > MAX_NODES:
        yield f"only the first {MAX_NODES} of {count} nodes are read"
    if disputed:
        yield f"{disputed} found twice, as different things; how each was found first holds"


def _key(address: NodeAddress) -> NodeKey:
    return (address.target, address.node)


def _certified_name(source: NodeSource) -> str | None:
    """Return the name that nodes found under it show a certificate for."""
    if source.dns is None or source.scheme != "https":
        return None
    return source.dns.rpartition(":")[0]


def _secrets(served: Sequence[Served]) -> Iterator[SecretRef]:
    for target in served:
        reached: list[Reached] = [*target.nodes, *target.node_sources]
        given = [each.token for each in reached]
        given += [target.gateway.token] if target.gateway else []
        yield from (ref for ref in given if ref is not None)


def _keys(served: Sequence[Served], environ: Mapping[str, str] | None) -> Iterator[str]:
    """Yield the keys, as far as there are, that targets are asked with: a gateway knows them."""
    asked = [target for target in served if isinstance(target, Target)]
    refs = [each.credential for target in asked for each in target.tenants]
    refs += [each for target in asked for each in target.header_refs().values()]
    for ref in refs:
        if ref is not None:
            with suppress(ConfigError):
                yield resolve_secret(ref, environ)


def _urls(served: Sequence[Served]) -> Iterator[str]:
    """Yield every URL that is written in the configuration itself."""
    for target in served:
        for node in target.nodes:
            yield node.url
            if node.metrics_url is not None:
                yield node.metrics_url
        if target.gateway is not None:
            yield target.gateway.url
