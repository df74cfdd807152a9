"""Lines of the spool: everything comes back as it was, and damage stays where it is."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.store.rows import TABLES, AnyRow, TrialRow, columns, values
from monitor.store.segment import Piece, UnreadableError, decoded, line_of, pieces
from tests.unit.store.samples import NOW
from tests.unit.store.spooling import rows

KINDS: list[type[AnyRow]] = list(TABLES)
HOSTILE = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["\n", "\x00", '"}\n', "\u2028", "\ud800", "00000002 00000000 {}\n", "'; DROP"]
    ),
)
INT64 = st.integers(-(2**63), 2**63 - 1)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: HOSTILE,
    int: INT64,
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    datetime: st.datetimes(timezones=st.just(UTC)),
    date: st.dates(),
}


def of_hint(hint: Any) -> st.SearchStrategy[Any]:
    if get_origin(hint) is tuple:
        return st.lists(of_hint(get_args(hint)[0]), max_size=3).map(tuple)
    if get_origin(hint) is UnionType:
        (inner,) = (each for each in get_args(hint) if each is not type(None))
        return st.none() | of_hint(inner)
    return PLAIN[hint]


def of_kind(kind: type[AnyRow]) -> st.SearchStrategy[AnyRow]:
    return st.builds(kind, **{name: of_hint(hint) for name, hint in get_type_hints(kind).items()})


ANY_ROWS = st.lists(
    st.sampled_from(KINDS).flatmap(of_kind),
    min_size=1,
    max_size=4,
)


def told(line: bytes) -> list[tuple[str, tuple[str, ...], Any]]:
    """Return what the blocks of a line hold."""
    (piece,) = pieces(line)
    put = decoded(piece)
    assert put.at == NOW
    return [(block.table, block.columns, row) for block in put.blocks for row in block.rows]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=15)
def test_a_row_of_every_table_comes_back_as_the_database_takes_it(
    kind: type[AnyRow], data: st.DataObject
) -> None:
    row = data.draw(of_kind(kind))
    line = line_of([row], NOW)
    assert line.count(b"\n") == 1
    assert told(line) == [(TABLES[kind], columns(kind), values(row))]


@given(ANY_ROWS)
@settings(max_examples=30)
def test_a_put_of_several_tables_is_one_line(put: list[AnyRow]) -> None:
    found = told(line_of(put, NOW))
    for row in put:
        found.remove((TABLES[type(row)], columns(type(row)), values(row)))
    assert found == []


LINES = [line_of(rows(2, 10 * number), NOW) for number in range(4)]
SEGMENT = b"".join(LINES)


def readable(data: bytes) -> list[Any]:
    """Return the puts of a segment that can be read."""
    found = []
    for piece in pieces(data):
        try:
            found.append(decoded(piece))
        except UnreadableError:
            continue
    return found


PUTS = readable(SEGMENT)


@given(st.integers(0, len(SEGMENT) - 1), st.integers(1, 255))
@settings(max_examples=400)
def test_a_damaged_byte_costs_its_own_line_at_most_and_never_makes_another(
    place: int, change: int
) -> None:
    damaged = bytearray(SEGMENT)
    damaged[place] ^= change
    found = readable(bytes(damaged))
    start = 0
    for line, put in zip(LINES, PUTS, strict=True):
        end = start + len(line)
        assert put in found or start <= place < end
        start = end
    assert all(put in PUTS for put in found)
    assert len(found) >= len(PUTS) - 1


@given(st.integers(0, len(SEGMENT)))
def test_what_is_cut_off_costs_the_last_line_at_most(end: int) -> None:
    found = readable(SEGMENT[:end])
    assert found == PUTS[: len(found)]
    whole = sum(len(line) for line in LINES[: len(found)])
    assert whole <= end + 1
    assert end < whole + len(LINES[min(len(found), len(LINES) - 1)])


@given(st.binary(max_size=300))
def test_pieces_of_anything_leave_no_gap(data: bytes) -> None:
    found = list(pieces(data + SEGMENT + data))
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found)][:-1]
    assert not found or found[-1].end == len(SEGMENT) + 2 * len(data)


def framed(said: Any) -> Piece:
    """Return a whole line that says something; its checksum is right."""
    payload = said if isinstance(said, bytes) else json.dumps(said).encode()
    length = b"%08x" % len(payload)
    line = b"%s %08x %s\n" % (length, crc32(payload, crc32(length)), payload)
    (piece,) = pieces(line)
    assert piece.whole
    return piece


TRIAL = dict(
    zip(columns(TrialRow), ["id", "", "", "", "", "", 0, "", True, "", "", False], strict=True)
)


def trials(number: Any, **said: Any) -> dict[str, Any]:
    return {"at": 0, "tables": {"trials": {"number": number, "columns": said}}}


def trial_saying(**changes: Any) -> dict[str, Any]:
    return trials(1, **{name: [value] for name, value in (TRIAL | changes).items()})


def test_an_older_version_may_have_put_fewer_columns() -> None:
    (block,) = decoded(framed(trials(1, id=["t"], held=[True]))).blocks
    assert (block.columns, block.rows) == (("id", "held"), (("t", True),))
    assert decoded(framed(trial_saying())).rows == 1


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        [],
        {"at": 0},
        {"at": "noon", "tables": {}},
        {"at": 10**30, "tables": {}},
        {"at": 0, "tables": {"unheard_of": {"number": 0, "columns": {}}}},
        {"at": 0, "tables": {"trials": {"number": 1, "columns": ["id"]}}},
        {"at": 0, "tables": {"trials": {"columns": {"id": ["a"]}}}},
        trials(3, id=["a", "b"]),
        trials("1", id=["a"]),
        trials(True, id=["a"]),
        trials(1, id="a"),
        trials(-1, id=["a"]),
        trials(2**60, id=["a"]),
        trials(7),
        trial_saying(unheard_of=1),
        trial_saying(id=7),
        trial_saying(id=None),
        trial_saying(held=1),
        trial_saying(started_at="2026-11-02"),
        trial_saying(started_at=2**63),
        trial_saying(started_at=True),
    ],
    ids=lambda said: str(said)[:40],
)
def test_what_is_not_of_its_type_is_unreadable(said: Any) -> None:
    with pytest.raises(UnreadableError):
        decoded(framed(said))


def test_rows_that_are_all_the_same_are_as_many_as_they_were() -> None:
    assert len(told(line_of(rows(1) * 5, NOW))) == 5


@pytest.mark.parametrize(
    ("name", "value"), [("decided_at", NOW.replace(tzinfo=None)), ("id", 7), ("id", None)]
)
def test_a_value_of_a_wrong_type_is_not_put(name: str, value: object) -> None:
    (row,) = rows(1)
    wrong = type(row)(**{each: getattr(row, each) for each in row.__slots__} | {name: value})
    with pytest.raises(TypeError):
        line_of([wrong], NOW)
