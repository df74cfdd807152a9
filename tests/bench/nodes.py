"""How long it takes to read 200 nodes side by side, beside reading them one after the other.

Run: ``make bench-nodes``. The nodes are the lab's, all in a process of their own; each of their
answers is late by a network's round trip. Both ways are measured in the same run. What is ours is
processor time of the process that reads: a machine that does other things as well takes longer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence

from monitor.clock import SystemClock
from monitor.nodes.reading import NodeAddress, read_nodes
from tests.integration.processes import first_line, process

NODES, AT_ONCE = 200, 32
LATE_SECONDS = 0.02
WANTED_SECONDS = 5.0


def main() -> int:
    """Measure both ways, print what came out, and return 1 if the wanted time is not kept."""
    fleet = [sys.executable, "-m", "tests.fakes.fleet", str(NODES), str(LATE_SECONDS)]
    with process(fleet) as started:
        urls = json.loads(first_line(started))
        began = time.process_time()
        together = seconds(urls, AT_ONCE)
        own = time.process_time() - began
        alone = seconds(urls, 1)
    print(f"{NODES} nodes, each answer {LATE_SECONDS * 1000:.0f} ms late")
    wanted = f"wanted: under {WANTED_SECONDS:.0f} s; ours is {own:.2f} s"
    print(f"{AT_ONCE} at a time: {together:.2f} s ({wanted})")
    print(f"one after the other: {alone:.2f} s, {alone / together:.1f} times as long")
    return int(together >= WANTED_SECONDS)


def seconds(urls: Sequence[str], concurrency: int) -> float:
    """Return how long it takes to read all; every one must have told what it is."""
    addresses = [
        NodeAddress(node=f"n{place}", target="fleet", url=url) for place, url in enumerate(urls)
    ]
    began = time.monotonic()
    snapshots = asyncio.run(
        read_nodes(addresses, clock=SystemClock(), timeout_seconds=30.0, concurrency=concurrency)
    )
    took = time.monotonic() - began
    unread = [each.node for each in snapshots if each.facts.pool_tokens is None]
    if unread:
        msg = f"{len(unread)} nodes did not tell their pool"
        raise RuntimeError(msg)
    return took


if __name__ == "__main__":
    sys.exit(main())
