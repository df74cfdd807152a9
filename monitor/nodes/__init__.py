"""Serving nodes: what they say of themselves, and the rules they are held to. No tokens spent."""

from monitor.nodes.record import (
    Conformity,
    Gap,
    KvUse,
    Live,
    NodeCounter,
    NodeFacts,
    NodeSnapshot,
    NodeVerdict,
    Role,
    RuleMatch,
    Setting,
)

__all__ = [
    "Conformity",
    "Gap",
    "KvUse",
    "Live",
    "NodeCounter",
    "NodeFacts",
    "NodeSnapshot",
    "NodeVerdict",
    "Role",
    "RuleMatch",
    "Setting",
]
