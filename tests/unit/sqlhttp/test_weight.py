"""What is refused because nothing would end it; the corpora hold the spellings."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from monitor.sqlhttp.failures import RefusedError
from monitor.sqlhttp.functions import functions
from monitor.sqlhttp.weight import (
    MOST_EXPANSION,
    MOST_PATTERN_BYTES,
    MOST_REPEATS,
    PATTERNS,
    REPEATS,
    check_expansion,
    check_pattern,
    grows,
)
from tests.unit.sqlhttp.conftest import Served, error_of


def test_they_are_functions_that_are_offered() -> None:
    assert functions() >= PATTERNS.keys() | REPEATS.keys()


def test_every_function_of_patterns_is_known() -> None:
    """By their names: a new one of the engine is looked at."""
    telling = ("like", "match", "regexp", "extractall", "extractgroups")
    there = {name for name in functions() if any(part in name for part in telling)}
    harmless = {"multimatch", "regexpquotemeta", "matchphrase", "mismatches"}
    assert there - harmless - PATTERNS.keys() == set()


def test_a_pattern_may_be_as_long_as_is_said_wherever_it_comes_from(served: Served) -> None:
    for length, fine in ((MOST_PATTERN_BYTES, True), (MOST_PATTERN_BYTES + 1, False)):
        found = error_of(served, "SELECT 'a' LIKE {p:String}", p="a" * length)
        assert (found is None) is fine
        found = error_of(served, f"SELECT 'a' LIKE '{'a' * length}'")
        assert (found is None) is fine
    found = error_of(served, "SELECT 'a' LIKE concat({p:String}, {p:String})", p="ü" * 300)
    assert isinstance(found, RefusedError)


def test_the_longest_patterns_over_the_longest_texts_end_soon(served: Served) -> None:
    """What the bounds are for: none of these needs the twenty seconds that it would have."""
    for statement in (
        f"SELECT repeat('a', {MOST_REPEATS}) LIKE '{'%a' * (MOST_PATTERN_BYTES // 2)}'",
        f"SELECT match(repeat('a', {MOST_REPEATS}), '{'a?' * (MOST_PATTERN_BYTES // 2 - 1)}b')",
        f"SELECT editDistance(repeat('a', {MOST_REPEATS}), repeat('b', {MOST_REPEATS}))",
        f"SELECT position(repeat('a', {MOST_REPEATS}), concat(repeat('a', 5000), 'b'))",
    ):
        assert error_of(served, statement) is None


def function(name: str, *arguments: Any) -> dict[str, Any]:
    return {"type": "Function", "name": name, "arguments": {"children": list(arguments)}}


def literal(value: Any) -> dict[str, Any]:
    return {"type": "Literal", "value": {"field_type": type(value).__name__, "value": value}}


COLUMN = {"type": "Identifier", "name": "x"}


def refused(check: Any, *arguments: Any, **named: Any) -> bool:
    try:
        check(*arguments, **named)
    except RefusedError:
        return True
    return False


@given(count=st.integers(-5, 3 * MOST_REPEATS))
def test_how_often_something_may_be_repeated(count: int) -> None:
    much = count > MOST_REPEATS
    for said in (literal(count), function("least", COLUMN, literal(count))):
        assert refused(grows, "repeat", [COLUMN, said], within=False) is much
        assert refused(grows, "repeat", [COLUMN, said], within=True)
    for said in (COLUMN, function("greatest", COLUMN, literal(count)), literal(str(count))):
        assert refused(grows, "repeat", [COLUMN, said], within=False)
    assert not grows("lower", [COLUMN], within=True)


def test_patterns_in_odd_places() -> None:
    assert not refused(check_pattern, "like", [COLUMN], {})
    assert not refused(check_pattern, "like", [COLUMN, function("concat")], {})
    for odd in (COLUMN, function("if", literal("a")), {"type": "Subquery"}):
        assert refused(check_pattern, "like", [COLUMN, function("lower", odd)], {})


def select(tables: int, name: str = "a", **fields: Any) -> dict[str, Any]:
    named = [{"type": "TableIdentifier", "name": name}] * tables
    return {"type": "SelectQuery", "tables": {"children": named}, **fields}


def union(*selects: dict[str, Any]) -> dict[str, Any]:
    return {"type": "SelectWithUnionQuery", "list_of_selects": {"children": list(selects)}}


@given(times=st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_names_stand_for_what_they_name(times: list[int]) -> None:
    """One table named by the next so many times, and so on: a sum of products."""
    elements, expected = [], 1
    for place, each in enumerate(times):
        inside = union(select(each, f"a{place - 1}"))
        elements.append({"type": "WithElement", "name": f"a{place}", "subquery": inside})
        expected = 1 if place == 0 else 1 + each * expected
    tree = union(select(1, f"a{len(times) - 1}", **{"with": {"children": elements}}))
    assert refused(check_expansion, tree) is (1 + expected > MOST_EXPANSION)


def test_names_within_names_are_looked_at_once() -> None:
    """Two looks at each level would be a million at twenty."""
    tree = union(select(0))
    for level in range(60):
        named = {"type": "WithElement", "name": f"a{level}", "subquery": tree}
        tree = union(select(1, f"a{level}", **{"with": {"children": [named]}}))
    assert not refused(check_expansion, tree)
