"""Nodes as metrics, read when somebody scrapes: what each said last, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from prometheus_client.core import Metric

from monitor.clock import Clock
from monitor.conventions import metric as named
from monitor.conventions import nodes as names
from monitor.conventions.families import Family, family_of
from monitor.conventions.nodes import KvState, LiveState, RequestState
from monitor.nodes.record import Conformity, NodeSnapshot, NodeVerdict
from monitor.nodes.ruleset import RuleSet
from monitor.nodes.version import read_version
from monitor.nodewatch.now import NodesNow

ACCEPTED = "accepted"
MOST_VERSIONS = 256


class ShownVersions:
    """Lets through so many releases in its life, and of any other version its kind.

    A node may say another version at each reading, and each would be a series more.
    """

    def __init__(self, most: int = MOST_VERSIONS) -> None:
        self._most = most
        self._known: set[str] = set()

    def shown(self, version: str | None) -> str:
        """Return what to show for what a node calls its version; empty where it said none."""
        if version is None:
            return ""
        read = read_version(version)
        if read.number is not None and len(self._known) < self._most:
            self._known.add(version)
        return version if version in self._known else read.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCollector:
    """A collector to register: asks its functions at every scrape.

    A number that a node does not say has no series; neither has anything before the first reading,
    but what says that there was none.
    """

    env: str
    targets: tuple[str, ...]
    interval_seconds: float
    rules_max_age_seconds: float
    rules: RuleSet
    now: Callable[[], NodesNow | None]
    clock: Clock
    versions: ShownVersions = field(default_factory=ShownVersions)

    def collect(self) -> Iterator[Metric]:
        """Return the families as they stand now."""
        now = self.now()
        yield from self._reading(now)
        families = _Families(self.env, self.versions)
        if now is not None:
            for judged in now.survey.verdicts:
                snapshot = judged.snapshot
                answered = now.answered_at.get((snapshot.target, snapshot.node))
                families.identity(snapshot, answered)
                families.conformity(judged, self.clock.now())
                families.pool(snapshot)
                families.live(snapshot)
            families.signals(now)
            families.targets(now, self.targets)
        yield from families.all()

    def _reading(self, now: NodesNow | None) -> Iterator[Metric]:
        read, every = family_of(names.NODES_READ_TIME), family_of(names.NODES_INTERVAL)
        read.add_metric((self.env,), now.read_at.timestamp() if now else 0.0)
        every.add_metric((self.env,), self.interval_seconds)
        age, most = family_of(names.NODE_RULES_AGE), family_of(names.NODE_RULES_MAX_AGE)
        age.add_metric((self.env,), _seconds_since(self.rules.dated, self.clock.now()))
        most.add_metric((self.env,), self.rules_max_age_seconds)
        info = family_of(names.NODE_RULES_INFO)
        info.add_metric((self.env, self.rules.sha256), 1.0)
        yield from (read, every, age, most, info)


class _Families:
    """The families of one scrape, filled node by node."""

    def __init__(self, env: str, versions: ShownVersions) -> None:
        self._env = env
        self._versions = versions
        self._made: dict[str, Family] = {metric.name: family_of(metric) for metric in _OF_NODES}
        self._shown: set[tuple[str, ...]] = set()

    def all(self) -> Iterator[Metric]:
        yield from self._made.values()

    def _put(self, metric: named.Metric, labels: tuple[str, ...], value: float | None) -> None:
        """Add a sample; the same series twice would make the whole page unreadable."""
        series = (metric.name, *labels)
        if value is not None and series not in self._shown:
            self._shown.add(series)
            self._made[metric.name].add_metric((self._env, *labels), float(value))

    def identity(self, snapshot: NodeSnapshot, answered: datetime | None) -> None:
        node = (snapshot.target, snapshot.node)
        facts = snapshot.facts
        self._put(names.NODE_UP, node, snapshot.reached)
        self._put(names.NODE_LAST_READ, node, answered.timestamp() if answered else 0.0)
        self._put(names.NODE_GAPS, node, len(snapshot.gaps))
        if snapshot.reached:
            said = (facts.engine or "", self._versions.shown(facts.version), snapshot.role.value)
            self._put(names.NODE_INFO, (*node, *said), 1.0)

    def conformity(self, judged: NodeVerdict, now: datetime) -> None:
        node = (judged.snapshot.target, judged.snapshot.node)
        for state in Conformity:
            self._put(names.NODE_CONFORMITY, (*node, state.value), judged.conformity is state)
        if judged.conformity is not Conformity.UNKNOWN:
            self._put(names.NODE_CONFORMS, node, judged.conformity is not Conformity.FAIL)
        if (public := judged.public_since) is not None:
            self._put(names.NODE_EXPOSED, node, _seconds_since(public, now))
        for match in judged.matches:
            said = ACCEPTED if match.accepted_until else match.conformity.value
            self._put(names.NODE_RULES_MATCHED, (*node, match.rule, said), 1.0)

    def pool(self, snapshot: NodeSnapshot) -> None:
        of = (snapshot.target, snapshot.node, snapshot.role.value)
        facts, kv = snapshot.facts, snapshot.live.kv
        self._put(names.NODE_CONTEXT_ADVERTISED, of, facts.advertised_tokens)
        self._put(names.NODE_CONTEXT_ENFORCED, of, facts.enforced_tokens)
        self._put(names.KV_POOL_CAPACITY, of, facts.pool_tokens)
        self._put(names.KV_POOL_USAGE, of, kv.usage_ratio)
        parts = {
            KvState.USED: kv.used_tokens,
            KvState.FREE: kv.free_tokens,
            KvState.EVICTABLE: kv.evictable_tokens,
        }
        for state, tokens in parts.items():
            self._put(names.KV_POOL_TOKENS, (*of, state.value), tokens)

    def live(self, snapshot: NodeSnapshot) -> None:
        node, live = (snapshot.target, snapshot.node), snapshot.live
        self._put(names.NODE_REQUESTS, (*node, RequestState.RUNNING.value), live.kv.running)
        self._put(names.NODE_REQUESTS, (*node, RequestState.QUEUED.value), live.kv.queued)
        for kind, count in live.counters.items():
            self._put(names.NODE_EVENTS, (*node, snapshot.role.value, kind.value), count)
        self._put(names.NODE_ACCEPT_LENGTH, node, live.accept_length)
        self._put(names.NODE_ACCEPT_RATIO, node, live.accept_ratio)

    def signals(self, now: NodesNow) -> None:
        for signal in now.signals:
            of = (signal.target, signal.node, signal.kind.value)
            for state in LiveState:
                self._put(names.NODE_SIGNAL, (*of, state.value), signal.state is state)

    def targets(self, now: NodesNow, targets: tuple[str, ...]) -> None:
        for target in targets:
            nodes = now.survey.of(target).verdicts
            self._put(names.NODES_KNOWN, (target,), sum(not _is_source(n.snapshot) for n in nodes))
            self._put(names.TARGET_PRESSURE, (target,), now.pressures.get(target))
        for gateway in now.survey.gateways:
            known = not gateway.gaps
            self._put(names.GATEWAY_UP, (gateway.target,), known)
            if gateway.models or known:
                self._put(names.GATEWAY_MODELS_UNPROBED, (gateway.target,), len(gateway.unprobed))


_OF_NODES = (
    names.NODE_UP,
    names.NODE_INFO,
    names.NODE_LAST_READ,
    names.NODE_CONFORMS,
    names.NODE_CONFORMITY,
    names.NODE_RULES_MATCHED,
    names.NODE_EXPOSED,
    names.NODE_GAPS,
    names.NODE_CONTEXT_ADVERTISED,
    names.NODE_CONTEXT_ENFORCED,
    names.KV_POOL_CAPACITY,
    names.KV_POOL_USAGE,
    names.KV_POOL_TOKENS,
    names.NODE_REQUESTS,
    names.NODE_EVENTS,
    names.NODE_ACCEPT_LENGTH,
    names.NODE_ACCEPT_RATIO,
    names.NODE_SIGNAL,
    names.NODES_KNOWN,
    names.TARGET_PRESSURE,
    names.GATEWAY_UP,
    names.GATEWAY_MODELS_UNPROBED,
)


def _seconds_since(day: date, now: datetime) -> float:
    began = datetime.combine(day, time(), UTC)
    return max(0.0, (now - began).total_seconds())


def _is_source(snapshot: NodeSnapshot) -> bool:
    """Return true for what stands for nodes that could not be found."""
    return not snapshot.reached and any(gap.fact == "nodes" for gap in snapshot.gaps)
