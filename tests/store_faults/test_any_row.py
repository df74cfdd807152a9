"""No row, whatever is in it, holds up the others: it is written, or laid aside and counted."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from monitor.conventions import DropReason
from monitor.store import open_store
from monitor.store.rows import TABLES, AnyRow

EXTREMES: dict[Any, tuple[Any, ...]] = {
    str: ("", "\x00", "'; DROP TABLE verdicts; --", "\ud800", "x" * 1_000_000),
    int: (0, -1, 2**63 - 1, -(2**63), 2**64, -(2**70)),
    float: (0.0, -0.0, -1e300, 1e-310, 1e308),
    bool: (True, False),
    datetime: (
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1899, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2300, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, tzinfo=UTC),
    ),
    date: (date.min, date(1970, 1, 1), date(2200, 1, 1), date.max),
}
USUAL = {str: "x", int: 1, float: 0.5, bool: True, date: date(2026, 11, 2)}
USUAL[datetime] = datetime(2026, 11, 2, tzinfo=UTC)


def extremes(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is tuple:
        inner = extremes(get_args(hint)[0])
        return ((), inner, inner[:1] * 100)
    if get_origin(hint) is UnionType:
        (some,) = (each for each in get_args(hint) if each is not type(None))
        return (None, *extremes(some))
    return EXTREMES[hint]


def usual(hint: Any) -> Any:
    if get_origin(hint) is tuple:
        return ()
    if get_origin(hint) is UnionType:
        return None
    return USUAL[hint]


def rows_of(kind: type[AnyRow]) -> list[AnyRow]:
    """Return rows that are usual but for one extreme value each."""
    hints = get_type_hints(kind)
    plain = {field.name: usual(hints[field.name]) for field in fields(kind)}
    return [
        kind(**plain | {name: value}) for name, hint in hints.items() for value in extremes(hint)
    ]


def test_every_row_is_written_or_laid_aside(tmp_path: Path) -> None:
    put = 0
    with open_store(tmp_path / "store") as store:
        for kind in TABLES:
            rows = rows_of(kind)
            store.writer.put(rows)
            put += len(rows)
        store.writer.run(lambda _: None, patience_seconds=300)
        stats = store.writer.stats()
        assert (stats.queued_rows, stats.failed_inserts) == (0, 0)
        assert set(stats.dropped_rows) == {DropReason.UNWRITABLE}
        assert stats.written_rows + stats.dropped_rows[DropReason.UNWRITABLE] == put
    aside = list((tmp_path / "store" / "spool" / "quarantine").iterdir())
    assert len(aside) == stats.dropped_rows[DropReason.UNWRITABLE]
