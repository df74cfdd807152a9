"""Which types may be named, held against the engine that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from monitor.sqlhttp.typenames import TYPES, is_structure, is_type, names_no_odd_type

# Made of shapes of the world, and what nobody sends.
_NOT_OFFERED = {
    *("aggregatefunction", "simpleaggregatefunction", "geometry", "linestring", "multilinestring"),
    *("multipoint", "multipolygon", "point", "polygon", "ring", "qbit", "set", "year", "bit"),
    *("binary", "bytea", "fixed", "nchar", "nvarchar", "varbinary", "varchar2", "int1"),
    *("longblob", "longtext", "mediumblob", "mediumint", "mediumtext", "tinyblob", "tinytext"),
}
_PLAIN = ("String", "UInt8", "int unsigned", "DOUBLE PRECISION", "DateTime64(3, 'UTC')", "UUID")
_AROUND = ("Array({})", "Map(String, {})", "Tuple(a {}, {})", "Nullable({})", "Nested(`b c` {})")


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    connect: Any = chdb.connect
    connection = connect(":memory:")
    yield connection
    connection.close()


def test_every_type_of_the_engine_is_decided_about(engine: Any) -> None:
    said = engine.query("SELECT lower(name) FROM system.data_type_families", "TSV").bytes()
    there = set(said.decode().splitlines())
    assert there >= TYPES
    # What two words name, one word of it names too.
    assert not {name for name in there - TYPES - _NOT_OFFERED if " " not in name}
    assert there >= _NOT_OFFERED
    assert not {name for name in TYPES if "aggregate" in name}


def types(depth: int = 3) -> st.SearchStrategy[str]:
    """Draw types that people write."""
    plain = st.sampled_from(_PLAIN)
    if not depth:
        return plain
    inner = types(depth - 1)
    around = st.sampled_from(_AROUND)
    return st.one_of(plain, st.builds(lambda a, b: a.replace("{}", b), around, inner))


@given(kind=types(), gap=st.sampled_from((" ", "\n", "\t  ")))
def test_types_may_be_named(kind: str, gap: str) -> None:
    assert is_type(kind.replace(", ", f",{gap}").replace("(", f"{gap}({gap}"))
    assert is_structure(f"a {kind}, `b c` {kind}")
    assert names_no_odd_type(f"j.a.:`{kind}`")


_NOISE = st.sampled_from(
    ("/**/", "/* ( */", "--x\n", "#x\n", "`", '"', "\\", "\n", " ", "\0", "\x0b", "\xa0", "''", "e")
)


@given(
    first=st.lists(_NOISE, max_size=3).map("".join),
    last=st.lists(_NOISE, max_size=3).map("".join),
    around=st.sampled_from(("{}", *_AROUND, "{}, b UInt8", "Variant({}, String)", "JSON(a {})")),
    name=st.sampled_from(("AggregateFunction", "aggregatefunction", "SimpleAggregateFunction")),
)
def test_no_spelling_names_a_state(first: str, last: str, around: str, name: str) -> None:
    said = around.replace("{}", f"{first}{name}{last}(max, UInt64)")
    assert not is_type(said)
    assert not is_structure(f"a {said}")
    assert not is_structure(f"a{said}")
    assert not names_no_odd_type(f"j.:{said}")


_STATES = ("AggregateFunction", "AggregateFunction(max, UInt64)", " AggregateFunction ")
_SIGNS = (*"(),`'\"= 1\n\\", "/**/", "--", "a ", "`a` ", "max", "UInt64")
_PIECES = st.sampled_from((*_STATES, *_SIGNS))


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
@given(kind=types(), pieces=st.lists(st.tuples(st.floats(0, 1), _PIECES), max_size=3))
def test_what_may_be_named_is_no_state_to_the_engine(
    engine: Any, kind: str, pieces: list[tuple[float, str]]
) -> None:
    for share, piece in pieces:
        place = int(share * len(kind))
        kind = kind[:place] + piece + kind[place:]
    assume(is_type(kind))
    escaped = kind.replace("\\", "\\\\").replace("'", "\\'")
    try:
        sql = f"SELECT toTypeName(defaultValueOfTypeName('{escaped}'))"
        found = engine.query(sql, "TSVRaw").bytes().decode()
    except RuntimeError:
        return  # the engine does not take all of it
    assert "AggregateFunction(" not in found


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "(", "String)", "String(", "String String", "Array(", "Array(String", "Map(,)"),
        *("Strings", "Array(String,)", "'String'", "1", "String, String", "Enum8('a' = 'b')"),
        *("FixedString(1.5)", "FixedString(0x10)", "String;", "String -- x", "Tuple(a b c)"),
        *("Array(" * 30 + "String" + ")" * 30, "Tuple(" + "a String, " * 500 + "b String)"),
    ],
)
def test_what_is_no_type(text: str) -> None:
    assert not is_type(text)


def test_structures_and_names() -> None:
    assert is_structure("a UInt8, b Enum8('x' = 1, 'it''s' = -2)")
    for text in (
        "",
        "a",
        "a UInt8,",
        "UInt8(1)",
        "a UInt8 b UInt8",
        "a-b UInt8",
        "aggregatefunction",
    ):
        assert not is_structure(text)
    for name in ("a", "a.b", "a:b", "", "ü.x", "j.:Int64"):
        assert names_no_odd_type(name)
    for name in ("j.:x", "j.a.:", ":Agg", "j.:`Int64`.:x"):
        assert not names_no_odd_type(name)
