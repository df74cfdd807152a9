"""How long rows are kept: each table's TTL, as configured, and what no TTL ever ends.

Rows that a finding holds outlive their time. The database drops what is past it when it merges,
within hours; who reads texts must not wait for that (``IN_TIME``).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.config.storage import Retention
from monitor.store.client import Client

_log = logging.getLogger(__name__)

# Kept for good: who owned what, what was found and decided, and by whom.
KEPT_FOR_GOOD = frozenset({
    *("targets", "markers", "calibrations", "findings", "finding_changes"),
    *("audit_log", "detector_states", "schema_migrations"),
})  # fmt: skip
# Bodies whose time has not come, and those that are held.
IN_TIME = "(held OR stored_at > fromUnixTimestamp64Milli({in_time:Int64}))"
_TTL = re.compile(r"\bTTL (.+?)(?: SETTINGS |$)")
_DAYS = re.compile(r"toIntervalDay\((\d+)\)|INTERVAL (\d+) DAY", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """How long a table keeps its rows, counted from ``since``; ``holds`` spares what is held."""

    table: str
    since: str
    days: int
    holds: bool = False

    @property
    def statement(self) -> str:
        """What puts it in force."""
        spared = " WHERE NOT held" if self.holds else ""
        return (
            f"ALTER TABLE {self.table} MODIFY TTL "
            f"{self.since} + toIntervalDay({self.days:d}) DELETE{spared}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TermChange:
    """A table whose term in force is not the configured one; ``None`` if it keeps all."""

    term: Term
    days_in_force: int | None

    @property
    def is_shorter(self) -> bool:
        """True if rows go that would have stayed."""
        return self.days_in_force is not None and self.term.days < self.days_in_force

    def __str__(self) -> str:
        before = "for good" if self.days_in_force is None else f"{self.days_in_force} days"
        return f"{self.term.table}: rows are kept {self.term.days} days (until now: {before})"


def in_time(retention: Retention, now: datetime) -> int:
    """Return what ``IN_TIME`` is bound to: bodies from before that instant are past their time."""
    return int((now - timedelta(days=retention.bodies_days)).timestamp() * 1000)


def terms(retention: Retention) -> tuple[Term, ...]:
    """Return the term of every table that has one."""
    verdicts, records = retention.verdicts_days, retention.records_days
    return (
        *_judged("toDateTime(started_at)", verdicts, "trials", "exchanges"),
        *_judged("toDateTime(decided_at)", verdicts, "verdicts", "exchange_verdicts", "signals"),
        *_judged("toDateTime(stored_at)", retention.bodies_days, "bodies"),
        *(
            Term(table=f"{table}_{step}", since="at", days=retention.rollups_days)
            for table in ("verdicts", "exchange_verdicts", "exchanges", "signals")
            for step in ("hourly", "daily")
        ),
        Term(table="budget_daily", since="at", days=retention.rollups_days),
        *(
            Term(table=table, since=f"toDateTime({column})", days=records)
            for table, column in (
                ("schedule_events", "at"),
                ("context_ladders", "started_at"),
                ("context_rungs", "started_at"),
                ("node_snapshots", "at"),
                ("pages_sent", "at"),
            )
        ),
        # Caps are of one day, so what is older is a record like any other.
        Term(table="budget_spent", since="day", days=records),
    )


def _judged(since: str, days: int, *tables: str) -> tuple[Term, ...]:
    return tuple(Term(table=table, since=since, days=days, holds=True) for table in tables)


def term_changes(client: Client, retention: Retention) -> tuple[TermChange, ...]:
    """Return what would have to change in the tables that are there; changes nothing."""
    found = client.query(
        "SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()"
    )
    engines = {str(name): str(engine) for name, engine in found}
    changes = []
    for term in terms(retention):
        if term.table not in engines:
            continue
        days, as_meant = _in_force(engines[term.table], term)
        if not (as_meant and days == term.days):
            changes.append(TermChange(term=term, days_in_force=days))
    return tuple(changes)


def _in_force(engine: str, term: Term) -> tuple[int | None, bool]:
    """Return the days of a table's TTL, and whether it counts and spares as the term does."""
    ttl = _TTL.search(engine)
    days = _DAYS.search(ttl.group(1)) if ttl else None
    if ttl is None or days is None:
        return None, False
    as_meant = term.since in ttl.group(1) and ("held" in ttl.group(1)) == term.holds
    return int(days.group(1) or days.group(2)), as_meant


def apply_terms(client: Client, retention: Retention) -> tuple[TermChange, ...]:
    """Put the configured terms in force, say so in the log, and return what was changed."""
    changes = term_changes(client, retention)
    for change in changes:
        client.command(change.term.statement)
        level = logging.WARNING if change.is_shorter else logging.INFO
        _log.log(level, "%s", change)
    return changes
