"""A watch as it is kept: JSON of numbers only, with a version, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from monitor.detect import plain
from monitor.detect.esr import CAP, LARGEST_Y0, Alarm, rate_detector
from monitor.detect.thresholds import LARGEST
from monitor.detect.trend import Trend, TrendState
from monitor.detect.watch import REMEMBERED, Latched, Thresholds, Tier, Watch

VERSION = 1
_COUNTS = ("scored", "errors", "invalid", "pages", "tickets")
_LATCHED_COUNTS = ("raised", "began", "failed", "clean")


def text_of(watch: Watch) -> str:
    """Return a watch as JSON; ``watch_of`` gives the same one back, to the last digit."""
    record = {
        "version": VERSION,
        "y0": watch.y0,
        "page": watch.thresholds.page,
        "ticket": watch.thresholds.ticket,
        "by_age": int(watch.by_age),
        "evidence": watch.evidence.plain(),
        "failures": watch.failures,
        "unscored": watch.unscored,
        "alarm": _plain_alarm(watch.alarm) if watch.alarm else None,
        **{name: getattr(watch, name) for name in _COUNTS},
    }
    return json.dumps(record, allow_nan=False, separators=(",", ":"))


def _plain_alarm(latched: Latched) -> dict[str, Any]:
    alarm = latched.alarm
    return {
        "tier": int(latched.tier),
        "value": alarm.value,
        "seen": alarm.seen,
        "since": alarm.since,
        "bad": alarm.bad,
        "threshold": latched.threshold,
        "rate": latched.rate,
        "ages": latched.ages,
        **{name: getattr(latched, name) for name in _LATCHED_COUNTS},
    }


def watch_of(text: str) -> Watch:
    """Return the watch that was kept.

    Raises ``ValueError`` for anything that ``text_of`` does not write: no JSON, another version,
    NaN, counts that contradict each other. Who gets that begins anew, and says so.
    """
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("not the state of a detector: no JSON") from error
    if not isinstance(kept, Mapping) or kept.get("version") != VERSION:
        raise ValueError(f"not the state of a detector of version {VERSION}")
    names = ("version", "y0", "page", "ticket", "by_age", "evidence", "failures", "unscored")
    kept = plain.record(kept, *names, "alarm", *_COUNTS)
    y0 = plain.number(kept["y0"], low=1e-12, high=LARGEST_Y0)
    detector = rate_detector(y0, 1.0)
    rule = Trend(detector=detector) if plain.count(kept["by_age"]) else detector
    watch = Watch(
        y0=y0,
        thresholds=Thresholds(page=_threshold(kept["page"]), ticket=_threshold(kept["ticket"])),
        evidence=rule.restored(kept["evidence"]),
        failures=_numbers(kept["failures"]),
        unscored=_numbers(kept["unscored"]),
        alarm=_alarm(kept["alarm"]) if kept["alarm"] is not None else None,
        **{name: plain.count(kept[name]) for name in _COUNTS},
    )
    _require_sense(watch)
    return watch


def _threshold(value: object) -> float | None:
    return None if value is None else plain.number(value, low=1, high=LARGEST)


def _numbers(value: object) -> tuple[int, ...]:
    return tuple(plain.count(each, low=1) for each in plain.items(value, most=REMEMBERED))


def _alarm(value: object) -> Latched:
    names = ("tier", "value", "seen", "since", "bad", "threshold", "rate", "ages")
    kept = plain.record(value, *names, *_LATCHED_COUNTS)
    alarm = Alarm(
        value=plain.number(kept["value"], low=0, high=CAP),
        seen=plain.count(kept["seen"], low=1),
        since=plain.count(kept["since"], low=1),
        bad=plain.number(kept["bad"], low=0, high=kept["since"]),
    )
    return Latched(
        tier=Tier(plain.count(kept["tier"], low=min(Tier), high=max(Tier))),
        alarm=alarm,
        threshold=plain.number(kept["threshold"], low=1, high=LARGEST),
        rate=plain.number(kept["rate"], low=0, high=1),
        ages=None if kept["ages"] is None else _ages(kept["ages"]),
        **{name: plain.count(kept[name]) for name in _LATCHED_COUNTS},
    )


def _ages(value: object) -> tuple[int, int | None]:
    first, end = plain.items(value, least=2, most=2)
    return plain.count(first), None if end is None else plain.count(end, low=1)


def _require_sense(watch: Watch) -> None:
    """Raise ``ValueError`` if the counts contradict each other."""
    held, evidence = watch.alarm, watch.evidence
    whole = evidence.whole if isinstance(evidence, TrendState) else evidence
    sense = (
        whole.seen <= watch.scored
        and _ascend(watch.failures, watch.scored)
        and _ascend(watch.unscored, watch.asked)
        and len(watch.unscored) == min(REMEMBERED, watch.errors + watch.invalid)
    )
    if held is not None:
        later = watch.scored - held.raised
        sense = sense and 1 <= held.began <= held.raised and held.failed + held.clean <= later
    if not sense:
        raise ValueError("not the state of a detector: its counts contradict each other")


def _ascend(numbers: tuple[int, ...], last: int) -> bool:
    return all(a < b for a, b in pairwise((*numbers, last + 1)))
