"""Whether decode has counted prompts that prefill has not: the sign of a prompt replaced. Pure.

Where prefill and decode are apart, each counts the tokens of every prompt. A prefill node that
drops a prompt it cannot hold and goes on with a stub counts 1 token; decode, told of the whole,
counts N (https://github.com/sgl-project/sglang/issues/30233). Every status code is 200.

What is compared needs no model of the traffic. A request that decode has counted in a window was
counted by prefill in that window, or at most ``LAG`` before it. So, while all is well,

    decode's growth in [s, t]  <=  prefill's growth in [s - LAG, t]        for all s and t,

whatever the load does, and however late decode ends. An excess beyond ``MARGIN`` of what decode
counted is the fault, or prefill nodes that nobody listed. Where nodes say that nothing ran and
nothing was on its way from prefill to decode for a while before s, the lag is not needed. The other
direction says nothing: prefill also counts what is aborted, fails in transfer or is tried again.

*Readings are not atomic.* Decode is compared as it was one reading before prefill, so that nothing
that prefill was read too early for is missing.

*Restarts* lose what was counted between the last reading and the end, and a group with another
member is another group: both begin anew. A node that was not read only makes the answer wait. But
who was not read for a while may have begun anew and counted past where it had been, if it does not
say since when it runs: a count that one process could reach in that while is taken for a restart.

*The price*: with steady traffic a share of prompts is not seen to be missing while it is below
(LAG + MARGIN window) / (LAG + window); over the longest window that is 9 % (``UNSEEN``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live_growth import NodeCounts
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeCounter, NodeSnapshot, Role

# No request is decoded for longer than this after its prefill: 30 minutes are 72,000 tokens at 40
# a second.
LAG = timedelta(minutes=30)
LONGEST_WINDOW = timedelta(hours=12)
# Fewer tokens in a window tell nothing: warm-ups, and what somebody sends to one node by hand.
LEAST_TOKENS = 20_000
# What decode may count and prefill not, as a share of what decode counts.
MARGIN = 0.05
# So many readings in a row that say so, and nothing is between prefill and decode.
IDLE_READINGS = 3
# Under steady traffic, a smaller share of all tokens is not seen to be missing.
UNSEEN = (LAG + MARGIN * LONGEST_WINDOW) / (LAG + LONGEST_WINDOW)
# No node reads more tokens a second, cached ones included; eight H100 of a large model read 52,300
# uncached (https://lmsys.org/blog/2025-05-05-large-scale-ep/).
MOST_A_SECOND = 250_000
_TOKENS = NodeCounter.PROMPT_TOKENS
_SPLIT = (Role.PREFILL, Role.DECODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """What both groups had counted at a reading since this began, and whether nothing ran."""

    at: datetime
    prefill: float
    decode: float
    idle: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """Where a window may begin: decode's count then, and prefill's before anything in flight."""

    at: datetime
    decode: float
    prefill: float


class PromptTotals:
    """The prompt tokens that the prefill and decode nodes of one target count."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._members: frozenset[tuple[str, Role]] = frozenset()
        self._counts: dict[str, NodeCounts] = {}
        self._at: datetime | None = None
        self._waited = False
        self._points: deque[_Point] = deque()
        self._starts: deque[_Start] = deque()

    def take(self, nodes: Sequence[NodeSnapshot]) -> LiveSignal | None:
        """Take a reading of every node of the target; ``None`` where prefill is not apart.

        What stands for nodes that could not be found is a node that did not answer.
        """
        split = [each for each in nodes if each.role is not Role.UNIFIED]
        if not split and not self._members:
            return None
        waits = _waits(nodes, split)
        if waits:
            self._waited = True
            return self._signal(LiveState.UNKNOWN, waits)
        self._follow(split)
        return self._judged()

    def _follow(self, split: Sequence[NodeSnapshot]) -> None:
        """Add what was counted since the last whole reading, or begin anew."""
        at, members = max(each.read_at for each in split), _members(split)
        if self._at is not None and at <= self._at:
            return
        since, before = self._at if self._waited else None, self._members
        self._at, self._members, self._waited = at, members, False
        grown = self._growth(split) if members == before else None
        if since is not None and any(_may_be_another(each, since) for each in split):
            grown = None
        if grown is None:
            self._begin_anew(split, at)
            return
        last = self._points[-1]
        self._points.append(
            _Point(
                at=at,
                prefill=last.prefill + grown[Role.PREFILL],
                decode=last.decode + grown[Role.DECODE],
                idle=not any(grown.values()) and all(_is_idle(each) for each in split),
            )
        )
        self._begin_at(self._points[-1])
        self._forget(at)

    def _growth(self, split: Sequence[NodeSnapshot]) -> Mapping[Role, float] | None:
        """Return what each role counted since the last reading, ``None`` if it cannot be told."""
        grown = dict.fromkeys(_SPLIT, 0.0)
        known = True
        for each in split:
            growth = self._counts[each.node].take(each)
            if growth is None or growth.restarted or _TOKENS in growth.untold:
                known = False
            else:
                grown[each.role] += growth.by[_TOKENS]
        return grown if known else None

    def _begin_anew(self, split: Sequence[NodeSnapshot], at: datetime) -> None:
        known = {each.node: self._counts.get(each.node, NodeCounts()) for each in split}
        for each in split:
            known[each.node].take(each)
        self._counts = known
        self._points.clear()
        self._starts.clear()
        self._points.append(_Point(at=at, prefill=0.0, decode=0.0, idle=False))

    def _begin_at(self, point: _Point) -> None:
        """Note the newest reading as a place where a window may begin, if it can be told."""
        recent = list(self._points)[-IDLE_READINGS:]
        prefill: float | None = None
        if len(recent) == IDLE_READINGS and all(each.idle for each in recent):
            prefill = recent[0].prefill
        elif self._points[0].at <= point.at - LAG:
            prefill = max(p.prefill for p in self._points if p.at <= point.at - LAG)
        if prefill is not None:
            self._starts.append(_Start(at=point.at, decode=point.decode, prefill=prefill))

    def _forget(self, at: datetime) -> None:
        while self._starts and self._starts[0].at < at - LONGEST_WINDOW:
            self._starts.popleft()
        # One point older than the lag stays: it is the count of what is in flight.
        while len(self._points) > IDLE_READINGS and self._points[1].at <= at - LAG:
            self._points.popleft()

    def _judged(self) -> LiveSignal:
        """Compare all windows that end now."""
        if len(self._points) == 1:
            return self._signal(LiveState.UNKNOWN, "the counts of its nodes began anew")
        decode, prefill = self._points[-2].decode, self._points[-1].prefill
        seen, worst = 0.0, (0.0, 0.0)
        for start in self._starts:
            counted = decode - start.decode
            seen = max(seen, counted)
            missing = counted - (prefill - start.prefill)
            if counted >= LEAST_TOKENS and missing > MARGIN * counted:
                worst = max(worst, (missing, counted))
        missing, counted = worst
        if missing:
            share = missing / counted
            why = (
                f"decode counted {counted:.0f} prompt tokens, and prefill {missing:.0f} fewer than "
                f"that ({share:.0%}): prompts reached decode that prefill did not read"
            )
            return self._signal(LiveState.FAIL, why, share)
        if seen < LEAST_TOKENS:
            why = f"fewer than {LEAST_TOKENS} prompt tokens since its nodes can be compared"
            return self._signal(LiveState.UNKNOWN, why)
        why = f"of {seen:.0f} prompt tokens that decode counted, none is known to be missing"
        return self._signal(LiveState.PASS, why, 0.0)

    def _signal(self, state: LiveState, why: str, value: float | None = None) -> LiveSignal:
        kind = LiveKind.PROMPT_TOKENS_DIVERGE
        return LiveSignal(
            target=self._target, node="", kind=kind, state=state, why=why, value=value
        )


def _waits(nodes: Sequence[NodeSnapshot], split: Sequence[NodeSnapshot]) -> str:
    """Return why a reading of a target's nodes cannot be compared, or nothing.

    What a node that does not answer is, its configuration may not say: it may be any.
    """
    silent = sum(not each.reached for each in nodes)
    silent += sum(each.reached and _TOKENS not in each.live.counters for each in split)
    if silent:
        return f"{silent} of {len(nodes)} nodes did not say how much they read"
    roles = sorted({each.role.value for each in split})
    if len(roles) != len(_SPLIT):
        return f"of its nodes only {' and '.join(roles) or 'unified'} ones are known"
    return ""


def _members(nodes: Iterable[NodeSnapshot]) -> frozenset[tuple[str, Role]]:
    return frozenset((each.node, each.role) for each in nodes)


def _may_be_another(node: NodeSnapshot, since: datetime) -> bool:
    """Tell whether all that a node has counted may have come after ``since``, by a new process."""
    started = node.live.started_seconds
    if started is not None and started < since.timestamp():
        return False
    seconds = (node.read_at - since).total_seconds()
    return node.live.counters[_TOKENS] <= MOST_A_SECOND * seconds


def _is_idle(node: NodeSnapshot) -> bool:
    """Return true if a node says that it has nothing to do, nor to send or fetch; silence is no."""
    kv = node.live.kv
    return kv.running == 0 and kv.queued == 0 and kv.in_transfer == 0
