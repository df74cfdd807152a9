"""Which runs a drill consists of."""

from __future__ import annotations

import pytest

from monitor.drill.lab import Mechanism
from monitor.drill.plan import chosen, jobs
from monitor.errors import UsageError

KNOWN = (
    Mechanism(name="loops", null=False, sentence="It loops.", deterministic=False),
    Mechanism(name="usage_half", null=False, sentence="Half.", deterministic=True),
    Mechanism(name="slow", null=True, sentence="Slow.", deterministic=False),
)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("all", ["loops", "usage_half", "slow", "healthy"]),
        ("faults", ["loops", "usage_half"]),
        ("nulls", ["slow", "healthy"]),
        ("healthy, loops", ["loops", "healthy"]),
        ("nulls,loops", ["loops", "slow", "healthy"]),
    ],
)
def test_what_is_chosen(words: str, names: list[str]) -> None:
    assert [each.name for each in chosen(KNOWN, words)] == names


@pytest.mark.parametrize("words", ["", " , ", "loop"])
def test_nothing_and_the_unknown_are_errors(words: str) -> None:
    with pytest.raises(UsageError, match="use some of: all, faults, nulls, loops"):
        chosen(KNOWN, words)


def test_nulls_and_the_first_seed_are_whole() -> None:
    drilled = chosen(KNOWN, "loops,slow")
    made = jobs(drilled, range(5, 7), profile="quick", context_tokens=4096, whole=False)
    assert [(job.fault, job.seed, job.whole) for job in made] == [
        ("loops", 5, True),
        ("slow", 5, True),
        ("loops", 6, False),
        ("slow", 6, True),
    ]
    assert len({job.target for job in made}) == 4


@pytest.mark.parametrize(("seeds", "profile"), [(range(0), "quick"), (range(1), "fast")])
def test_no_seeds_and_no_such_profile_are_errors(seeds: range, profile: str) -> None:
    with pytest.raises(UsageError):
        jobs(chosen(KNOWN, "all"), seeds, profile=profile, context_tokens=4096, whole=False)


def test_a_healthy_lab_has_nothing_switched_on() -> None:
    healthy, loops = chosen(KNOWN, "healthy,loops")[::-1]
    made = jobs([healthy, loops], range(3, 4), profile="quick", context_tokens=512, whole=False)
    assert made[0].lab_arguments() == ["--seed", "3", "--context", "512"]
    assert made[1].lab_arguments()[:3] == ["--fault", "loops", "--draw"]
