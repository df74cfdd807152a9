"""Faults that the nodes' own ports show: what a reader of their figures meets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from monitor.lab.draws import Between, Spread, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import NODES, Install, Mechanism, Trigger, Value
from monitor.lab.node_steps import Manner, Reading
from monitor.lab.pages import PagePool
from monitor.lab.settings import NodeRole
from monitor.lab.steps import Steps
from monitor.lab.trigger import Asker

_ALL = "all"
_WHICH = (_ALL, NodeRole.PREFILL.value, NodeRole.DECODE.value)
_GARBAGE_BYTES = 700


def _lose_pages(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def release(pool: PagePool, pages: list[int], job: Job) -> None:
        lost = int(params["pages"]) if pages and trigger.strikes(job) else 0
        steps.release(pool, pages[lost:], job)

    return replace(steps, release=release)


def _free_twice(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def release(pool: PagePool, pages: list[int], job: Job) -> None:
        steps.release(pool, pages, job)
        if pages and trigger.strikes(job):
            pool.free_again(pages[: int(params["pages"])])

    return replace(steps, release=release)


def _answering(manner: Callable[[Reading, Trigger, Mapping[str, Value]], Manner]) -> Install:
    def install(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
        def answer(reading: Reading) -> Manner:
            if params["node"] in {_ALL, reading.role} and trigger.strikes(reading):
                return manner(reading, trigger, params)
            return steps.node.answer(reading)

        return replace(steps, node=replace(steps.node, answer=answer))

    return install


def _never(reading: Reading, trigger: Trigger, params: Mapping[str, Value]) -> Manner:
    return Manner(hangs=True)


def _garbage(reading: Reading, trigger: Trigger, params: Mapping[str, Value]) -> Manner:
    if params["kind"] == "page":
        return Manner(body=b"<html><body><h1>Welcome</h1>It works.</body></html>")
    if params["kind"] == "cut":
        return Manner(body=b'{"version": "0.5.23", "internal_states": [{"memory_us')
    return Manner(body=trigger.rng(-reading.number).randbytes(_GARBAGE_BYTES))


def _restart(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    which = NodeRole if params["node"] == _ALL else (NodeRole(str(params["node"])),)

    def restarts(asker: Asker) -> Collection[NodeRole]:
        earlier = steps.node.restarts(asker)
        return {*earlier, *which} if trigger.strikes(asker) else earlier

    return replace(steps, node=replace(steps.node, restarts=restarts))


PAGES_LOST = Mechanism(
    name="pages_lost",
    sentence=(
        "Some pages of a request that is done reach neither the free list nor the prefix cache: "
        "nobody has them, and the pool shrinks."
    ),
    install=_lose_pages,
    shown_by=NODES,
    params={"rate": 0.5, "pages": 1},
    ranges={"rate": Spread(0.1, 1.0), "pages": Between(1, 4)},
)
PAGE_FREED_TWICE = Mechanism(
    name="page_freed_twice",
    sentence=(
        "A page of a request that is done is put on the free list twice: the pool counts more "
        "room than it has, and two requests may get the same page."
    ),
    install=_free_twice,
    shown_by=NODES,
    params={"rate": 0.5, "pages": 1},
    ranges={"rate": Spread(0.1, 1.0), "pages": Between(1, 4)},
)
NODE_HANGS = Mechanism(
    name="node_hangs",
    sentence="A node takes questions on its own port and never answers; requests are served.",
    install=_answering(_never),
    shown_by=NODES,
    params={"node": _ALL},
    choices={"node": _WHICH},
)
NODE_GARBAGE = Mechanism(
    name="node_garbage",
    sentence=(
        "A node answers 200 on its own port with what is neither JSON nor metrics; requests are "
        "served."
    ),
    install=_answering(_garbage),
    shown_by=NODES,
    params={"node": _ALL, "kind": "bytes"},
    choices={"node": _WHICH, "kind": ("bytes", "cut", "page")},
    ranges={"kind": one_of("bytes", "cut", "page")},
)
NODE_RESTARTS = Mechanism(
    name="node_restarts",
    sentence=(
        "A node begins anew before some requests: its pool and cache are empty, its counters "
        "start from nothing, and the requests under way fail."
    ),
    install=_restart,
    shown_by=NODES,
    params={"rate": 0.05, "node": _ALL},
    choices={"node": _WHICH},
    ranges={"rate": Spread(0.02, 0.2)},
)
NODE_FAULTS = (PAGES_LOST, PAGE_FREED_TWICE, NODE_HANGS, NODE_GARBAGE, NODE_RESTARTS)
