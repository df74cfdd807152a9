"""A row of any kind, made from the types of its fields: for tests of what holds for every table."""

from __future__ import annotations

from dataclasses import fields
from datetime import date, datetime
from typing import Any, get_args, get_type_hints

from monitor.store.rows import AnyRow


def any_row(kind: type[AnyRow], number: int, at: datetime, **given: object) -> AnyRow:
    """Return a row whose instants are all ``at``, and whose texts are its own."""
    hints = get_type_hints(kind)
    values = {
        each.name: _value(each.name, hints[each.name], number, at)
        for each in fields(kind)
        if each.name not in given
    }
    known = {name: value for name, value in given.items() if name in hints}
    made: Any = kind
    row: AnyRow = made(**(values | known))
    return row


def _value(name: str, hint: Any, number: int, at: datetime) -> object:
    if type(None) in get_args(hint):
        return None
    if get_args(hint):
        return ()
    made: dict[object, object] = {
        str: f"{name}-{number}",
        int: number,
        float: 0.5,
        bool: False,
        datetime: at,
        date: at.date(),
    }
    return made[hint]
