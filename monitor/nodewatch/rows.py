"""A reading of a node as a row of the store: numbers, names of rules, and settings let through."""

from __future__ import annotations

import json

from monitor.clock import new_id
from monitor.nodes.record import Conformity, NodeVerdict
from monitor.store.rows import NodeSnapshotRow


def row_of(judged: NodeVerdict) -> NodeSnapshotRow:
    """Return the row of a reading with what the rules made of it; accepted rules are left out."""
    snapshot = judged.snapshot
    facts, kv = snapshot.facts, snapshot.live.kv
    capacity = facts.pool_tokens if kv.capacity_tokens is None else kv.capacity_tokens
    return NodeSnapshotRow(
        id=new_id("snapshot"),
        at=snapshot.read_at,
        node=snapshot.node,
        target=snapshot.target,
        engine=facts.engine or "",
        engine_version=facts.version or "",
        role=snapshot.role.value,
        conformity=judged.conformity.value,
        capacity_tokens=capacity,
        used_tokens=kv.used_tokens,
        enforced_tokens=facts.enforced_tokens,
        advertised_tokens=facts.advertised_tokens,
        failed_rules=_rules(judged, Conformity.FAIL),
        warned_rules=_rules(judged, Conformity.WARN),
        unknown_rules=_rules(judged, Conformity.UNKNOWN),
        settings=json.dumps(dict(facts.settings), sort_keys=True, ensure_ascii=True),
    )


def _rules(judged: NodeVerdict, conformity: Conformity) -> tuple[str, ...]:
    return tuple(
        match.rule
        for match in judged.matches
        if match.conformity is conformity and match.accepted_until is None
    )
