"""The figures of a week, worked out anew from exported Parquet: none of the product's sums."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Row = Mapping[str, Any]


class Exported:
    """The tables of a store as they were exported."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, list[Row]] = {}

    def rows(self, table: str, time: str, since: datetime, until: datetime) -> list[Row]:
        """Return the rows of a table of a span of time."""
        if table not in self._read:
            self._read[table] = pq.read_table(self._folder / f"{table}.parquet").to_pylist()
        return [row for row in self._read[table] if since <= row[time] < until]

    def outcomes(
        self, since: datetime, until: datetime, by: Callable[[Row], Any]
    ) -> dict[Any, Counter[str]]:
        """Return the outcomes of scheduled exchanges that count, by something."""
        found: dict[Any, Counter[str]] = defaultdict(Counter)
        for row in self.rows("exchange_verdicts", "decided_at", since, until):
            if row["scheduled"] and row["counted"] and row["source"] != "rescore":
                found[by(row)][row["outcome"]] += 1
        return found

    def seconds(
        self, target: str, since: datetime, until: datetime, *, first_token: bool
    ) -> list[float]:
        """Return how long each exchange of a target's probes took, or the first token of each."""
        rows = [
            row
            for row in self.rows("exchanges", "started_at", since, until)
            if row["target"] == target and row["probe"] != "traffic"
        ]
        if not first_token:
            return [row["total_seconds"] for row in rows]
        tokens = [row["first_token_seconds"] for row in rows if row["streamed"]]
        return [seconds for seconds in tokens if seconds is not None]


def exact_upper(bad: int, valid: int) -> float:
    """Return the rate at which at most ``bad`` of ``valid`` come in 5 of 100 cases."""
    if bad >= valid:
        return 1.0

    def chance(rate: float) -> float:
        return math.fsum(
            math.comb(valid, k) * rate**k * (1 - rate) ** (valid - k) for k in range(bad + 1)
        )

    return _halved(lambda rate: chance(rate) > 0.05, 0.0, 1.0)


def always_bounds(bad: int, valid: int) -> tuple[float, float]:
    """Return the rates at which a bettor on all rates alike has at most 20 times what he had.

    His wealth at a rate p is the mean of (q/p)^bad ((1-q)/(1-p))^good over all rates q.
    """
    if not valid:
        return 0.0, 1.0
    good = valid - bad
    # The mean over q, from the exact value of the integral of q^bad (1-q)^good.
    mean = -math.log(valid + 1) - math.log(math.comb(valid, bad))

    def possible(rate: float) -> bool:
        chance = (bad * math.log(rate) if bad else 0) + (good * math.log1p(-rate) if good else 0)
        return mean - chance < math.log(20)

    share = min(max(bad / valid, 1e-15), 1 - 1e-15)
    low = 0.0 if not bad else _halved(lambda r: not possible(r), 1e-15, share)
    high = 1.0 if not good else _halved(possible, share, 1 - 1e-15)
    return low, high


def _halved(below: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def signals_of(exported: Exported, since: datetime, until: datetime) -> Counter[tuple[str, ...]]:
    """Return how often each check said what: rows of their own, and the quiet ones."""
    found: Counter[tuple[str, ...]] = Counter()
    for row in exported.rows("signals", "decided_at", since, until):
        found[row["target"], row["code"], row["variant"], row["status"]] += 1
    for row in exported.rows("exchange_verdicts", "decided_at", since, until):
        for code, status in zip(row["quiet_codes"], row["quiet_statuses"], strict=True):
            found[row["target"], code, "", status] += 1
    return found


def settled(exported: Exported, since: datetime, until: datetime) -> dict[tuple[Any, ...], Any]:
    """Return what each budget spent a day: tokens, dollars, how many were settled."""
    found: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0, 0.0, 0])
    days = (since.date(), until.date())
    for row in exported.rows(
        "budget_spent", "changed_at", since.min.replace(tzinfo=since.tzinfo), until
    ):
        if days[0] <= row["day"] < days[1] and row["version"] == 1:
            of = found[row["target"], row["budget"], row["day"]]
            of[0] += row["tokens"]
            of[1] += row["usd"]
            of[2] += 1
    return {key: tuple(value) for key, value in found.items()}


def read_json(folder: Path) -> dict[str, Any]:
    """Return the JSON of a report."""
    said: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return said


def by(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], Row]:
    """Return rows by some of their fields, each of them once."""
    return {tuple(row[name] for name in names): row for row in rows}
