"""Many nodes are read side by side, never more at a time than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from monitor.clock import SystemClock
from monitor.nodes.reading import NodeAddress, read_nodes
from monitor.nodes.record import NodeSnapshot
from tests.fakes.node_pages import vllm
from tests.fakes.node_servers import NodeServer, listening

NODES, AT_ONCE = 200, 32
# Longer than anything takes here: it only ends a test whose gate would never open.
PATIENCE_SECONDS = 120.0


class Gate:
    """Lets nodes answer only once ``at_once`` of them are asked, or all the rest, and counts."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._come: set[int] = set()
        self._held: set[int] = set()
        self._open: list[asyncio.Event] = []
        self.nodes: list[NodeServer] = []
        self.most = 0

    async def __call__(self, node: NodeServer) -> None:
        """Hold the first question to a node until enough others are held as well."""
        self.most = max(self.most, sum(each.under_way > 0 for each in self.nodes))
        if id(node) in self._come:
            return
        self._come.add(id(node))
        self._held.add(id(node))
        if len(self._held) == self._at_once or len(self._come) == len(self.nodes):
            self._held.clear()
            for event in self._open:
                event.set()
            self._open.clear()
            return
        self._open.append(event := asyncio.Event())
        await event.wait()


async def _read(nodes: Sequence[NodeServer], concurrency: int) -> tuple[NodeSnapshot, ...]:
    async with listening(nodes):
        addresses = [
            NodeAddress(node=f"n{place:03d}", target="fleet", url=node.url, engine="vllm")
            for place, node in enumerate(nodes)
        ]
        return await read_nodes(
            addresses,
            clock=SystemClock(),
            timeout_seconds=PATIENCE_SECONDS,
            concurrency=concurrency,
        )


def test_two_hundred_nodes_are_read_as_many_at_a_time_as_allowed_and_no_more() -> None:
    gate = Gate(AT_ONCE)
    gate.nodes = [NodeServer(vllm(context=1000 + n), gate=gate) for n in range(NODES)]
    snapshots = asyncio.run(_read(gate.nodes, AT_ONCE))
    assert gate.most == AT_ONCE
    assert [each.node for each in snapshots] == [f"n{place:03d}" for place in range(NODES)]
    said = [each.facts.advertised_tokens for each in snapshots]
    assert said == [1000 + place for place in range(NODES)]


def test_one_at_a_time_is_one_at_a_time() -> None:
    gate = Gate(1)
    gate.nodes = [NodeServer(vllm(), gate=gate) for _ in range(5)]
    assert all(each.reached for each in asyncio.run(_read(gate.nodes, 1)))
    assert gate.most == 1
