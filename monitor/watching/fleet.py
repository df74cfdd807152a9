"""The streams of the whole installation: how often each is asked, and its part of what is allowed.

A threshold depends on the stream's own part and on the sum of all weights, so it is worked out when
somebody needs it, whichever plan changed meanwhile: evidence keeps its part of the way in between.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from monitor.config.detection import Detection
from monitor.detect.thresholds import Allowance, Share, thresholds
from monitor.detect.watch import Thresholds
from monitor.model import Lane
from monitor.streams import TREND_PROBES, StreamKey

# What a healthy target never does, and what it does too often, may wake somebody; that outputs
# moved may not.
PAGING = frozenset({Lane.HARD, Lane.TOLERATED})
_DAY_SECONDS = 86_400.0
# Strata of targets that are alike have shares that are alike.
_ALIKE = 16_384
FACTS_PROBE, FIRST_TOKEN_PROBE, JUDGE_PROBE = "golden", "border", "judge"


def scores_a_day(
    target: str, trials: Mapping[tuple[str, str], float], *, judged: bool = False
) -> dict[StreamKey, float]:
    """Return how many scores a day each stream of a target takes at most, by its day plan.

    ``trials`` are those a day by probe and stratum. Not every trial tells of facts, or is
    ``judged``.
    """
    found: dict[StreamKey, float] = {}
    pooled: dict[StreamKey, float] = {}

    def pool(lane: Lane, probe: str, a_day: float) -> None:
        key = StreamKey(target=target, lane=lane, probe=probe)
        pooled[key] = pooled.get(key, 0.0) + a_day

    for (probe, stratum), a_day in trials.items():
        for lane in (Lane.HARD, Lane.TOLERATED):
            found[StreamKey(target=target, lane=lane, probe=probe, stratum=stratum)] = a_day
        if probe in TREND_PROBES:
            pool(Lane.TREND, "", a_day)
        if probe == FIRST_TOKEN_PROBE:
            pool(Lane.FIRST_TOKEN, probe, a_day)
        if probe == FACTS_PROBE:
            pool(Lane.FACTS, probe, a_day)
        if probe == FACTS_PROBE and judged:
            pool(Lane.JUDGE, probe, a_day)
    return found | pooled


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The streams of one target, and what they weigh together for each tier."""

    shares: Mapping[StreamKey, Share]
    page: float
    ticket: float


class Fleet:
    """The shares of all streams. Until every one of ``targets`` is planned there are no thresholds.

    Not safe from several threads.
    """

    def __init__(self, detection: Detection, targets: Collection[str]) -> None:
        self._detection = detection
        self._awaited = set(targets)
        self._planned: dict[str, _Weighed] = {}
        self._ever: set[StreamKey] = set()
        self._page = self._ticket = 0.0
        self._pages = Allowance(alarms=1, days=detection.false_page_seconds / _DAY_SECONDS)
        self._tickets = Allowance(alarms=1, days=detection.false_ticket_seconds / _DAY_SECONDS)

    def plan(self, target: str, scores: Mapping[StreamKey, float]) -> None:
        """Take how many scores a day the streams of a target give from now on, instead of before.

        Call it before anything is asked more often.
        """
        shares = {
            key: Share(weight=self._weight(key), scores_per_day=a_day)
            for key, a_day in scores.items()
        }
        self._planned[target] = _Weighed(
            shares=shares,
            page=_sum(share for key, share in shares.items() if key.lane in PAGING),
            ticket=_sum(shares.values()),
        )
        self._ever.update(shares)
        self._awaited.discard(target)
        self._page = math.fsum(each.page for each in self._planned.values())
        self._ticket = math.fsum(each.ticket for each in self._planned.values())

    def thresholds(self, key: StreamKey) -> Thresholds | None:
        """Return the thresholds of a stream; ``None`` while they cannot be known.

        One that is not planned, or weighs nothing, has none of either tier.
        """
        if self._awaited:
            return None
        share = self.share(key)
        if share is None:
            return Thresholds()
        page = _part(share, self._page, self._pages) if key.lane in PAGING else None
        return Thresholds(page=page, ticket=_part(share, self._ticket, self._tickets))

    def share(self, key: StreamKey) -> Share | None:
        """Return the part of a stream; ``None`` if it is not planned."""
        planned = self._planned.get(key.target)
        return planned.shares.get(key) if planned else None

    def was_planned(self, key: StreamKey) -> bool:
        """True if a stream is planned, or was."""
        return key in self._ever

    def streams(self) -> list[StreamKey]:
        """Return every stream that is planned."""
        return [key for planned in self._planned.values() for key in planned.shares]

    def _weight(self, key: StreamKey) -> float:
        return math.prod(
            entry.weight
            for entry in self._detection.weights
            if entry.target in (None, key.target) and entry.probe in (None, key.probe)
        )


def _sum(shares: Iterable[Share]) -> float:
    return math.fsum(share.weight for share in shares if share.scores_per_day > 0)


@lru_cache(maxsize=_ALIKE)
def _part(share: Share, whole: float, allowance: Allowance) -> float | None:
    """Return the threshold of one share of so much weight in all."""
    others = Share(weight=max(0.0, whole - share.weight), scores_per_day=1.0)
    return thresholds({"own": share, "others": others}, allowance)["own"]
