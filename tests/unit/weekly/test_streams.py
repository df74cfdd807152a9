"""What a detector surely sees in a week: told to the safe side, and quickly for a whole fleet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.power import least_detectable
from monitor.weekly.streams import _least, least_alarming


@given(
    st.sampled_from([0.001, 0.01, 0.1, 0.25]),
    st.floats(1.0, 1e7),
    st.integers(1, 20_000),
)
def test_a_rate_is_never_told_smaller_than_what_surely_alarms(
    y0: float, threshold: float, scores: int
) -> None:
    told, exact = least_alarming(y0, threshold, scores), least_detectable(y0, threshold, scores)
    if told is not None:
        assert exact is not None
        assert told >= exact * (1 - 1e-9)
    elif exact is not None:
        assert exact > 0.5, "only where it takes nearly all of the scores"


def test_streams_that_are_nearly_alike_are_worked_out_once() -> None:
    _least.cache_clear()
    for scores in range(1_200, 1_300):
        for threshold in (64_100.0, 64_800.0, 65_000.0):
            least_alarming(0.001, threshold, scores)
    assert _least.cache_info().misses == 1
