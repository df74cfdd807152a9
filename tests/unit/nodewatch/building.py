"""Nodes as they were read and judged, for what is made of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Any

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.gateway import GatewayModel, GatewayReading
from monitor.nodes.live import LiveSignal
from monitor.nodes.record import (
    Conformity,
    KvUse,
    Live,
    NodeCounter,
    NodeFacts,
    NodeSnapshot,
    NodeVerdict,
    Role,
    RuleMatch,
)
from monitor.nodes.ruleset import RuleSet
from monitor.nodes.survey import Survey
from monitor.nodewatch import NodesNow
from tests.builders import NOW
from tests.unit.nodes.readings import a_reading, silent

UNSAFE = RuleMatch(
    rule="sglang-pd-over-length",
    conformity=Conformity.FAIL,
    why="what is longer is not safely refused",
    link="https://github.com/sgl-project/sglang/issues/30233",
    public_since=date(2026, 7, 6),
    shape="boundary",
)
POOL_BOUND = RuleMatch(
    rule="sglang-pool-bound", conformity=Conformity.WARN, why="its pool admits less"
)
UNTOLD = RuleMatch(rule="sglang-below-floor", conformity=Conformity.UNKNOWN, why="no version")
RULES = RuleSet(rules=(), strict=False, dated=date(2026, 11, 1), sha256="ab" * 32)


def a_node(node: str = "prefill-0", **given: Any) -> NodeSnapshot:
    """Return a reading of a prefill node that says everything a node can say."""
    facts = NodeFacts(
        engine="sglang",
        version="0.5.19",
        role=Role.PREFILL,
        models=("glm-5.3",),
        advertised_tokens=1_048_576,
        enforced_tokens=681_274,
        pool_tokens=681_280,
        pool_bound=True,
        settings={"disaggregation_mode": "prefill", "tp_size": 8},
    )
    live = Live(
        kv=KvUse(
            capacity_tokens=681_280,
            used_tokens=340_640,
            free_tokens=300_000,
            evictable_tokens=40_640,
            usage_ratio=0.5,
            running=3,
            queued=1,
        ),
        counters={NodeCounter.PROMPT_TOKENS: 12_000.0, NodeCounter.REQUESTS: 7.0},
        accept_length=2.8,
        accept_ratio=0.7,
    )
    told = {"role": Role.PREFILL, "facts": facts, "live": live}
    return a_reading(node, **(told | given))


def judged(
    *matches: RuleMatch, conformity: Conformity = Conformity.PASS, **given: Any
) -> NodeVerdict:
    """Return a verdict of a node."""
    return NodeVerdict(snapshot=a_node(**given), conformity=conformity, matches=matches)


def failing(**given: Any) -> NodeVerdict:
    """Return the verdict of a node that a rule fails."""
    return judged(UNSAFE, conformity=Conformity.FAIL, **given)


def gone(verdict: NodeVerdict) -> NodeVerdict:
    """Return the verdict of the same node where it did not answer."""
    match = RuleMatch(
        rule="node-not-reached", conformity=Conformity.UNKNOWN, why="the node was not reached"
    )
    snapshot = silent(verdict.snapshot)
    return NodeVerdict(snapshot=snapshot, conformity=Conformity.UNKNOWN, matches=(match,))


def at(verdict: NodeVerdict, instant: datetime) -> NodeVerdict:
    """Return the same verdict of a reading at this instant."""
    return replace(verdict, snapshot=replace(verdict.snapshot, read_at=instant))


def everything() -> NodesNow:
    """Return nodes of which each metric has something to show."""
    verdicts = (failing(), judged(node="decode-0"), gone(judged(node="decode-1")))
    model = GatewayModel(name="nobody-asks", context_tokens=4096)
    signal = LiveSignal(
        target="glm",
        node="prefill-0",
        kind=LiveKind.POOL_OVERFULL,
        state=LiveState.PASS,
        why="",
    )
    return NodesNow(
        survey=Survey(
            verdicts=verdicts,
            gateways=(
                GatewayReading(
                    target="glm", engine="litellm", models=(model,), unprobed=(model.name,)
                ),
            ),
        ),
        read_at=NOW,
        signals=(signal,),
        pressures={"glm": 0.5},
        answered_at={("glm", "prefill-0"): NOW},
    )
