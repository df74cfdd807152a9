"""Changes raise rates for a day; noise, replicas and ids that differ every time do not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions import ChangeKind
from monitor.daemon.changes import MOST_VALUES, RAISED, WARM_ANSWERS, Change, Changes, Seen
from monitor.daemon.latency import BEFORE, RECENT, Latency

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


class MemoryLog:
    """Keeps changes in a list."""

    def __init__(self) -> None:
        self.kept: list[Change] = []

    def changes(self, since: datetime) -> Iterable[Change]:
        return [change for change in self.kept if change.at >= since]

    def keep(self, change: Change) -> None:
        self.kept.append(change)


def test_a_change_raises_one_target_for_a_day_over_a_restart_too() -> None:
    record = MemoryLog()
    changes = Changes(record, NOW)
    assert changes.note("glm", ChangeKind.DEPLOY, NOW)
    for again in (changes, Changes(record, NOW + timedelta(hours=23))):
        assert again.raised("glm", NOW + timedelta(hours=23))
        assert not again.raised("glm", NOW + RAISED)
        assert not again.raised("other", NOW)
    assert not Changes(record, NOW + RAISED + timedelta(seconds=1)).raised("glm", NOW + RAISED)


def test_a_change_within_the_hour_is_the_same_change() -> None:
    record, heard = MemoryLog(), list[Change]()
    changes = Changes(record, NOW)
    changes.listen(heard.append)
    assert changes.note("glm", ChangeKind.VERSION, NOW)
    assert not changes.note("glm", ChangeKind.VERSION, NOW + timedelta(minutes=59))
    assert changes.note("glm", ChangeKind.DEPLOY, NOW + timedelta(minutes=59))
    assert changes.note("glm", ChangeKind.VERSION, NOW + timedelta(hours=2))
    assert (
        [change.kind for change in heard]
        == ["version", "deploy", "version"]
        == [change.kind for change in record.kept]
    )


def test_a_new_fingerprint_after_long_the_same_is_a_change() -> None:
    seen = Seen()
    assert not any(seen.note("fp_1") for _ in range(WARM_ANSWERS))
    assert seen.note("fp_2")
    assert not seen.note("fp_2")
    assert not seen.note("fp_1")
    assert not seen.note(None)


def test_replicas_that_take_turns_are_no_change() -> None:
    seen, rng = Seen(), Random(1)
    assert not any(seen.note(f"fp_{rng.randrange(3)}") for _ in range(500))


def test_a_fingerprint_for_each_answer_tells_nothing() -> None:
    seen = Seen()
    noted = [seen.note(f"fp_{number}") for number in range(200)]
    assert not any(noted)
    assert len(noted) > MOST_VALUES


def latencies(rng: Random, factor: float = 1.0) -> float:
    return 0.002 * factor * rng.lognormvariate(0, 0.5)


def test_no_shift_is_told_of_a_noisy_steady_target() -> None:
    rng, latency = Random(3), Latency()
    told = [latency.note(f"s{n % 5}", 100 * latencies(rng), 100) for n in range(20_000)]
    assert not any(told)


def test_a_shift_of_three_times_is_told_once_within_three_looks() -> None:
    for factor in (3.0, 1 / 3):
        rng, latency = Random(5), Latency()
        for number in range(BEFORE + RECENT + 50):
            assert latency.note(f"s{number % 4}", latencies(rng), 1) is None
        told = [latency.note(f"s{n % 4}", latencies(rng, factor), 1) for n in range(600)]
        found = [(n, shift) for n, shift in enumerate(told) if shift]
        assert len(found) == 1
        ((after, shift),) = found
        assert after <= 3 * RECENT
        assert (shift > 1) == (factor > 1)


def test_asking_for_other_lengths_is_no_shift() -> None:
    rng, latency = Random(7), Latency()
    for _ in range(300):
        assert latency.note("short", latencies(rng), 1) is None
    for _ in range(300):
        assert latency.note("long", 40 * latencies(rng), 1) is None


@given(st.lists(st.tuples(st.text(max_size=3), st.floats(0, 1e6), st.integers(-5, 10**7))))
def test_any_values_are_taken(values: list[tuple[str, float, int]]) -> None:
    latency = Latency()
    for stratum, seconds, tokens in values:
        latency.note(stratum, seconds, tokens)
    assert latency.slowness() > 0


def test_slowness_is_of_the_last_few_beside_the_rest() -> None:
    latency = Latency()
    for _ in range(30):
        latency.note("s", 0.1, 100)
    assert latency.slowness() == 1
    for _ in range(5):
        latency.note("s", 0.9, 100)
    assert 5 < latency.slowness() < 9
