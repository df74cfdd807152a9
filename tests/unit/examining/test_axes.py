"""Strata as cells: which differ from one in a single axis."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from monitor.examining.axes import Axis, cell_of, is_halved, neighbours
from monitor.probes.base import stratum

VALUES = {
    Axis.LENGTH: ("short", "pages", "long", "under-4096"),
    Axis.CONCURRENCY: ("c1", "c2", "c16"),
    Axis.CACHE: ("cold", "warm"),
    Axis.TRANSPORT: ("plain", "stream"),
    Axis.TENANTS: ("one", "pair"),
}
CELLS = st.sampled_from(["/".join(cell) for cell in product(*VALUES.values())])


def test_a_stratum_is_read_as_it_is_written() -> None:
    assert cell_of(stratum(length="long", concurrency=16, cache="warm")) == {
        Axis.LENGTH: "long",
        Axis.CONCURRENCY: "c16",
        Axis.CACHE: "warm",
        Axis.TRANSPORT: "plain",
        Axis.TENANTS: "one",
    }
    assert cell_of("somewhere else") is None
    assert neighbours("somewhere else", {"a/b/c/d/e": 1}) == {axis: [] for axis in Axis}


@given(CELLS, st.dictionaries(CELLS, st.integers(1, 9)))
def test_neighbours_differ_in_their_axis_alone_and_none_is_left_out(
    home: str, tokens: dict[str, int]
) -> None:
    found = neighbours(home, {**tokens, "no cell": 1})
    here = home.split("/")
    for axis, line in found.items():
        costs = [tokens[each.stratum] for each in line]
        assert costs == sorted(costs)
        place = list(Axis).index(axis)
        for each in line:
            there = each.stratum.split("/")
            assert there[place] == each.value != here[place]
            assert there[:place] + there[place + 1 :] == here[:place] + here[place + 1 :]
    near = {name for name in tokens if sum(map(str.__ne__, name.split("/"), here)) == 1}
    assert {each.stratum for line in found.values() for each in line} == near


def test_only_what_has_an_order_is_halved() -> None:
    strata = {f"{length}/c1/cold/plain/one": size for size, length in enumerate("abcdef")}
    line = neighbours("a/c1/cold/plain/one", strata)[Axis.LENGTH]
    assert is_halved(Axis.LENGTH, line)
    assert not is_halved(Axis.LENGTH, line[:3])
    assert not is_halved(Axis.CACHE, line)
