"""Readings of nodes as tests want them: one node, some counts, and time that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from monitor.nodes.live import LiveSignal
from monitor.nodes.record import KvUse, Live, NodeCounter, NodeFacts, NodeSnapshot, Role
from tests.builders import NOW

STEP = timedelta(seconds=30)


def a_reading(node: str = "n", **given: Any) -> NodeSnapshot:
    """Return a reading of a node that answers and says nothing but what is given."""
    told = {"target": "glm", "read_at": NOW, "role": Role.UNIFIED, "reached": True}
    return NodeSnapshot(node=node, **(told | given))


def counted(
    node: str = "n",
    counts: Mapping[NodeCounter, float] | None = None,
    *,
    at: datetime = NOW,
    role: Role = Role.UNIFIED,
    started: float | None = None,
    kv: KvUse | None = None,
    **live: Any,
) -> NodeSnapshot:
    """Return a reading that tells these counts."""
    told = Live(counters=counts or {}, started_seconds=started, kv=kv or KvUse(), **live)
    return a_reading(node, read_at=at, role=role, live=told)


def silent(reading: NodeSnapshot) -> NodeSnapshot:
    """Return a reading of the same node that got no answer: its role is then not known."""
    return replace(reading, reached=False, role=Role.UNIFIED, facts=NodeFacts(), live=Live())


def of_kind(signals: Any, kind: str) -> LiveSignal | None:
    """Return the one signal of a kind, if there is any."""
    found = [each for each in signals if each.kind == kind]
    assert len(found) <= 1
    return found[0] if found else None
