"""Nodes in the report of ``davylamp check``: what the rules say of them beside the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from monitor.findings import Finding
from monitor.model import Outcome, VerdictClass
from monitor.nodes.outcomes import CAME_TO
from monitor.nodes.record import Conformity
from monitor.nodes.survey import Survey
from monitor.nodewatch.verdicts import SHAPE as NODE_SHAPE
from monitor.reports.check import (
    CheckedGatewayReport,
    CheckedNodeReport,
    CheckedRuleReport,
    TargetReport,
)
from monitor.reports.nodes import NodeReport, node_reports
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT, VERDICT_WORDS, overall_exit

_EXITS = {Outcome.GOOD.value: GOOD_EXIT, Outcome.BAD.value: BAD_EXIT}
_SHOWN_NODES = 4
_SHOWN_MODELS = 5
_SHOWN_RULES = 8
_SHOWN_FINDINGS = 8
UNSAFE, SUSPECT = VerdictClass.UNSAFE_NODE.label, VerdictClass.SUSPECT.label
INVALID, ACCEPTED = "INVALID", "ACCEPTED"
# In the order in which they are shown.
_RULE_LABELS = {
    Conformity.FAIL.value: UNSAFE,
    Conformity.UNKNOWN.value: INVALID,
    Conformity.WARN.value: SUSPECT,
}
_LABELS = (*_RULE_LABELS.values(), ACCEPTED)


def checked_nodes(
    survey: Survey, today: date, findings: Sequence[Finding] = ()
) -> list[CheckedNodeReport]:
    """Return what the rules make of each node, the worst first; ``findings`` are the open ones."""
    opened = {(each.target, each.stratum): each.id for each in findings if each.shape == NODE_SHAPE}
    return [
        _checked(node, opened.get((node.target, node.node))) for node in node_reports(survey, today)
    ]


def checked_gateways(survey: Survey) -> list[CheckedGatewayReport]:
    """Return what gateways serve and nobody asks."""
    return [
        CheckedGatewayReport(
            target=each.target,
            unprobed=list(each.unprobed),
            unread=[gap.why for gap in each.gaps],
        )
        for each in survey.gateways
    ]


def nodes_exit(nodes: Sequence[CheckedNodeReport], gateways: Sequence[CheckedGatewayReport]) -> int:
    """Return 1 if a node is bad, else 3 if a node or gateway could not be told, else 0."""
    codes = [_EXITS.get(node.outcome, UNSURE_EXIT) for node in nodes]
    return overall_exit([*codes, *(UNSURE_EXIT for each in gateways if each.unread)])


def with_nodes(
    report: TargetReport,
    nodes: Sequence[CheckedNodeReport],
    gateways: Sequence[CheckedGatewayReport],
) -> TargetReport:
    """Return a target's report that is as bad as its nodes are."""
    own = [node for node in nodes if node.target == report.target]
    fronts = [each for each in gateways if each.target == report.target]
    code = overall_exit([report.exit_code, nodes_exit(own, fronts)])
    return report.model_copy(update={"exit_code": code, "verdict": VERDICT_WORDS[code]})


def named_shapes(survey: Survey) -> Mapping[str, str]:
    """Return the shapes that rules name which hold of a node, each with such a rule."""
    return {
        match.shape: match.rule
        for verdict in survey.verdicts
        for match in verdict.matches
        if match.shape and match.accepted_until is None and match.conformity in _HOLDS
    }


_HOLDS = frozenset({Conformity.FAIL, Conformity.WARN})


def node_lines(
    nodes: Sequence[CheckedNodeReport], gateways: Sequence[CheckedGatewayReport]
) -> Iterator[tuple[str, str]]:
    """Yield label and text of what is to be shown of one target's nodes."""
    groups: dict[tuple[str, str], list[CheckedNodeReport]] = {}
    for node in nodes:
        for said in _said_of(node):
            groups.setdefault(said, []).append(node)
    for label in _LABELS:
        told = [(text, alike) for (said, text), alike in groups.items() if said == label]
        for text, alike in told[:_SHOWN_RULES]:
            yield label, text
            yield "", f"on {_names(alike)}"
        if len(told) > _SHOWN_RULES:
            yield "", f"… and {len(told) - _SHOWN_RULES} more (all are in --json)"
    good = sum(not _label(node) for node in nodes)
    if good:
        yield "NODES", f"{good} of {len(nodes)} pass every rule"
    yield from _gateway_lines(gateways)


def _gateway_lines(gateways: Sequence[CheckedGatewayReport]) -> Iterator[tuple[str, str]]:
    for gateway in gateways:
        for why in gateway.unread:
            yield "UNKNOWN", f"what the gateway serves or promises: {why}"
        for model in gateway.unprobed[:_SHOWN_MODELS]:
            yield "UNPROBED", f"the gateway serves {model}, and no target asks it"
        if len(gateway.unprobed) > _SHOWN_MODELS:
            yield "", f"… and {len(gateway.unprobed) - _SHOWN_MODELS} more (all are in --json)"


def finding_lines(nodes: Sequence[CheckedNodeReport]) -> Iterator[tuple[str, str]]:
    """Yield label and text of each finding that is open on one target's nodes."""
    opened = [node for node in nodes if node.finding]
    for node in opened[:_SHOWN_FINDINGS]:
        mended = ""
        if node.outcome == Outcome.GOOD.value:
            mended = f"; no rule fails it now: davylamp findings resolve {node.finding}"
        yield "OPEN", f"finding {node.finding}: {UNSAFE} in node {node.node}{mended}"
    if len(opened) > _SHOWN_FINDINGS:
        yield "", f"… and {len(opened) - _SHOWN_FINDINGS} more (davylamp findings list)"


def _label(node: CheckedNodeReport) -> str:
    if node.outcome == Outcome.INVALID.value:
        return INVALID
    return "" if node.verdict_class == VerdictClass.NONE.label else node.verdict_class


def _said_of(node: CheckedNodeReport) -> Iterator[tuple[str, str]]:
    """Yield label and text of why a node is not read, else of each rule that speaks of it."""
    if node.outcome == Outcome.INVALID.value and node.rule is None:
        yield INVALID, node.reason
        return
    for rule in node.rules:
        label = _RULE_LABELS[rule.conformity]
        known = rule.rule
        if rule.public_since is not None:
            known += f", public since {rule.public_since.isoformat()}, {rule.public_days} days"
        if rule.accepted_until is not None:
            label, known = ACCEPTED, f"{known}, until {rule.accepted_until.isoformat()}"
        yield label, f"{rule.why} ({known})"


def _names(nodes: Sequence[CheckedNodeReport]) -> str:
    more = len(nodes) - _SHOWN_NODES
    shown = ", ".join(each.node for each in nodes[:_SHOWN_NODES])
    return f"{shown}{f' and {more} more' if more > 0 else ''}"


def _checked(node: NodeReport, finding: str | None) -> CheckedNodeReport:
    outcome, verdict_class = CAME_TO[node.conformity]
    decided = next(
        (
            rule
            for rule in node.rules
            if rule.accepted_until is None and rule.conformity is node.conformity
        ),
        None,
    )
    return CheckedNodeReport(
        target=node.target,
        node=node.node,
        engine=node.engine,
        version=node.version,
        role=node.role,
        outcome=outcome.value,
        verdict_class=verdict_class.label,
        reason=node.reason,
        rule=decided.rule if decided and node.reached else None,
        shape=decided.shape if decided else None,
        public_since=decided.public_since if decided else None,
        public_days=decided.public_days if decided else None,
        rules=[
            CheckedRuleReport(
                rule=each.rule,
                conformity=each.conformity.value,
                why=each.why,
                public_since=each.public_since,
                public_days=each.public_days,
                accepted_until=each.accepted_until,
            )
            for each in node.rules
        ],
        finding=finding,
    )
