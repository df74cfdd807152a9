"""A burn rate has a rule only where its short window can tell it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.slo.burn_rate import LEAST_FAILURES, burn_choices, burn_words, needed
from monitor.slo.objective import Objective, Sli
from monitor.slo.windows import BURN_TIERS, DAY, FAST, HOUR, TRICKLE, promql_duration

OBJECTIVE = Objective(
    name="glm",
    sli=Sli.SEMANTIC,
    ratio=0.999,
    window_seconds=30 * DAY,
    volume_a_day=2400.0,
    volume_from="as stated",
)


def made(objective: Objective) -> list[str]:
    return [choice.tier.name for choice in burn_choices(objective) if choice.made]


def test_probes_at_three_nines_have_none() -> None:
    assert made(OBJECTIVE) == []
    words = "\n".join(burn_words(OBJECTIVE))
    assert "fast: no rule: 5m bring 8.33 valid events" in words
    assert "need 348" in words
    assert "instead: the detectors of the streams (DavylampHardFailures" in words


def test_traffic_has_all_and_names_no_stand_in() -> None:
    users = replace(OBJECTIVE, sli=Sli.PRODUCTION, volume_a_day=1e6)
    assert made(users) == ["fast", "medium", "slow", "trickle"]
    assert "instead" not in "\n".join(burn_words(users))


def test_the_workbooks_number() -> None:
    """347 exchanges in 5 minutes at 99.9 % and 14.4 times: the next whole one has five failures."""
    assert needed(OBJECTIVE, FAST) == 348
    assert needed(replace(OBJECTIVE, ratio=0.99), TRICKLE) == 500
    assert needed(replace(OBJECTIVE, ratio=0.95), TRICKLE) == 100


def test_a_budget_that_cannot_burn_so_fast_has_no_such_rule() -> None:
    lax = replace(OBJECTIVE, ratio=0.9, volume_a_day=1e9)
    assert made(lax) == ["medium", "slow", "trickle"]
    assert "fast: no rule: the budget burns slower" in "\n".join(burn_words(lax))


def test_a_tier_can_be_switched_off() -> None:
    users = replace(OBJECTIVE, volume_a_day=1e7, tiers=("fast",))
    assert made(users) == ["fast"]
    assert "slow: no rule: switched off" in "\n".join(burn_words(users))


@given(ratio=st.floats(0.5, 0.9999).map(lambda r: round(r, 6)), volume=st.floats(1, 1e8))
def test_every_rule_that_is_made_expects_enough_failures(ratio: float, volume: float) -> None:
    objective = replace(OBJECTIVE, ratio=ratio, volume_a_day=volume)
    for choice in burn_choices(objective):
        expected = objective.expected(choice.tier.short_seconds) * choice.tier.burn * objective.room
        slack = 1e-6 * LEAST_FAILURES
        if choice.made:
            assert expected >= LEAST_FAILURES - slack
        elif choice.tier.burn * objective.room < 1:
            # Rounded up to whole events, so up to one event more is asked for.
            assert expected < LEAST_FAILURES + choice.tier.burn * objective.room + slack


def test_tiers_are_the_workbooks() -> None:
    """2 % of a 30-day budget in an hour, 5 % in six, 10 % in one day and in three."""
    shares = [tier.burn * tier.long_seconds / (30 * DAY) for tier in BURN_TIERS]
    assert shares == pytest.approx([0.02, 0.05, 0.1, 0.1])
    assert all(tier.long_seconds == 12 * tier.short_seconds for tier in BURN_TIERS)


@pytest.mark.parametrize(
    ("ratio", "least"), [(0.999, 2995), (0.99, 299), (0.95, 59), (0.9999, 29956)]
)
def test_how_many_valid_events_say_anything(ratio: float, least: int) -> None:
    objective = replace(OBJECTIVE, ratio=ratio)
    assert objective.least_valid == least
    assert ratio**least <= 0.05 < ratio ** (least - 1)


@pytest.mark.parametrize(
    ("seconds", "words"), [(300, "5m"), (HOUR, "1h"), (90, "90s"), (3 * DAY, "3d"), (5400, "90m")]
)
def test_windows_as_promql_writes_them(seconds: float, words: str) -> None:
    assert promql_duration(seconds) == words
