"""What a spool segment holds: one line for each put, which says itself what is in it.

A line is ``length crc32 payload`` and a newline: eight hexadecimal digits, eight more, and JSON.
Its length finds its end even where a newline is damaged, and a newline the next line where a length
is: damage costs the line it is in. Columns are named, so that another version reads them too.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import repeat
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from zlib import crc32

from monitor.errors import StoreError
from monitor.store.client import Row
from monitor.store.rows import TABLES, AnyRow, columns

_HEADER = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{8}) ")
_HEADER_BYTES = 18
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KINDS: dict[str, type[AnyRow]] = {table: kind for kind, table in TABLES.items()}

Convert = Callable[[Any], Any]


class UnreadableError(StoreError):
    """A line is not what was put; the message holds nothing of what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """So many lines side by side that cannot be read, and why the first of them cannot."""

    content: bytes
    lines: int
    why: str


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
            rows=tuple(map(_fields(TABLES[kind]), [row for row in rows if type(row) is kind])),
        )
        for kind in dict.fromkeys(type(row) for row in rows)
    ]
    return encoded(Put(at=at, blocks=tuple(blocks)))


@cache
def _fields(table: str) -> Callable[[AnyRow], Row]:
    return operator.attrgetter(*_KINDS[table].__dataclass_fields__)


def encoded(put: Put) -> bytes:
    """Return the line of a put."""
    said = {
        "at": _micros(put.at),
        "tables": {
            block.table: {"number": len(block.rows), "columns": _packed(block)}
            for block in put.blocks
        },
    }
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    payload = text.encode("utf-8", "replace")  # what is no character becomes a question mark
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


def sorted_out(found: Iterable[Piece]) -> tuple[list[Put], list[Unreadable]]:
    """Return what can be read of a segment, and what cannot: lines side by side as one."""
    puts: list[Put] = []
    runs: list[tuple[list[bytes], str]] = []
    goes_on = False
    for piece in found:
        try:
            puts.append(decoded(piece))
            goes_on = False
        except UnreadableError as error:
            if not goes_on:
                runs.append(([], str(error)))
            runs[-1][0].append(piece.content)
            goes_on = True
    return puts, [Unreadable(content=_joined(run), lines=len(run), why=why) for run, why in runs]


def _joined(lines: Sequence[bytes]) -> bytes:
    """Return lines as one text, each on its own; a single one stays as it is."""
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    return b"".join([*ended, lines[-1]])


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


def _packed(block: Block) -> dict[str, list[Any]]:
    codecs, number = _codecs(block.table), len(block.rows)
    values = dict(zip(block.columns, zip(*block.rows, strict=True), strict=True))
    packed = {name: codecs[name].packed(each) for name, each in values.items()}
    if all(len(each) < number for each in packed.values()):
        # Rows that are all the same: how many is said by one column at least.
        first = block.columns[0]
        packed[first] *= number
    return packed


def _block(table: str, said: Mapping[str, Any]) -> Block:
    if table not in _KINDS:
        msg = "a table that this version does not know"
        raise UnreadableError(msg)
    number, said_columns = _exactly(int)(said["number"]), said["columns"]
    known = _codecs(table)
    if not set(said_columns) <= set(known):
        msg = f"{table}: columns that this version does not know"
        raise UnreadableError(msg)
    if not any(len(said) == number for said in said_columns.values()):
        msg = f"{table}: not as many rows as it says"
        raise UnreadableError(msg)
    values = [known[name].unpacked(said, number) for name, said in said_columns.items()]
    return Block(table=table, columns=tuple(said_columns), rows=tuple(zip(*values, strict=True)))


@dataclass(frozen=True, slots=True)
class _Codec:
    """How the values of a column become JSON, and JSON becomes values again.

    Values of ``native`` types are the same in both, and whole columns of them are not looked at
    one by one: signals come by the dozen, as do their codes in arrays.
    """

    pack: Convert
    unpack: Convert
    native: frozenset[type] = frozenset()

    def packed(self, values: Sequence[Any]) -> list[Any]:
        """Return the column as JSON; only once what all rows have in common."""
        number = len(values)
        if number > 1 and values.count(values[0]) == number and len(set(map(type, values))) == 1:
            values = values[:1]
        if self.native.issuperset(map(type, values)):
            return list(values)
        return [self.pack(value) for value in values]

    def unpacked(self, said: Any, number: int) -> Iterable[Any]:
        """Return so many values again."""
        if type(said) is not list or len(said) not in (1, number):
            msg = f"not one value for each of {number} rows"
            raise TypeError(msg)
        values = said
        if not self.native.issuperset(map(type, said)):
            values = [self.unpack(value) for value in said]
        return values if len(said) == number else repeat(values[0], number)


@cache
def _codecs(table: str) -> dict[str, _Codec]:
    kind = _KINDS[table]
    hints = get_type_hints(kind)
    return {
        column: _codec(hints[field])
        for column, field in zip(columns(kind), kind.__dataclass_fields__, strict=True)
    }


def _codec(hint: Any) -> _Codec:
    if get_origin(hint) is tuple:
        return _list_of(_codec(get_args(hint)[0]))
    if get_origin(hint) is UnionType:
        (some,) = (each for each in get_args(hint) if each is not type(None))
        inner = _codec(some)
        return _Codec(
            lambda value: None if value is None else inner.pack(value),
            lambda value: None if value is None else inner.unpack(value),
            inner.native | {type(None)} if inner.native else frozenset(),
        )
    return _PLAIN[hint]


def _list_of(inner: _Codec) -> _Codec:
    def pack(value: Any) -> list[Any]:
        if inner.native.issuperset(map(type, value)):
            return list(value)
        return [inner.pack(each) for each in value]

    def unpack(value: Any) -> list[Any]:
        said: list[Any] = _exactly(list)(value)
        if inner.native.issuperset(map(type, said)):
            return said
        return [inner.unpack(each) for each in said]

    return _Codec(pack, unpack)


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


_PLAIN: dict[Any, _Codec] = {
    str: _Codec(_text, _exactly(str), frozenset({str})),
    bool: _Codec(bool, _exactly(bool), frozenset({bool})),
    int: _Codec(lambda value: int(operator.index(value)), _exactly(int), frozenset({int})),
    float: _Codec(float, _exactly(float), frozenset({float})),
    datetime: _Codec(_micros, _instant),
    date: _Codec(date.toordinal, lambda value: date.fromordinal(_exactly(int)(value))),
}
