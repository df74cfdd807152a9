"""Instants as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.cli.instants import parse_instant, parse_lasting, parse_share
from monitor.errors import UsageError

NOW = datetime(2026, 11, 2, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T14:30", datetime(2026, 11, 1, 14, 30, tzinfo=UTC)),
        ("2026-11-01T14:30:05+02:00", datetime(2026, 11, 1, 12, 30, 5, tzinfo=UTC)),
        ("2026-11-01 14:30:05.250Z", datetime(2026, 11, 1, 14, 30, 5, 250_000, tzinfo=UTC)),
        ("7d", datetime(2026, 10, 26, 12, 30, tzinfo=UTC)),
        ("12h", datetime(2026, 11, 2, 0, 30, tzinfo=UTC)),
        ("90m", datetime(2026, 11, 2, 11, 0, tzinfo=UTC)),
        ("0s", NOW),
    ],
)
def test_dates_times_and_how_long_ago(text: str, instant: datetime) -> None:
    assert parse_instant("--since", text, NOW) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "7 d",
        "-7d",
        "7w",
        "999999d",
        "2026-13-01",
        "0001-01-01T00:00+14:00",
        "\x1b[",
    ],
)
def test_anything_else_names_the_option_and_the_remedy(text: str) -> None:
    with pytest.raises(UsageError, match=r"--since: .* is no time \(write a date") as caught:
        parse_instant("--since", text, NOW)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("0.1 %", 0.001), ("0.05", 0.05), (".5", 0.5), ("50%", 0.5)]
)
def test_a_share_is_written_in_percent_or_as_a_fraction(text: str, share: float) -> None:
    assert parse_share("--bound", text) == pytest.approx(share)


@given(st.text(max_size=12))
def test_what_is_no_share_is_refused_and_what_is_one_is_in_its_range(text: str) -> None:
    try:
        assert 0.001 <= parse_share("--bound", text) <= 0.5
    except UsageError as error:
        refused = str(error)
    else:
        return
    assert refused.startswith("--bound: ")
    assert refused.isascii()


@given(st.integers(0, 999_999), st.sampled_from("smhd"))
def test_a_length_of_time_is_a_number_and_its_unit(number: int, unit: str) -> None:
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit]
    assert parse_lasting("--suppress", f"{number}{unit}").total_seconds() == number * seconds


@pytest.mark.parametrize("text", ["", "7", "d7", "-7d", "7w", "7 d", "1234567d"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--suppress: .* is no length of time \(write 7d"):
        parse_lasting("--suppress", text)
