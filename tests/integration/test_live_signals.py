"""Live signals over the lab's own nodes: the incident's sign, and none on a healthy twin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import httpx

from monitor.clock import SystemClock
from monitor.nodes.live import LiveSignal, NodeWindows
from monitor.nodes.reading import NodeAddress, read_nodes
from tests.integration.node_labs import NodeLab, node_labs

SECONDS = 60.0
DIVERGE = "prompt_tokens_diverge"
# Half of the context, which every prefill pool holds, and more than the unsafe one holds.
SIZES = (*(0.5,) * 12, *(0.93,) * 4)


async def signals_of(lab: NodeLab) -> tuple[Sequence[int], dict[tuple[str, str], LiveSignal]]:
    """Read a lab's nodes, ask it prompts of these sizes, and read again until they count them."""
    windows = NodeWindows(interval_seconds=1.0)
    addresses = [
        NodeAddress(node=node["name"], target="lab", url=node["url"]) for node in lab.nodes
    ]

    async def read() -> tuple[LiveSignal, ...]:
        return windows.take(await read_nodes(addresses, clock=SystemClock()))

    for _ in range(5):
        await read()
    statuses = [await ask(lab, share) for share in SIZES]
    said = await read()
    deadline = time.monotonic() + SECONDS
    while any(each.kind == DIVERGE and each.state == "unknown" for each in said):
        assert time.monotonic() < deadline, "the nodes never counted what they were asked"
        said = await read()
    return statuses, {(each.kind.value, each.node): each for each in said}


async def ask(lab: NodeLab, share: float) -> int:
    """Ask the lab a prompt of this share of its context; return the status."""
    words = int((lab.endpoint.context_tokens or 0) * share)
    body = {
        "model": lab.endpoint.model,
        "max_tokens": 8,
        "messages": [{"role": "user", "content": "word " * words}],
    }
    [key, *_] = lab.endpoint.keys.values()
    async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
        reply = await client.post(
            f"{lab.endpoint.url}/chat/completions",
            headers={"authorization": f"Bearer {key}"},
            json=body,
        )
    return reply.status_code


def test_prompts_that_prefill_never_read_show_in_what_nodes_count() -> None:
    arguments = {
        "unsafe": ["--mode", "pd", "--fault", "overlength_placeholder"],
        "safe": ["--mode", "pd"],
    }
    with node_labs(arguments) as labs:
        statuses, unsafe = asyncio.run(signals_of(labs["unsafe"]))
        assert set(statuses) == {200}
        diverging = unsafe[DIVERGE, ""]
        assert diverging.state == "fail", diverging.why
        assert unsafe["pool_overfull", "decode"].state == "pass"
        statuses, safe = asyncio.run(signals_of(labs["safe"]))
        assert set(statuses) == {200}  # not one differs
        alike = safe[DIVERGE, ""]
        assert alike.state == "pass", alike.why
        assert {each.state.value for each in safe.values()} <= {"pass", "unknown"}
