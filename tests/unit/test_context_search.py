"""The search for the largest verified size: where it ends, and what it never claims."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.ladder import (
    COLD_EVERY,
    Read,
    Rung,
    Search,
    most_rungs,
    next_size,
    seen_rate,
    standing,
)

BASE = 300
FAULTS = (Read.REFUSED, Read.TRUNCATED, Read.REPLACED, Read.UNCLEAR, Read.NO_ANSWER)


def climb(search: Search, oracle, base: int = BASE) -> list[Rung]:
    """Ask until the search is done; a search that never ends fails."""
    rungs = [Rung(size=base, read=Read.VERIFIED) for _ in range(search.repeats)]
    for _ in range(most_rungs(search, base)):
        wanted = next_size(search, rungs)
        if wanted is None:
            return rungs
        rungs.append(Rung(size=wanted.size, read=oracle(wanted.size), cold=wanted.cold))
    assert next_size(search, rungs) is None, rungs
    return rungs


SEARCHES = st.builds(
    Search,
    candidates=st.lists(st.integers(BASE + 1, 2_000_000), min_size=1, max_size=14, unique=True).map(
        tuple
    ),
    resolution=st.integers(1, 20_000),
    share=st.sampled_from((0.0, 0.01, 0.2)),
    guesses=st.lists(st.integers(BASE + 1, 2_000_000), max_size=4).map(tuple),
    repeats=st.integers(1, 4),
    shared=st.booleans(),
    thorough=st.booleans(),
)


@given(SEARCHES, st.integers(0, 2_000_001), st.sampled_from(FAULTS))
def test_it_finds_the_size_from_which_on_a_target_fails(search, cut, fault) -> None:
    rungs = climb(search, lambda size: Read.VERIFIED if size <= cut else fault)
    stands = standing(search, rungs)
    top = max(search.candidates)
    assert stands.islands == ()
    assert stands.verified <= max(cut, BASE)
    if top <= cut:
        assert (stands.verified, stands.stopped) == (top, None)
    else:
        assert stands.stopped is not None
        assert stands.stopped > cut
        assert (
            stands.stopped - stands.verified <= search.fine(stands.stopped)
            or stands.verified == cut
        )
        assert stands.stopped_by is fault


@given(SEARCHES, st.integers(0, 10**9), st.sampled_from((0.1, 0.5, 0.9)))
def test_whatever_a_target_does_it_ends_and_claims_nothing_above_a_fault(
    search, seed, rate
) -> None:
    rng = Random(seed)
    rungs = climb(search, lambda size: rng.choice(FAULTS) if rng.random() < rate else Read.VERIFIED)
    stands = standing(search, rungs)
    below = [r for r in rungs if r.size <= stands.verified]
    assert all(rung.read is Read.VERIFIED for rung in below)
    whole = [r for r in rungs if r.size == stands.verified]
    assert len(whole) >= search.repeats
    assert any(rung.cold for rung in whole)
    for island in stands.islands:
        assert stands.stopped is not None
        assert island > stands.stopped
        assert all(r.read is Read.VERIFIED for r in rungs if r.size == island)


@given(SEARCHES, st.integers(0, 2_000_001))
def test_one_in_five_is_cold_and_all_are_without_a_shared_beginning(search, cut) -> None:
    rungs = climb(search, lambda size: Read.VERIFIED if size <= cut else Read.TRUNCATED)
    cold = sum(rung.cold for rung in rungs)
    assert cold * COLD_EVERY >= len(rungs)
    if not search.shared:
        assert cold == len(rungs)


def test_a_sound_target_takes_one_prompt_beyond_the_base() -> None:
    search = Search(candidates=(3900, 2048, 1024), resolution=40)
    assert [r.size for r in climb(search, lambda size: Read.VERIFIED)] == [BASE, 3900]


def test_a_pool_that_is_a_candidate_is_found_in_three_prompts_of_large_size() -> None:
    search = Search(candidates=(1_048_000, 681_000, 524_288, 262_144), resolution=10_000)
    rungs = climb(search, lambda size: Read.VERIFIED if size < 681_500 else Read.REPLACED)
    assert [r.size for r in rungs][:3] == [BASE, 1_048_000, 681_000]
    assert standing(search, rungs).verified > 671_000


def test_a_cut_at_a_likely_limit_takes_one_guess_and_no_bisection() -> None:
    search = Search(candidates=(8000, 3900), guesses=(4160,), resolution=300)
    rungs = climb(search, lambda size: Read.VERIFIED if size <= 4096 else Read.TRUNCATED)
    assert [r.size for r in rungs] == [BASE, 8000, 3900, 4160]


def test_what_is_verified_above_a_fault_is_an_island() -> None:
    search = Search(candidates=(8000, 4000, 2000), resolution=100, thorough=True)
    rungs = climb(search, lambda size: Read.TRUNCATED if 3000 < size < 5000 else Read.VERIFIED)
    stands = standing(search, rungs)
    assert stands.islands == (8000,)
    assert 2900 <= stands.verified <= 3000
    assert stands.stopped_by is Read.TRUNCATED


def test_one_fault_among_repeats_is_a_fault() -> None:
    search = Search(candidates=(1000,), resolution=50, repeats=3)
    base = [Rung(size=BASE, read=Read.VERIFIED)] * 3
    mixed = [*base, *(Rung(size=1000, read=r) for r in (Read.VERIFIED, Read.UNCLEAR))]
    assert standing(search, mixed).stopped_by is Read.UNCLEAR
    worse = [*mixed, Rung(size=1000, read=Read.REPLACED)]
    assert standing(search, worse).stopped_by is Read.REPLACED


def test_too_few_repeats_verify_nothing() -> None:
    search = Search(candidates=(1000,), resolution=50, repeats=3)
    assert standing(search, [Rung(size=1000, read=Read.VERIFIED)] * 2).verified == 0


def test_a_band_that_shows_nothing_is_never_asked() -> None:
    bands = ((4000, 4200),)
    search = Search(candidates=(8200, 3999), resolution=10, bands=bands)
    rungs = climb(search, lambda size: Read.VERIFIED if size < 4100 else Read.REFUSED)
    assert all(not 4000 <= r.size <= 4200 for r in rungs)
    assert standing(search, rungs).verified == 3999


def test_a_cached_top_is_asked_again_cold() -> None:
    search = Search(candidates=(3900,), resolution=40, shared=True)
    rungs = climb(search, lambda size: Read.VERIFIED)
    assert [(r.size, r.cold) for r in rungs] == [(BASE, True), (3900, False), (3900, True)]


def test_a_top_that_fails_cold_is_not_verified() -> None:
    search = Search(candidates=(3900,), resolution=1000, shared=True)
    asked = []

    def oracle(size: int) -> Read:
        asked.append(size)
        again = size == 3900 and asked.count(size) > 1
        return Read.REPLACED if again else Read.VERIFIED

    rungs = climb(search, oracle)
    assert 2900 <= standing(search, rungs).verified < 3900
    assert standing(search, rungs).stopped == 3900


@pytest.mark.parametrize(("repeats", "rate"), [(1, 0.95), (5, 0.45), (29, 0.099)])
def test_how_rare_a_fault_repeats_show(repeats: int, rate: float) -> None:
    assert seen_rate(repeats, 0.05) == pytest.approx(rate, abs=0.002)
    assert (1 - seen_rate(repeats, 0.05)) ** repeats == pytest.approx(0.05)
