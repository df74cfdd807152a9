"""The loop over nodes: read, judge, follow, keep, tell, and say how full they are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry

from monitor.clock import Clock, new_id
from monitor.config import Config, Target
from monitor.config.nodes import Draft
from monitor.conventions.nodes import LiveState
from monitor.errors import StoreError
from monitor.model import Verdict
from monitor.nodes.live import Band, LiveSignal, NodeWindows
from monitor.nodes.record import NodeSnapshot, NodeVerdict
from monitor.nodes.ruleset import RuleSet
from monitor.nodes.survey import Survey, Surveyor
from monitor.nodewatch.collector import NodeCollector
from monitor.nodewatch.news import News
from monitor.nodewatch.now import NodesNow
from monitor.nodewatch.pressure import pressure_of
from monitor.nodewatch.rows import row_of
from monitor.nodewatch.verdicts import node_verdict
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

# A reading that is older than so many intervals says nothing of now: the next ones are missing.
OLD_INTERVALS = 3

Tell = Callable[[Verdict], Awaitable[object]]
Press = Callable[[str, float], None]


class NodeWatch:
    """Reads every node again and again.

    ``tell`` files a verdict and tells the sinks; it raises ``StoreError`` if it cannot be kept, and
    the verdict is then told after a later reading.
    """

    def __init__(
        self, config: Config, surveyor: Surveyor, writer: Writer, clock: Clock, tell: Tell
    ) -> None:
        self._config = config
        self._surveyor = surveyor
        self._writer = writer
        self._clock = clock
        self._tell = tell
        bands = {each.name: _band(each.draft) for each in config.served}
        self._windows = NodeWindows(config.nodes.interval_seconds, bands)
        self._news = News()
        self._reading = asyncio.Lock()
        self._now: NodesNow | None = None
        self._models = {each.name: _model(each) for each in config.served}

    @property
    def now(self) -> NodesNow | None:
        """What the last reading came to; ``None`` before the first ended."""
        return self._now

    @property
    def rules(self) -> RuleSet:
        """The rules that nodes are judged by."""
        return self._surveyor.rules

    async def run(self, press: Press) -> None:
        """Read all nodes at each interval, for ever; ``press`` is told how full each target is."""
        while True:
            began = self._clock.monotonic()
            await self.read(press)
            took = self._clock.monotonic() - began
            await self._clock.sleep(max(0.0, self._config.nodes.interval_seconds - took))

    async def read(self, press: Press) -> NodesNow:
        """Read all nodes once, and do with it all there is to do; one reading at a time."""
        async with self._reading:
            return await self._read(press)

    async def recent(self) -> NodesNow:
        """Return what the last reading came to, read anew if there is none or it is old."""
        now, most = self._now, OLD_INTERVALS * self._config.nodes.interval_seconds
        if now is not None and (self._clock.now() - now.read_at).total_seconds() <= most:
            return now
        return await self.read(lambda _target, _pressure: None)

    async def _read(self, press: Press) -> NodesNow:
        survey = await self._surveyor.survey()
        snapshots = [each.snapshot for each in survey.verdicts]
        # Off the loop: with hundreds of nodes it takes a while, and answers are timed there.
        before, signals = self._now, await asyncio.to_thread(self._windows.take, snapshots)
        now = NodesNow(
            survey=survey,
            read_at=self._clock.now(),
            signals=signals,
            pressures=_pressures(survey),
            answered_at=_answered(before, snapshots),
        )
        self._now = now
        for target in self._models:
            # Nodes that do not say how full they are hold nobody back: that is a metric, too.
            press(target, now.pressures.get(target, 0.0))
        _say_moved(before.signals if before else (), signals)
        await asyncio.to_thread(self._keep, survey.verdicts)
        for judged in survey.verdicts:
            if self._news.is_news(judged):
                await self._say(judged)
        return now

    def _keep(self, verdicts: Sequence[NodeVerdict]) -> None:
        """Keep what was read; what there is no room for is dropped, and the writer counts it."""
        self._writer.put([row_of(each) for each in verdicts], droppable=True)

    async def _say(self, judged: NodeVerdict) -> None:
        snapshot = judged.snapshot
        verdict = node_verdict(
            judged,
            model=self._models.get(snapshot.target, ""),
            verdict_id=new_id("verdict"),
            now=self._clock.now(),
            rules=self.rules.sha256,
        )
        try:
            await self._tell(verdict)
        except StoreError as error:
            log.error(  # noqa: TRY400 - the store says all there is to say
                "the verdict of node %s cannot be kept: %s", snapshot.node, error
            )
            return
        self._news.note(judged)


def node_watch_over(
    config: Config,
    surveyor: Surveyor,
    writer: Writer,
    clock: Clock,
    metrics: CollectorRegistry,
    tell: Tell,
) -> NodeWatch:
    """Return what watches the nodes of an installation, shown in ``metrics``."""
    watch = NodeWatch(config, surveyor, writer, clock, tell)
    metrics.register(
        NodeCollector(
            env=config.environment,
            targets=tuple(e.name for e in config.served if e.nodes or e.node_sources),
            interval_seconds=config.nodes.interval_seconds,
            rules_max_age_seconds=config.nodes.rules_max_age_seconds,
            rules=surveyor.rules,
            now=lambda: watch.now,
            clock=clock,
        )
    )
    return watch


def _band(draft: Draft) -> Band:
    return Band(lowest_length=draft.lowest_length, highest_ratio=draft.highest_ratio)


def _model(target: object) -> str:
    """Return the model of a target, if it is asked for one; what nodes say is no label."""
    return target.model if isinstance(target, Target) else ""


def _pressures(survey: Survey) -> Mapping[str, float]:
    targets = dict.fromkeys(each.snapshot.target for each in survey.verdicts)
    found = {
        target: pressure_of(each.snapshot for each in survey.of(target).verdicts)
        for target in targets
    }
    return {target: each for target, each in found.items() if each is not None}


def _answered(
    before: NodesNow | None, snapshots: Sequence[NodeSnapshot]
) -> Mapping[tuple[str, str], datetime]:
    known = before.answered_at if before else {}
    answered: dict[tuple[str, str], datetime] = {}
    for each in snapshots:
        key = (each.target, each.node)
        last = each.read_at if each.reached else known.get(key)
        if last is not None:
            answered[key] = last
    return answered


def _say_moved(before: Sequence[LiveSignal], signals: Sequence[LiveSignal]) -> None:
    """Log each live signal that began to fail, or ended."""
    failed = {_key(each) for each in before if each.state is LiveState.FAIL}
    for each in signals:
        where = " ".join(part for part in (each.target, each.node) if part)
        if each.state is LiveState.FAIL and _key(each) not in failed:
            log.error("live signal %s of %s: %s", each.kind.value, where, each.why)
        elif each.state is not LiveState.FAIL and _key(each) in failed:
            log.info("live signal %s of %s fails no more: %s", each.kind.value, where, each.why)


def _key(signal: LiveSignal) -> tuple[str, str, str]:
    return (signal.target, signal.node, signal.kind.value)
