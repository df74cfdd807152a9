"""The result of ``davylamp nodes``: a documented contract (docs/nodes-json.md).

It holds names, codes, numbers and our own words: of what a node or gateway says only names and
settings that readers let through. No credential, and no text of a prompt or an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Final

from monitor import __version__
from monitor.nodes.gateway import GatewayReading
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import Conformity, NodeVerdict, RuleMatch, Setting
from monitor.nodes.ruleset import RuleSet
from monitor.nodes.survey import Survey
from monitor.reports.check import Record
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT

NODES_SCHEMA_VERSION: Final = "1.0"
WORST_FIRST = (Conformity.FAIL, Conformity.UNKNOWN, Conformity.WARN, Conformity.PASS)


class NodeGapReport(Record):
    """A fact that should have been read and was not."""

    fact: str
    why: str


class NodeRuleReport(Record):
    """One rule that speaks of a node, the worst first.

    ``public_days`` is for how many days the fault has been public. An accepted rule counts for
    nothing until ``accepted_until`` is past.
    """

    rule: str
    conformity: Conformity
    why: str
    link: str
    public_since: date | None
    public_days: int | None
    shape: str | None
    accepted_until: date | None


class KvPoolReport(Record):
    """The KV pool as it was used: tokens over all data-parallel ranks, the ratio of the fullest."""

    capacity_tokens: int | None
    used_tokens: int | None
    free_tokens: int | None
    evictable_tokens: int | None
    usage_ratio: float | None
    running: int | None
    queued: int | None


class NodeReport(Record):
    """One node: what it says of itself, and what the rules make of it."""

    target: str
    node: str
    read_at: datetime
    reached: bool
    engine: str | None
    version: str | None
    role: str
    models: list[str]
    advertised_tokens: int | None
    enforced_tokens: int | None
    pool_tokens: int | None
    pool_bound: bool | None
    kv: KvPoolReport
    settings: dict[str, Setting]
    conformity: Conformity
    reason: str
    public_since: date | None
    public_days: int | None
    rules: list[NodeRuleReport]
    gaps: list[NodeGapReport]


class GatewayModelReport(Record):
    """One model that a gateway serves, and the context it states for it."""

    model: str
    context_tokens: int | None


class GatewayReport(Record):
    """What the gateway of a target serves; ``unprobed`` are models that no target asks."""

    target: str
    engine: str
    models: list[GatewayModelReport]
    unprobed: list[str]
    gaps: list[NodeGapReport]


class NodeSignalReport(Record):
    """What only successive readings show; a daemon alone knows it."""

    target: str
    node: str
    kind: str
    state: str
    why: str
    value: float | None


class NodesReport(Record):
    """All nodes as they were read, the worst first.

    ``read_by`` is ``command``, or ``daemon`` for what a daemon read last.
    """

    schema_version: str = NODES_SCHEMA_VERSION
    davylamp_version: str
    configuration_hash: str
    environment: str
    read_by: str
    read_at: datetime
    strict: bool
    rules: int
    rules_dated: date
    rules_sha256: str
    exit_code: int
    nodes: list[NodeReport]
    gateways: list[GatewayReport]
    signals: list[NodeSignalReport]


def nodes_report(
    survey: Survey,
    rules: RuleSet,
    *,
    read_at: datetime,
    read_by: str = "command",
    configuration_hash: str = "",
    environment: str = "",
    signals: Sequence[LiveSignal] = (),
) -> NodesReport:
    """Return the report of a survey; ``exit_code`` is 1 for a fail, else 3 for what is unknown."""
    nodes = node_reports(survey, read_at.date())
    gateways = [_gateway(each) for each in survey.gateways]
    told = [_signal(each) for each in signals]
    return NodesReport(
        davylamp_version=__version__,
        configuration_hash=configuration_hash,
        environment=environment,
        read_by=read_by,
        read_at=read_at,
        strict=rules.strict,
        rules=len(rules.rules),
        rules_dated=rules.dated,
        rules_sha256=rules.sha256,
        exit_code=exit_of(nodes, gateways, told),
        nodes=nodes,
        gateways=gateways,
        signals=told,
    )


def node_reports(survey: Survey, today: date) -> list[NodeReport]:
    """Return what is known of each node, the worst first."""
    return sorted(
        (_node(each, today) for each in survey.verdicts),
        key=lambda node: WORST_FIRST.index(node.conformity),
    )


def exit_of(
    nodes: Iterable[NodeReport],
    gateways: Iterable[GatewayReport],
    signals: Iterable[NodeSignalReport],
) -> int:
    """Return 1 if a node or a signal fails, else 3 if a node or gateway could not be told, else 0.

    A warning is shown, and exits 0. A signal that has not seen enough yet is no news of a node.
    """
    states = {node.conformity for node in nodes}
    if Conformity.FAIL in states or any(signal.state == "fail" for signal in signals):
        return BAD_EXIT
    if Conformity.UNKNOWN in states or any(gateway.gaps for gateway in gateways):
        return UNSURE_EXIT
    return GOOD_EXIT


def selected_nodes(report: NodesReport, targets: Sequence[str]) -> NodesReport:
    """Return the part of a report that is about these targets, with its own exit code."""
    nodes = [each for each in report.nodes if each.target in targets]
    gateways = [each for each in report.gateways if each.target in targets]
    signals = [each for each in report.signals if each.target in targets]
    return report.model_copy(
        update={
            "nodes": nodes,
            "gateways": gateways,
            "signals": signals,
            "exit_code": exit_of(nodes, gateways, signals),
        }
    )


def _node(verdict: NodeVerdict, today: date) -> NodeReport:
    snapshot = verdict.snapshot
    facts, kv = snapshot.facts, snapshot.live.kv
    rules = sorted(verdict.matches, key=_gravity)
    return NodeReport(
        target=snapshot.target,
        node=snapshot.node,
        read_at=snapshot.read_at,
        reached=snapshot.reached,
        engine=facts.engine,
        version=facts.version,
        role=snapshot.role.value,
        models=list(facts.models),
        advertised_tokens=facts.advertised_tokens,
        enforced_tokens=facts.enforced_tokens,
        pool_tokens=facts.pool_tokens,
        pool_bound=facts.pool_bound,
        kv=KvPoolReport(
            capacity_tokens=kv.capacity_tokens,
            used_tokens=kv.used_tokens,
            free_tokens=kv.free_tokens,
            evictable_tokens=kv.evictable_tokens,
            usage_ratio=kv.usage_ratio,
            running=kv.running,
            queued=kv.queued,
        ),
        settings=dict(facts.settings),
        conformity=verdict.conformity,
        reason=_reason(verdict, rules),
        public_since=verdict.public_since,
        public_days=_days(verdict.public_since, today),
        rules=[_rule(each, today) for each in rules],
        gaps=[NodeGapReport(fact=gap.fact, why=gap.why) for gap in snapshot.gaps],
    )


def _gravity(match: RuleMatch) -> tuple[bool, int]:
    """Sort the worst first, accepted ones last, and else as the rules stand in their files."""
    return (match.accepted_until is not None, WORST_FIRST.index(match.conformity))


def _reason(verdict: NodeVerdict, rules: Sequence[RuleMatch]) -> str:
    """Say in one sentence what decided: the worst that counts."""
    counted = [each for each in rules if each.accepted_until is None]
    if not verdict.snapshot.reached and verdict.snapshot.gaps:
        return verdict.snapshot.gaps[0].why
    if counted:
        decided = (each for each in counted if each.conformity is verdict.conformity)
        return next(decided, counted[0]).why
    return "only accepted rules speak of it" if rules else "no rule speaks of it"


def _rule(match: RuleMatch, today: date) -> NodeRuleReport:
    return NodeRuleReport(
        rule=match.rule,
        conformity=match.conformity,
        why=match.why,
        link=match.link,
        public_since=match.public_since,
        public_days=_days(match.public_since, today),
        shape=match.shape,
        accepted_until=match.accepted_until,
    )


def _days(since: date | None, today: date) -> int | None:
    return None if since is None else max((today - since).days, 0)


def _gateway(reading: GatewayReading) -> GatewayReport:
    return GatewayReport(
        target=reading.target,
        engine=reading.engine,
        models=[
            GatewayModelReport(model=each.name, context_tokens=each.context_tokens)
            for each in reading.models
        ],
        unprobed=list(reading.unprobed),
        gaps=[NodeGapReport(fact=gap.fact, why=gap.why) for gap in reading.gaps],
    )


def _signal(signal: LiveSignal) -> NodeSignalReport:
    return NodeSignalReport(
        target=signal.target,
        node=signal.node,
        kind=signal.kind.value,
        state=signal.state.value,
        why=signal.why,
        value=signal.value,
    )
