"""One survey of a fleet: nodes found, read and judged, gateways asked what they serve."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from monitor.clock import Clock
from monitor.config import NodeTarget, Target
from monitor.config.nodes import NodeReading
from monitor.http import Transport
from monitor.nodes.discovery import NodeFinder
from monitor.nodes.gateway import GatewayReading, held_to, names_of, read_gateway
from monitor.nodes.judging import judge_nodes
from monitor.nodes.reading import read_nodes
from monitor.nodes.record import NodeSnapshot, NodeVerdict
from monitor.nodes.ruleset import RuleSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What all nodes and gateways said, and what the rules make of it, in the file's order."""

    verdicts: tuple[NodeVerdict, ...]
    gateways: tuple[GatewayReading, ...] = ()

    def of(self, *targets: str) -> Survey:
        """Return the part that is about these targets."""
        return Survey(
            verdicts=tuple(each for each in self.verdicts if each.snapshot.target in targets),
            gateways=tuple(each for each in self.gateways if each.target in targets),
        )


class Surveyor:
    """Surveys the nodes of some targets, again and again.

    ``asked`` are the models that targets ask, by the names that gateways give them. ``inner`` is
    what connects, beneath the guard of addresses: the seam for tests. No token is spent, and
    nothing is stored.
    """

    def __init__(
        self,
        finder: NodeFinder,
        reading: NodeReading,
        rules: RuleSet,
        *,
        asked: Collection[str],
        clock: Clock,
        inner: Transport | None = None,
    ) -> None:
        self.rules = rules
        self._finder = finder
        self._reading = reading
        self._asked = frozenset(asked)
        self._clock = clock
        self._inner = inner

    async def survey(self) -> Survey:
        """Find, read and judge every node once. What a node or gateway does wrong never raises."""
        found = await self._finder.find()
        transport = self._finder.transport(found, inner=self._inner)
        try:
            read, gateways = await asyncio.gather(
                read_nodes(
                    found.addresses,
                    clock=self._clock,
                    timeout_seconds=self._reading.timeout_seconds,
                    concurrency=self._reading.concurrency,
                    transport=transport,
                    credentials=self._finder.credentials,
                ),
                self._gateways(transport),
            )
        finally:
            if self._inner is None:
                await transport.aclose()
        snapshots = _in_order(self._finder.served, (*read, *found.unread))
        names = _names(self._finder.served, snapshots)
        gateways = tuple(held_to(each, names[each.target]) for each in gateways)
        # Off the loop: hundreds of nodes take a while, and a daemon times answers there.
        verdicts = await asyncio.to_thread(
            judge_nodes,
            snapshots,
            self.rules,
            today=self._clock.now().date(),
            advertised=_advertised(gateways, names),
            accepted=found.accepted,
        )
        return Survey(verdicts=verdicts, gateways=gateways)

    async def _gateways(self, transport: Transport) -> tuple[GatewayReading, ...]:
        return tuple(
            await asyncio.gather(
                *(
                    read_gateway(
                        target.name,
                        target.gateway,
                        asked=self._asked,
                        credential=self._finder.credential(target.gateway.token),
                        clock=self._clock,
                        timeout_seconds=self._reading.timeout_seconds,
                        transport=transport,
                        credentials=self._finder.credentials,
                    )
                    for target in self._finder.served
                    if target.gateway is not None
                )
            )
        )


def _in_order(
    served: Sequence[Target | NodeTarget], snapshots: Sequence[NodeSnapshot]
) -> tuple[NodeSnapshot, ...]:
    return tuple(
        snapshot for target in served for snapshot in snapshots if snapshot.target == target.name
    )


def _names(
    served: Sequence[Target | NodeTarget], snapshots: Sequence[NodeSnapshot]
) -> Mapping[str, frozenset[str]]:
    """Return by which names a gateway may list the model of each target."""
    models: dict[str, set[str]] = {}
    for snapshot in snapshots:
        models.setdefault(snapshot.target, set()).update(snapshot.facts.models)
    return {target.name: names_of(target, models.get(target.name, ())) for target in served}


def _advertised(
    gateways: Sequence[GatewayReading], names: Mapping[str, frozenset[str]]
) -> Mapping[str, int]:
    stated = {each.target: each.context_of(names[each.target]) for each in gateways}
    return {target: size for target, size in stated.items() if size is not None}
