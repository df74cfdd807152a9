"""The verdict of a node: what the rules make of it, in the words of every other verdict. Pure.

It belongs to no trial and is no event of any service level indicator of answers; nodes have their
own. Its place is the target, the shape ``node`` and, as stratum, the node's name: everything that
fails a node is one finding until a person resolves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from monitor.model import Signal, Status, Verdict
from monitor.nodes.outcomes import CAME_TO
from monitor.nodes.record import Conformity, NodeVerdict, RuleMatch

SOURCE = SHAPE = "node"
SIGNAL = "NODE"
# The variant of a node whose pool is smaller than its context, and that does not refuse safely.
OVER_LENGTH = "over_length"
_BOUNDARY = "boundary"
_MOST_SAID = 4


def node_verdict(
    judged: NodeVerdict, *, model: str, verdict_id: str, now: datetime, rules: str
) -> Verdict:
    """Return the verdict of a node. ``rules`` is the digest of the rules that judged it."""
    outcome, verdict_class = CAME_TO[judged.conformity]
    snapshot = judged.snapshot
    return Verdict(
        id=verdict_id,
        source=SOURCE,
        trial="",
        target=snapshot.target,
        model=model,
        probe="",
        shape=SHAPE,
        stratum=snapshot.node,
        decided_at=now,
        outcome=outcome,
        verdict_class=verdict_class,
        reason=reason_of(judged),
        signals=tuple(_signals(judged)),
        exchanges=(),
        checks_version=f"rules-{rules[:12]}",
        scheduled=False,
    )


def reason_of(judged: NodeVerdict) -> str:
    """Return what decided, in our own words: of the matches that count, those of its state."""
    counted = [each for each in judged.matches if each.accepted_until is None]
    decided = [each for each in counted if each.conformity is judged.conformity] or counted
    if not decided:
        return "no rule speaks of it"
    said = "; ".join(_said(each) for each in decided[:_MOST_SAID])
    more = len(decided) - _MOST_SAID
    return f"{said}; and {more} more" if more > 0 else said


def lets_over_length_pass(judged: NodeVerdict) -> bool:
    """Return true if a prompt that a node's pool cannot hold is not refused.

    Rules that fail a node and name the probe of the limits say that it does not refuse safely.
    Where the context, not the pool, is the limit, a longer prompt is refused before it gets there.
    """
    return judged.snapshot.facts.pool_bound is not False and any(
        match.shape == _BOUNDARY for match in _failing(judged)
    )


def _failing(judged: NodeVerdict) -> list[RuleMatch]:
    return [
        each
        for each in judged.matches
        if each.conformity is Conformity.FAIL and each.accepted_until is None
    ]


def _said(match: RuleMatch) -> str:
    public = f", public since {match.public_since.isoformat()}" if match.public_since else ""
    return f"{match.why} ({match.rule}{public})"


def _signals(judged: NodeVerdict) -> Iterator[Signal]:
    """Yield what decided, and what could not be told: a warning is no failure of a node."""
    fails = judged.conformity is Conformity.FAIL
    for match in judged.matches:
        if match.accepted_until is not None:
            continue
        if fails and match.conformity is Conformity.WARN:
            continue
        unknown = match.conformity is Conformity.UNKNOWN
        yield _signal(match.rule, match.why, Status.ERROR if unknown else Status.FAIL)
    if lets_over_length_pass(judged):
        yield _signal(OVER_LENGTH, "a prompt that its KV pool cannot hold is not refused")


def _signal(variant: str, why: str, status: Status = Status.FAIL) -> Signal:
    return Signal(code=SIGNAL, status=status, exchange=0, variant=variant, explanation=why)
