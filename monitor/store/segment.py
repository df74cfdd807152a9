"""What a spool segment holds: one line for each put, which says itself what is in it.

A line is ``length crc32 payload`` and a newline: eight hexadecimal digits, eight more, and JSON.
Its length finds its end even where a newline is damaged, and a newline the next line where a length
is: damage costs the line it is in. Columns are named, so that another version reads them too.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from zlib import crc32

from monitor.errors import StoreError
from monitor.store.client import Row
from monitor.store.rows import TABLES, AnyRow, columns, values

_HEADER = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{8}) ")
_HEADER_BYTES = 18
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KINDS: dict[str, type[AnyRow]] = {table: kind for kind, table in TABLES.items()}

Convert = Callable[[Any], Any]


class UnreadableError(StoreError):
    """A line is not what was put; the message holds nothing of what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows of one table, each with a value for every column."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What was put at once, and when."""

    at: datetime
    blocks: tuple[Block, ...]

    @property
    def rows(self) -> int:
        """How many rows it holds."""
        return sum(len(block.rows) for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes of a segment from ``start`` to ``end``: a ``whole`` line, or what is none.

    ``content`` is what a whole line says, else the bytes themselves.
    """

    start: int
    end: int
    content: bytes
    whole: bool


def line_of(rows: Sequence[AnyRow], at: datetime) -> bytes:
    """Return the line of rows put together. Raises ``TypeError`` for a value of a wrong type."""
    blocks = [
        Block(
            table=TABLES[kind],
            columns=columns(kind),
            rows=tuple(values(row) for row in rows if type(row) is kind),
        )
        for kind in dict.fromkeys(type(row) for row in rows)
    ]
    return encoded(Put(at=at, blocks=tuple(blocks)))


def encoded(put: Put) -> bytes:
    """Return the line of a put."""
    said = {
        "at": _micros(put.at),
        "tables": {
            block.table: {"columns": block.columns, "rows": _packed(block)} for block in put.blocks
        },
    }
    payload = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
    length = b"%08x" % len(payload)
    return b"%s %08x %s\n" % (length, _checksum(length, payload), payload)


def pieces(data: bytes) -> Iterator[Piece]:
    """Return what a segment is made of, in order and without gaps."""
    start = 0
    while start < len(data):
        stop = _end_of_line(data, start)
        if stop is None:
            newline = data.find(b"\n", start)
            end = len(data) if newline < 0 else newline + 1
            yield Piece(start=start, end=end, content=data[start:end], whole=False)
        else:
            end = min(stop + 1, len(data))
            content = data[start + _HEADER_BYTES : stop]
            yield Piece(start=start, end=end, content=content, whole=True)
        start = end


def decoded(piece: Piece) -> Put:
    """Return what a line says. Raises ``UnreadableError`` unless every value is of its type."""
    if not piece.whole:
        msg = "damaged: its length or checksum does not fit"
        raise UnreadableError(msg)
    try:
        said = json.loads(piece.content)
        blocks = tuple(_block(table, block) for table, block in said["tables"].items())
        return Put(at=_instant(said["at"]), blocks=blocks)
    except UnreadableError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        msg = f"not a line of rows ({type(error).__name__})"
        raise UnreadableError(msg) from error
    except RecursionError as error:
        msg = "nested too deeply"
        raise UnreadableError(msg) from error


def _end_of_line(data: bytes, start: int) -> int | None:
    """Return where the payload of a whole line ends, or ``None``."""
    header = _HEADER.match(data, start)
    if header is None:
        return None
    length, checksum = header.groups()
    end = header.end() + int(length, 16)
    if end > len(data) or _checksum(length, data[header.end() : end]) != int(checksum, 16):
        return None
    return end


def _checksum(length: bytes, payload: bytes) -> int:
    return crc32(payload, crc32(length))


def _packed(block: Block) -> list[list[Any]]:
    packers = [_codecs(block.table)[name][0] for name in block.columns]
    return [[pack(value) for pack, value in zip(packers, row, strict=True)] for row in block.rows]


def _block(table: str, said: Mapping[str, Any]) -> Block:
    if table not in _KINDS:
        msg = "a table that this version does not know"
        raise UnreadableError(msg)
    named = tuple(said["columns"])
    known = _codecs(table)
    if not set(named) <= set(known) or len(set(named)) != len(named):
        msg = f"{table}: columns that this version does not know"
        raise UnreadableError(msg)
    unpackers = [known[name][1] for name in named]
    rows = tuple(
        tuple(unpack(value) for unpack, value in zip(unpackers, row, strict=True))
        for row in said["rows"]
    )
    return Block(table=table, columns=named, rows=rows)


@cache
def _codecs(table: str) -> dict[str, tuple[Convert, Convert]]:
    """Return how values of each column become JSON, and JSON becomes values again."""
    kind = _KINDS[table]
    hints = get_type_hints(kind)
    return {
        column: _codec(hints[field])
        for column, field in zip(columns(kind), kind.__dataclass_fields__, strict=True)
    }


def _codec(hint: Any) -> tuple[Convert, Convert]:
    if get_origin(hint) is tuple:
        pack, unpack = _codec(get_args(hint)[0])
        return (
            lambda value: [pack(each) for each in value],
            lambda value: [unpack(each) for each in _exactly(list)(value)],
        )
    if get_origin(hint) is UnionType:
        (inner,) = (each for each in get_args(hint) if each is not type(None))
        pack, unpack = _codec(inner)
        return (
            lambda value: None if value is None else pack(value),
            lambda value: None if value is None else unpack(value),
        )
    return _PLAIN[hint]


def _exactly(kind: type) -> Convert:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            msg = f"a {type(value).__name__} where a {kind.__name__} belongs"
            raise TypeError(msg)
        return value

    return check


def _text(value: Any) -> str:
    if not isinstance(value, str):
        msg = f"a {type(value).__name__} where text belongs"
        raise TypeError(msg)
    return str(value)


def _micros(instant: Any) -> int:
    return int((instant - _EPOCH) // _MICROSECOND)


def _instant(micros: Any) -> datetime:
    return _EPOCH + int(_exactly(int)(micros)) * _MICROSECOND


_PLAIN: dict[Any, tuple[Convert, Convert]] = {
    str: (_text, _exactly(str)),
    bool: (bool, _exactly(bool)),
    int: (lambda value: int(operator.index(value)), _exactly(int)),
    float: (float, _exactly(float)),
    datetime: (_micros, _instant),
    date: (date.toordinal, lambda value: date.fromordinal(_exactly(int)(value))),
}
