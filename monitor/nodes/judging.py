"""What the rules make of nodes: pure, each node beside the others of its target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from monitor.config.acceptance import AcceptedRule
from monitor.nodes.owed import excused_of, untold_of
from monitor.nodes.peers import Peers
from monitor.nodes.predicate import Evaluation, evaluate, peer_subjects
from monitor.nodes.record import Conformity, NodeSnapshot, NodeVerdict, RuleMatch
from monitor.nodes.ruleset import ANY_ENGINE, Rule, RuleSet
from monitor.nodes.view import NodeView, Subject, view_of
from monitor.nodes.why import sentence, untold

NOT_REACHED = "node-not-reached"
ENGINE_UNTOLD = "engine-untold"
NO_RULES = "engine-without-rules"
FACTS_UNTOLD = "facts-untold"
NO_JUDGEMENT = frozenset({NOT_REACHED, ENGINE_UNTOLD, NO_RULES, FACTS_UNTOLD})
"""Names that stand for a rule where none could be asked to the end. Nobody can accept them."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A match, and how bad it is at the worst: what an untold one may turn out to be."""

    match: RuleMatch
    severity: Conformity


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all nodes of a judgement share."""

    rules: RuleSet
    today: date
    advertised: Mapping[str, int]
    accepted: Mapping[tuple[str, str], Sequence[AcceptedRule]]
    peer_subjects: Mapping[str, frozenset[Subject]]


def judge_nodes(
    snapshots: Sequence[NodeSnapshot],
    rules: RuleSet,
    *,
    today: date,
    advertised: Mapping[str, int] | None = None,
    accepted: Mapping[tuple[str, str], Sequence[AcceptedRule]] | None = None,
) -> tuple[NodeVerdict, ...]:
    """Return a verdict on each snapshot, in their order.

    ``advertised`` is the context in tokens that a target's gateway states, by target; without one
    the rules about gateways do not apply. ``accepted`` is by target and node.

    A node fails if a rule that fails holds; else it is unknown if such a rule cannot be told; else
    it warns if any rule holds or cannot be told. It passes only if every rule that applies was told
    and does not hold, and the node told what every judgement needs (``untold_of``). What is
    accepted counts for nothing. A rule that only warns and cannot be
    told because of another node is left out: that node's own verdict says so. Where no node of the
    other half was read, no verdict would say so, and the rule stays. Matches stand worst first,
    accepted ones last, so that the first one is the reason.
    """
    subjects = {rule.id: frozenset(peer_subjects(rule.condition)) for rule in rules.rules}
    bench = _Bench(rules, today, advertised or {}, accepted or {}, subjects)
    views = [view_of(each, bench.advertised.get(each.target)) for each in snapshots]
    of_target: dict[str, list[NodeView]] = {}
    for snapshot, view in zip(snapshots, views, strict=True):
        of_target.setdefault(snapshot.target, []).append(view)
    peers = {target: Peers(together) for target, together in of_target.items()}
    return tuple(
        _verdict(bench, snapshot, view, peers[snapshot.target])
        for snapshot, view in zip(snapshots, views, strict=True)
    )


def _verdict(bench: _Bench, snapshot: NodeSnapshot, view: NodeView, peers: Peers) -> NodeVerdict:
    spoken = [*_no_judgement(bench, snapshot), *_spoken(bench, snapshot, view, peers)]
    spoken.sort(key=_rank)
    return NodeVerdict(
        snapshot=snapshot,
        conformity=_conformity(spoken),
        matches=tuple(each.match for each in spoken),
    )


def _no_judgement(bench: _Bench, snapshot: NodeSnapshot) -> Iterator[_Spoken]:
    """Yield why a node cannot be judged at all."""
    engine = snapshot.facts.engine
    if not snapshot.reached:
        name, why = NOT_REACHED, "the node was not reached"
    elif engine is None:
        name, why = ENGINE_UNTOLD, "cannot be told: the engine was not recognised"
    elif not any(rule.engine == engine for rule in bench.rules.rules):
        name, why = NO_RULES, "cannot be told: there are no rules for this engine"
    elif owed := untold_of(snapshot):
        name, why = FACTS_UNTOLD, f"cannot be told without {', '.join(owed)}"
    else:
        return
    match = RuleMatch(rule=name, conformity=Conformity.UNKNOWN, why=why)
    yield _Spoken(match, Conformity.FAIL)


def _spoken(
    bench: _Bench, snapshot: NodeSnapshot, view: NodeView, peers: Peers
) -> Iterator[_Spoken]:
    """Yield each rule that holds of a node or cannot be told of it."""
    if not snapshot.reached:
        return
    engine, excused = snapshot.facts.engine or ANY_ENGINE, excused_of(snapshot)
    for rule in bench.rules.rules:
        severity = bench.rules.severity(rule)
        unasked = rule.needs_gateway and snapshot.target not in bench.advertised
        if severity is None or unasked or not rule.applies_to(engine):
            continue
        others = peers.of(view, bench.peer_subjects[rule.id])
        found = evaluate(rule.condition, view, others)
        for_want_of_others = found.truth is None and all(each.other for each in found.missing)
        if for_want_of_others and severity is not Conformity.FAIL:
            continue
        if found.truth is None and {each.name for each in found.missing} <= excused:
            continue
        if found.truth is not False:
            yield _Spoken(_match(bench, snapshot, view, rule, found, severity), severity)


def _match(
    bench: _Bench,
    snapshot: NodeSnapshot,
    view: NodeView,
    rule: Rule,
    found: Evaluation,
    severity: Conformity,
) -> RuleMatch:
    told = found.truth is True
    why = sentence(rule.why, view, found.peer) if told else untold(found.missing)
    until = _accepted_until(bench, snapshot, rule)
    if until is not None and until < bench.today:
        why, until = f"{why}; an acceptance of it ended on {until.isoformat()}", None
    return RuleMatch(
        rule=rule.id,
        conformity=severity if told else Conformity.UNKNOWN,
        why=why,
        link=rule.link,
        public_since=rule.public,
        shape=rule.shape,
        accepted_until=until,
    )


def _accepted_until(bench: _Bench, snapshot: NodeSnapshot, rule: Rule) -> date | None:
    """Return the last day on which the rule is or was accepted for this node."""
    accepted = bench.accepted.get((snapshot.target, snapshot.node), ())
    return max((each.expires for each in accepted if each.rule == rule.id), default=None)


def _rank(spoken: _Spoken) -> tuple[bool, int]:
    told = spoken.match.conformity is not Conformity.UNKNOWN
    place = (spoken.severity is not Conformity.FAIL) * 2 + (not told)
    return (spoken.match.accepted_until is not None, place)


def _conformity(spoken: Sequence[_Spoken]) -> Conformity:
    counted = [each for each in spoken if each.match.accepted_until is None]
    worst = [each.severity for each in counted if each.match.conformity is not Conformity.UNKNOWN]
    if Conformity.FAIL in worst:
        return Conformity.FAIL
    if Conformity.FAIL in (each.severity for each in counted):
        return Conformity.UNKNOWN
    return Conformity.WARN if counted else Conformity.PASS
