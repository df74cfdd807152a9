"""Instants as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.cli.instants import parse_instant
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
