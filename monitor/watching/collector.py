"""Streams as metrics, read when somebody scrapes: evidence, thresholds and alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.core import Metric

from monitor.conventions import streams as names
from monitor.conventions.families import family_of
from monitor.conventions.streams import AlarmTier, NotWatched
from monitor.detect.watch import Tier, Watch
from monitor.model import Lane
from monitor.watching.standing import Standing

_TIERS = ((AlarmTier.TICKET, Tier.TICKET), (AlarmTier.PAGE, Tier.PAGE))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCollector:
    """A collector to register: asks its functions at every scrape.

    A stream that is not asked has series only while it has an alarm that was raised, or asked
    for, since the start.
    """

    env: str
    targets: tuple[str, ...]
    standings: Callable[[], Iterable[Standing]]
    refused: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Return the families as they stand now."""
        standings = tuple(self.standings())
        yield from self._streams([each for each in standings if _is_shown(each)])
        yield self._not_watched(standings)
        refused = family_of(names.STATES_REFUSED)
        refused.add_metric((self.env,), self.refused())
        yield refused

    def _streams(self, standings: Iterable[Standing]) -> Iterator[Metric]:
        active, raised = family_of(names.ALARM_ACTIVE), family_of(names.ALARMS)
        evidence, limits = family_of(names.SLO_EVIDENCE), family_of(names.SLO_EVIDENCE_THRESHOLD)
        valid = family_of(names.STREAM_VALID_RATIO)
        for standing in standings:
            key, watch = standing.key, standing.watch
            labels = (self.env, key.target, key.probe, key.stratum, key.lane.value)
            evidence.add_metric(labels, watch.value)
            if watch.valid_share is not None:
                valid.add_metric(labels, watch.valid_share)
            for name, tier, threshold, alarms in _tiers(watch):
                is_on = watch.alarm is not None and watch.alarm.tier is tier
                if threshold is None and not alarms and not is_on:
                    continue
                active.add_metric((*labels, name.value), float(is_on))
                raised.add_metric((*labels, name.value), alarms)
                if threshold is not None:
                    limits.add_metric((*labels, name.value), threshold)
        yield from (active, raised, evidence, limits, valid)

    def _not_watched(self, standings: Iterable[Standing]) -> Metric:
        count = Counter(
            (each.key.target, each.key.lane, each.not_watched)
            for each in standings
            if each.not_watched is not None
        )
        family = family_of(names.STREAMS_NOT_WATCHED)
        for target in self.targets:
            for lane in Lane:
                for reason in NotWatched:
                    labels = (self.env, target, lane.value, reason.value)
                    family.add_metric(labels, count[target, lane, reason])
        return family


def _is_shown(standing: Standing) -> bool:
    if standing.not_watched is not NotWatched.NOT_PLANNED:
        return True
    return standing.asked and standing.watch.alarm is not None


def _tiers(watch: Watch) -> Iterator[tuple[AlarmTier, Tier, float | None, int]]:
    limits = watch.thresholds
    for name, tier in _TIERS:
        page = tier is Tier.PAGE
        yield (
            name,
            tier,
            limits.page if page else limits.ticket,
            watch.pages if page else watch.tickets,
        )
