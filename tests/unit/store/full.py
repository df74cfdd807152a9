"""Rows of every table, with texts that break what is careless; the same for the same seed."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from random import Random
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from monitor.model import Outcome, Status, VerdictClass
from monitor.store import Action, Store
from monitor.store.rows import TABLES, AnyRow, AuditRow, BudgetRow, FindingRow, MarkerRow

# Retention deletes what is old, so the rows are of the last days, whenever that is.
NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
HOSTILE = (
    *("plain", "", 'it\'s "quoted" twice\\', "two\nlines\r\n", "a\x00nul", "tab\tand, comma"),
    *("=HYPERLINK(1)", "+1", "-1", "@x", "\ud800 half a pair", "é 漢 \U0001f600", "\\N", "NULL"),
    *("{x:String}", "'; DROP TABLE verdicts --", "\u202eright to left", "%s %d", " spaces "),
)
# What must be one of ours to be read back as a record.
ONE_OF = {
    "outcome": tuple(each.value for each in Outcome),
    "verdict_class": tuple(each.label for each in VerdictClass),
    "opened_class": tuple(each.label for each in VerdictClass),
    "status": tuple(each.value for each in Status),
    "state": ("needs_review", "confirmed", "dismissed", "resolved"),
}
TARGETS = ("glm", 'it\'s "a" target', "kimi")
DAYS = 3


def rows_of_every_table(number: int = 20, seed: int = 1) -> list[AnyRow]:
    """Return ``number`` rows of each table but the audit log, whose links belong together."""
    random = Random(seed)
    rows = [_row(kind, n, random) for kind in TABLES if kind is not AuditRow for n in range(number)]
    # Versions of one row, of which the highest counts.
    versions = [_version(row) for row in rows if isinstance(row, BudgetRow | FindingRow)]
    return [*rows, *versions[::2]]


def fill(store: Store, number: int = 20, seed: int = 1) -> None:
    """Put rows into every table, and a short audit chain."""
    rows = rows_of_every_table(number, seed)
    for half in range(2):  # so that there is something to merge
        store.writer.put(rows[half::2])
        store.flush()
    for n in range(3):
        at = NOW + timedelta(seconds=n)
        store.audit.append(Action.CALIBRATE, f"target {n}", actor="o'brien", at=at)
    store.flush()


def _row(kind: type[AnyRow], number: int, random: Random) -> AnyRow:
    hints = get_type_hints(kind)
    values = {f.name: _value(f.name, hints[f.name], number, random) for f in fields(kind)}
    if kind is MarkerRow:
        values["sealed"] = ""  # as if expired: nothing else would be read back as a marker
    return kind(**values)


def _version(row: BudgetRow | FindingRow) -> AnyRow:
    values = {f.name: getattr(row, f.name) for f in fields(row)}
    changed = "why" if isinstance(row, FindingRow) else "tokens"
    values |= {"version": row.version + 1, changed: "closed" if changed == "why" else 7}
    return type(row)(**values)


def _value(name: str, kind: Any, number: int, random: Random) -> Any:
    if name in {"id", "reservation", "trial", "verdict", "ladder", "detector"}:
        return f"{name}-{number:06d}"
    if name in {"target", "name"}:
        return TARGETS[number % len(TARGETS)]
    if name in ONE_OF:
        return random.choice(ONE_OF[name])
    if isinstance(kind, UnionType):
        inner = next(each for each in get_args(kind) if each is not type(None))
        return None if random.random() < 0.3 else _value(name, inner, number, random)
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        return tuple(_value(name, inner, number, random) for _ in range(random.randrange(4)))
    return _plain(name, kind, number, random)


def _plain(name: str, kind: type, number: int, random: Random) -> Any:
    if kind is datetime:
        milliseconds = random.randrange(DAYS * 86_400_000)
        return NOW - timedelta(milliseconds=milliseconds)
    if kind is date:
        return NOW.date() - timedelta(days=number % DAYS)
    if kind is bool:
        return random.random() < 0.5
    if kind is int:
        return random.getrandbits(64 if name == "part_hashes" else 31)
    if kind is float:
        return random.choice((0.0, 1.5, -2.25, 1e-9, random.random()))
    return random.choice(HOSTILE)
