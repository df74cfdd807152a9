"""Trials whose texts may have been kept, read in the order they were judged, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.model import Verdict
from monitor.store.client import Client
from monitor.store.reader import Reader, milliseconds
from monitor.store.retention import IN_TIME
from monitor.store.rows import TABLES, BodyRow, ExchangeVerdictRow, VerdictRow

# Verdicts a page, with their signals; and the sealed characters that are fetched at once. A trial
# that has more is fetched alone.
PAGE_VERDICTS = 64
PAGE_CHARACTERS = 32 * 1024 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR_MILLISECONDS = 3_600_000
_HOUR = "intDiv(toUnixTimestamp64Milli(decided_at), 3600000) * 3600000"
# Instants as whole milliseconds: bound as instants they would lose what is below a second.
_IN_SPAN = (
    "source = 'probe' "
    "AND decided_at >= fromUnixTimestamp64Milli({since:Int64}) "
    "AND decided_at < fromUnixTimestamp64Milli({until:Int64}) "
    "AND has({targets:Array(String)}, target) "
    "AND toUnixTimestamp64Milli(decided_at) "
    ">= arrayElement({starts:Array(Int64)}, indexOf({targets:Array(String)}, target))"
)
_BODIES_OF = (
    f"has({{trials:Array(String)}}, trial) AND {IN_TIME} "
    "AND stored_at >= fromUnixTimestamp64Milli({since:Int64}) "
    "AND stored_at <= fromUnixTimestamp64Milli({until:Int64})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which verdicts: those of each target from its own instant on, all before one instant."""

    starts: Mapping[str, datetime]
    until: datetime

    def parameters(self) -> dict[str, Any]:
        """Return what ``_IN_SPAN`` is bound to."""
        return {
            "targets": list(self.starts),
            "starts": [milliseconds(start) for start in self.starts.values()],
            "since": milliseconds(min(self.starts.values(), default=self.until)),
            "until": milliseconds(self.until),
        }


class KeptReader(Reader):
    """Reads first verdicts of trials (source ``probe``) and the bodies of their exchanges.

    Bodies from before ``bodies_since`` (milliseconds) are past their time, and not read even where
    they are still there, unless they are held.
    """

    def __init__(self, client: Client, bodies_since: int) -> None:
        super().__init__(client)
        self._bodies_since = bodies_since

    def judged(self, since: datetime, until: datetime) -> dict[str, int]:
        """Return how many trials of each target were judged in that time."""
        sql = (
            f"SELECT target, count() FROM {TABLES[VerdictRow]} FINAL "  # noqa: S608
            "WHERE source = 'probe' AND decided_at >= fromUnixTimestamp64Milli({since:Int64}) "
            "AND decided_at < fromUnixTimestamp64Milli({until:Int64}) "
            "GROUP BY target ORDER BY target"
        )
        bounds = {"since": milliseconds(since), "until": milliseconds(until)}
        return {str(target): int(count) for target, count in self._client.query(sql, bounds)}

    def past_starts(
        self, targets: Sequence[str], least: datetime, before: datetime, exchanges: int
    ) -> dict[str, datetime]:
        """Return where, from ``least`` on, the last so many exchanges before an instant begin."""
        sql = (
            f"WITH last AS (SELECT target, decided_at FROM {TABLES[ExchangeVerdictRow]} FINAL "  # noqa: S608
            "WHERE source = 'probe' AND has({targets:Array(String)}, target) "
            "AND decided_at >= fromUnixTimestamp64Milli({least:Int64}) "
            "AND decided_at < fromUnixTimestamp64Milli({before:Int64}) "
            "ORDER BY decided_at DESC LIMIT {exchanges:UInt32} BY target) "
            "SELECT target, min(toUnixTimestamp64Milli(decided_at)) FROM last GROUP BY target"
        )
        found = self._client.query(
            sql,
            {
                "targets": list(targets),
                "least": milliseconds(least),
                "before": milliseconds(before),
                "exchanges": exchanges,
            },
        )
        return {str(t): _EPOCH + timedelta(milliseconds=int(first)) for t, first in found}

    def pages(self, span: Span) -> Iterator[tuple[Verdict, ...]]:
        """Yield the verdicts of a span in the order they were given, a page at a time."""
        parameters = span.parameters()
        if not parameters["targets"]:
            return
        for hour in self._hours(parameters):
            bounds = parameters | {
                "since": max(parameters["since"], hour),
                "until": min(parameters["until"], hour + _HOUR_MILLISECONDS),
            }
            yield from self._pages_within(bounds)

    def _hours(self, parameters: Mapping[str, Any]) -> list[int]:
        sql = (
            f"SELECT DISTINCT {_HOUR} AS hour FROM {TABLES[VerdictRow]} "  # noqa: S608
            f"WHERE {_IN_SPAN} ORDER BY hour"
        )
        return [int(row[0]) for row in self._client.query(sql, parameters)]

    def _pages_within(self, bounds: Mapping[str, Any]) -> Iterator[tuple[Verdict, ...]]:
        where = (
            f"{_IN_SPAN} AND (toUnixTimestamp64Milli(decided_at), id) "
            "> ({after:Int64}, {id:String}) "
            "ORDER BY decided_at, id LIMIT {most:UInt32}"
        )
        after, last = bounds["since"] - 1, ""
        while True:
            place = {"after": after, "id": last, "most": PAGE_VERDICTS}
            rows = self._rows(VerdictRow, where, {**bounds, **place})
            if rows:
                yield self._whole(rows)
                after, last = milliseconds(rows[-1].decided_at), rows[-1].id
            if len(rows) < PAGE_VERDICTS:
                return

    def bodies(self, verdicts: Sequence[Verdict]) -> Iterator[dict[str, list[BodyRow]]]:
        """Yield the bodies of these verdicts' trials by trial, some trials at a time, in order.

        Every trial is in one of them, without a body if none is kept.
        """
        sizes = self._sizes(verdicts)
        batch: list[Verdict] = []
        characters = 0
        for verdict in verdicts:
            size = sizes.get(verdict.trial, 0)
            if batch and characters + size > PAGE_CHARACTERS:
                yield self._bodies(batch)
                batch, characters = [], 0
            batch.append(verdict)
            characters += size
        if batch:
            yield self._bodies(batch)

    def _sizes(self, verdicts: Sequence[Verdict]) -> dict[str, int]:
        sql = (
            f"SELECT trial, sum(length(sealed)) FROM {TABLES[BodyRow]} "  # noqa: S608
            f"WHERE {_BODIES_OF} GROUP BY trial"
        )
        return {str(t): int(n) for t, n in self._client.query(sql, self._place(verdicts))}

    def _bodies(self, verdicts: Sequence[Verdict]) -> dict[str, list[BodyRow]]:
        found: dict[str, list[BodyRow]] = {verdict.trial: [] for verdict in verdicts}
        for row in self._rows(BodyRow, _BODIES_OF, self._place(verdicts)):
            found[row.trial].append(row)
        return found

    def _place(self, verdicts: Sequence[Verdict]) -> dict[str, Any]:
        """Return what ``_BODIES_OF`` is bound to: a body is stored as of its verdict's instant."""
        instants = [milliseconds(verdict.decided_at) for verdict in verdicts]
        return {
            "trials": [verdict.trial for verdict in verdicts],
            "since": min(instants),
            "until": max(instants),
            "in_time": self._bodies_since,
        }
