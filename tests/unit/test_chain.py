"""How links point back: any link is reached from any later one in few steps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from math import log2

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.chain import Jumps, hash_of, instant_text, jump_of, leads_to


def steps_back(later: int, earlier: int) -> int:
    """Count the steps from one link to another, going as far back as none goes too far."""
    steps = 0
    while later > earlier:
        jump = jump_of(later)
        later = jump if jump >= earlier and jump else later - 1
        steps += 1
    return steps


@given(later=st.integers(1, 10**9), back=st.integers(0, 10**9))
@settings(max_examples=300)
def test_the_way_back_is_short(later: int, back: int) -> None:
    earlier = max(1, later - back)
    bits = log2(later) + 1
    assert steps_back(later, earlier) <= bits * (bits + 1) / 2


@given(length=st.integers(1, 600))
@settings(max_examples=60)
def test_what_the_next_link_points_to_is_always_known(length: int) -> None:
    jumps: Jumps[str] = Jumps()
    for number in range(1, length + 1):
        jumps.put(number, f"hash {number}")
        jump = jump_of(number + 1)
        assert jumps.get(jump) == (f"hash {jump}" if jump else None)
        assert [n for n in range(1, number + 1) if jumps.get(n)] == list(leads_to(number))
        assert len(leads_to(number)) <= log2(number) + 1


@given(length=st.integers(1, 3000))
@settings(max_examples=30)
def test_after_a_restart_what_is_read_back_is_enough(length: int) -> None:
    jumps: Jumps[int] = Jumps()
    for number in leads_to(length):
        jumps.put(number, number)
    for number in range(length + 1, length + 80):
        assert jumps.get(jump_of(number)) == (jump_of(number) or None)
        jumps.put(number, number)


def test_with_links_missing_no_more_is_remembered() -> None:
    jumps: Jumps[int] = Jumps()
    for number in range(1, 20_001, 2):
        jumps.put(number, number)
    assert sum(jumps.get(number) is not None for number in range(1, 20_001)) <= log2(20_000) + 1


@dataclass(frozen=True)
class ALink:
    seq: int = 2
    actor: str = "Zoë"
    action: str = "resolve"
    object: str = "F-1"
    details: str = '{"n":1}'
    previous: str = "ab"


def test_the_hash_is_of_a_documented_text() -> None:
    # printf '%s' '["davylamp-audit-1",2,"2026-11-02T12:30:15.250Z","Zo\u00eb","resolve","F-1",
    #   "{\"n\":1}","ab"]' (one line) | sha256sum
    assert hash_of(ALink(), "2026-11-02T12:30:15.250Z") == (
        "cce67387c0e5512bfec20d28102935ec6572cc1035dc7350f0dd6f0b93e6e709"
    )


def test_an_instant_is_written_in_utc_and_cut_to_milliseconds() -> None:
    berlin = timezone(timedelta(hours=1))
    assert instant_text(datetime(2026, 11, 2, 13, 30, 15, 250_999, berlin)) == (
        "2026-11-02T12:30:15.250Z"
    )
    assert instant_text(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000Z"
