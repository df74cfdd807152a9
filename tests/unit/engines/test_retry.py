"""Retry-After: seconds or a date, bounded, and anything else is nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.retry import LONGEST_SECONDS, retry_after_seconds
from tests.fakes.hostile import reply
from tests.unit.engines.asking import ask_once

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("999999999", LONGEST_SECONDS),
        ("Mon, 02 Nov 2026 12:01:30 GMT", 90.0),
        ("Mon, 02 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 02 Nov 2099 11:00:00 GMT", LONGEST_SECONDS),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_what_is_asked_for(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, NOW) == seconds


@given(st.text(max_size=80))
def test_any_text_is_bounded_or_nothing(value: str) -> None:
    found = retry_after_seconds(value, NOW)
    assert found is None or 0 <= found <= LONGEST_SECONDS


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_says_how_long_to_wait(streamed: bool) -> None:
    busy = reply({"error": {}}, status=429, headers=[("Retry-After", "17")])
    found = ask_once(busy, streamed=streamed)
    assert found.failure is not None
    assert found.failure.retry_after_seconds == 17.0
