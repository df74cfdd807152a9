"""Nodes, gateways and rules for reports, made by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from monitor.nodes.gateway import GatewayModel, GatewayReading
from monitor.nodes.record import (
    Conformity,
    Gap,
    KvUse,
    Live,
    NodeFacts,
    NodeSnapshot,
    NodeVerdict,
    Role,
    RuleMatch,
)
from monitor.nodes.ruleset import RuleSet
from monitor.nodes.survey import Survey
from monitor.reports.nodes import NodesReport, nodes_report

READ_AT = datetime(2026, 8, 27, 12, 0, tzinfo=UTC)
RULES = RuleSet(rules=(), strict=False, dated=date(2026, 8, 1), sha256="0" * 64)
LINK = "https://example.com/1"


def match(conformity: Conformity, rule: str = "some-rule", **more: Any) -> RuleMatch:
    """Return what a rule says."""
    given = {"why": f"{rule} speaks", "link": LINK, "public_since": date(2026, 7, 6)}
    return RuleMatch(rule=rule, conformity=conformity, **{**given, **more})


def verdict(
    conformity: Conformity, *matches: RuleMatch, node: str = "a:1", target: str = "glm", **more: Any
) -> NodeVerdict:
    """Return the verdict on a node that was reached."""
    facts = NodeFacts(
        engine="sglang",
        version="0.5.18",
        role=Role.PREFILL,
        models=("glm-5.3",),
        advertised_tokens=1_048_576,
        enforced_tokens=681_274,
        pool_tokens=681_280,
        pool_bound=True,
        settings={"page_size": 64},
    )
    given: dict[str, Any] = {
        "role": Role.PREFILL,
        "reached": True,
        "facts": facts,
        "live": Live(kv=KvUse(used_tokens=100, usage_ratio=0.125)),
    }
    snapshot = NodeSnapshot(node=node, target=target, read_at=READ_AT, **{**given, **more})
    return NodeVerdict(snapshot=snapshot, conformity=conformity, matches=matches)


def unreached(node: str = "b:1", why: str = "the connection was refused") -> NodeVerdict:
    """Return the verdict on a node that was not reached."""
    spoken = RuleMatch(
        rule="node-not-reached", conformity=Conformity.UNKNOWN, why="the node was not reached"
    )
    return verdict(
        Conformity.UNKNOWN,
        spoken,
        node=node,
        role=Role.UNIFIED,
        reached=False,
        facts=NodeFacts(),
        live=Live(),
        gaps=(Gap(fact="node", why=why),),
    )


def gateway(*unprobed: str, gaps: tuple[Gap, ...] = ()) -> GatewayReading:
    """Return what the gateway of the target said."""
    models = tuple(GatewayModel(name=name, context_tokens=4_096) for name in unprobed)
    return GatewayReading(
        target="glm", engine="litellm", models=models, unprobed=unprobed, gaps=gaps
    )


def report(*verdicts: NodeVerdict, gateways: tuple[GatewayReading, ...] = ()) -> NodesReport:
    """Return the report on these."""
    return nodes_report(Survey(verdicts=verdicts, gateways=gateways), RULES, read_at=READ_AT)
