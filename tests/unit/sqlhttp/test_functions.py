"""The lists of functions against all that the engine has: a new one is decided about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chdb
import pytest

from monitor.sqlhttp.failures import Code
from monitor.sqlhttp.functions import (
    TABLE_FUNCTIONS,
    aggregates,
    functions,
    may_aggregate,
    may_call,
    named_aggregate,
)

LANGUAGE = {"lambda", "untuple", "grouping", "exists"}
REFUSED = Path(__file__).parent / "refused_functions.txt"


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    connect: Any = chdb.connect
    connection = connect(":memory:")
    yield connection
    connection.close()


def names(engine: Any, sql: str) -> set[str]:
    return set(engine.query(sql, "TSV").bytes().decode().split())


def refused() -> set[str]:
    lines = REFUSED.read_text("utf-8").splitlines()
    return set(" ".join(line for line in lines if not line.startswith("#")).split())


def test_every_function_of_the_engine_is_decided_about(engine: Any) -> None:
    there = names(engine, "SELECT name FROM system.functions")
    allowed = functions() | aggregates()
    undecided = {name for name in there if name.lower() not in allowed} - refused()
    assert not undecided, "allow them in monitor/sqlhttp, or say in refused_functions.txt why not"
    assert refused() <= there, "no longer functions of the engine"
    small = {name.lower() for name in there} | LANGUAGE
    assert not allowed - small, "allowed, but no functions of the engine"


def test_codes_have_the_names_that_the_engine_gives_them(engine: Any) -> None:
    for code in Code:
        sql = f"SELECT errorCodeToName({code.value})"
        assert names(engine, sql) == {code.name}


def test_no_function_is_on_both_sides() -> None:
    assert not {name for name in refused() if may_call(name)}


def test_combinators_are_those_of_the_engine(engine: Any) -> None:
    for combinator in names(engine, "SELECT name FROM system.aggregate_function_combinators"):
        assert may_aggregate(f"sum{combinator}"), combinator


@pytest.mark.parametrize(
    ("name", "may"),
    [
        ("sumIf", True),
        ("quantilesTDigestStateIf", True),
        ("uniqMergeOrNull", True),
        ("COUNT", True),
        ("aggThrowIf", False),
        ("flameGraphState", False),
        ("file", False),
        ("fileIf", False),
        ("FILE", False),
        ("OrNull", False),
        ("", False),
        ("lower", True),
    ],
)
def test_what_may_be_called(name: str, may: bool) -> None:
    assert may_call(name) is may


def test_names_of_aggregates_in_texts() -> None:
    assert named_aggregate("quantile(0.9)")
    assert named_aggregate(" sum ")
    for text in ("file", "aggThrow(1)", "", "(sum)", "1", "lower"):
        assert not named_aggregate(text)


def test_functions_in_place_of_tables_are_harmless(engine: Any) -> None:
    there = names(engine, "SELECT name FROM system.table_functions")
    assert there >= TABLE_FUNCTIONS
    assert not TABLE_FUNCTIONS & {"file", "url", "python", "merge", "input", "format", "loop"}
    assert len(TABLE_FUNCTIONS) == 7
