"""Probes that rules of nodes name are asked first, the gentlest where none was chosen."""

from __future__ import annotations

from monitor.planning import profile_choices, with_shapes
from monitor.probes import PROBES


def test_a_shape_that_was_not_chosen_is_added_as_the_quick_profile_has_it() -> None:
    golden = profile_choices("standard", ["golden"])
    added = with_shapes(golden, ["boundary"])
    assert [choice.name for choice in added] == ["boundary", "golden"]
    assert added[0] == profile_choices("quick", ["boundary"])[0]


def test_a_shape_that_was_chosen_stays_as_it_is_and_goes_first() -> None:
    chosen = profile_choices("deep", ["golden", "boundary"])
    moved = with_shapes(chosen, ["boundary"])
    assert [choice.name for choice in moved] == ["boundary", "golden"]
    assert set(moved) == set(chosen)


def test_a_shape_is_a_probes_own_word_for_what_it_does() -> None:
    [added] = with_shapes((), [PROBES["border"].shape])
    assert added.name == "border"


def test_without_named_shapes_nothing_changes() -> None:
    chosen = profile_choices("standard")
    assert with_shapes(chosen, []) == chosen
