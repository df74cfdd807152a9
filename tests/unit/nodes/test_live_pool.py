"""A pool that holds more than it can."""

from __future__ import annotations

from monitor.conventions.nodes import LiveState
from monitor.nodes.live import LiveSignal
from monitor.nodes.live_pool import REPEATED, PoolWatch
from monitor.nodes.record import KvUse
from tests.unit.nodes.readings import counted

FULL = KvUse(capacity_tokens=1000, used_tokens=600, free_tokens=300, evictable_tokens=100)
OVER = KvUse(capacity_tokens=1000, used_tokens=700, free_tokens=300, evictable_tokens=100)


def after(*kv: KvUse) -> LiveSignal | None:
    watch = PoolWatch()
    for each in kv:
        said = watch.take(counted("n", kv=each))
    return said


def test_a_pool_whose_parts_fill_it_passes() -> None:
    said = after(FULL)
    assert said is not None
    assert said.state is LiveState.PASS
    assert said.value == 1.0


def test_a_pool_that_holds_too_much_is_a_fault_when_it_is_shown_again_and_again() -> None:
    assert after(*[OVER] * (REPEATED - 1)).state is LiveState.UNKNOWN
    said = after(*[OVER] * REPEATED)
    assert said.state is LiveState.FAIL
    assert "1100" in said.why


def test_mixed_readings_now_and_then_are_no_fault() -> None:
    mixed = [OVER] * (REPEATED - 1) + [FULL]
    states = {after(*(mixed * 9)[:end]).state for end in range(1, len(mixed) * 9)}
    assert states == {LiveState.UNKNOWN, LiveState.PASS}


def test_a_page_kept_back_is_no_fault() -> None:
    nearly = KvUse(capacity_tokens=1000, used_tokens=1000, free_tokens=10, evictable_tokens=0)
    assert after(*[nearly] * 20).state is LiveState.PASS


def test_a_part_that_is_missing_is_unknown_and_none_has_no_signal() -> None:
    some = KvUse(capacity_tokens=1000, used_tokens=600, free_tokens=300)
    assert after(some).state is LiveState.UNKNOWN
    assert after(KvUse(used_tokens=600, free_tokens=300, evictable_tokens=1)).state is (
        LiveState.UNKNOWN
    )
    assert after(KvUse(capacity_tokens=1000, usage_ratio=0.3)) is None


def test_one_part_alone_may_be_too_much() -> None:
    used = KvUse(capacity_tokens=1000, used_tokens=2000)
    assert after(*[used] * REPEATED).state is LiveState.FAIL
