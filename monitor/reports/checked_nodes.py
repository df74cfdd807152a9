"""Nodes in the report of ``davylamp check``: what the rules say of them beside the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from monitor.model import Outcome, VerdictClass
from monitor.nodes.outcomes import CAME_TO
from monitor.nodes.record import Conformity
from monitor.nodes.survey import Survey
from monitor.reports.check import CheckedGatewayReport, CheckedNodeReport, TargetReport
from monitor.reports.nodes import NodeReport, node_reports
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT, VERDICT_WORDS, overall_exit

_EXITS = {Outcome.GOOD.value: GOOD_EXIT, Outcome.BAD.value: BAD_EXIT}
_SHOWN_NODES = 4
_SHOWN_MODELS = 5


def checked_nodes(survey: Survey, today: date) -> list[CheckedNodeReport]:
    """Return what the rules make of each node, the worst first."""
    return [_checked(node) for node in node_reports(survey, today)]


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
        groups.setdefault((_label(node), node.reason), []).append(node)
    for (label, reason), alike in groups.items():
        if label:
            yield label, f"{reason}{_known(alike[0])}"
            shown = ", ".join(each.node for each in alike[:_SHOWN_NODES])
            more = len(alike) - _SHOWN_NODES
            yield "", f"on {shown}{f' and {more} more' if more > 0 else ''}"
    good = sum(not _label(node) for node in nodes)
    if good:
        yield "NODES", f"{good} of {len(nodes)} pass every rule"
    for gateway in gateways:
        yield from (("UNKNOWN", f"what the gateway serves: {why}") for why in gateway.unread)
        for model in gateway.unprobed[:_SHOWN_MODELS]:
            yield "UNPROBED", f"the gateway serves {model}, and no target asks it"
        if len(gateway.unprobed) > _SHOWN_MODELS:
            yield "", f"… and {len(gateway.unprobed) - _SHOWN_MODELS} more (all are in --json)"


def _label(node: CheckedNodeReport) -> str:
    if node.outcome == Outcome.INVALID.value:
        return "INVALID"
    return "" if node.verdict_class == VerdictClass.NONE.label else node.verdict_class


def _known(node: CheckedNodeReport) -> str:
    rule = f" ({node.rule}" if node.rule else ""
    if rule and node.public_since is not None:
        rule += f", public since {node.public_since.isoformat()}, {node.public_days} days"
    return f"{rule})" if rule else ""


def _checked(node: NodeReport) -> CheckedNodeReport:
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
    )
