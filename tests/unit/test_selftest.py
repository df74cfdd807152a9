"""The self-test: a check that sees passes, one that was blinded is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from monitor.checks import CHECKS
from monitor.checks.base import Check, failed, passed
from monitor.model import Measurement, Status
from monitor.selftest import SelfTester
from tests.builders import NOW


class StillClock:
    """A clock that stands."""

    def now(self):
        return NOW

    def monotonic(self):
        return 0.0

    async def sleep(self, seconds):
        raise AssertionError(seconds)


def run_on(*checks: Check, seed: int = 1, scorer=None):
    return asyncio.run(SelfTester(StillClock(), scorer, checks).run(seed))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
@pytest.mark.parametrize("seed", range(5))
def test_every_check_sees_its_specimens(check, seed) -> None:
    assert run_on(check, seed=seed).blind == ()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_check_brings_what_it_must_fail_and_what_it_must_pass(check) -> None:
    variants = [each.variant for each in check.specimens(Random(1))]
    assert "" in variants
    assert any(variants)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_specimens_follow_the_seed(check) -> None:
    assert repr_of(check, 3) == repr_of(check, 3)


def repr_of(check: Check, seed: int) -> str:
    return repr([(each.trial, each.variant) for each in check.specimens(Random(seed))])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_a_check_that_passes_everything_is_blind(check) -> None:
    blinded = replace(check, judge=lambda trial, exchange, history: [passed(check.code, exchange)])
    [*blind] = run_on(blinded).blind
    assert blind
    assert all(each.check == check.code for each in blind)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_a_check_that_fails_everything_is_blind_too(check) -> None:
    def judge(trial, exchange, history):
        return [failed(check.code, exchange, "anything", "")]

    assert run_on(replace(check, judge=judge)).blind


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_a_check_that_crashes_is_blind(check) -> None:
    def judge(trial, exchange, history):
        raise ZeroDivisionError

    words = " ".join(each.words for each in run_on(replace(check, judge=judge)).blind)
    assert Status.ERROR.value in words


def test_a_check_without_specimens_is_blind() -> None:
    [blind] = run_on(replace(CHECKS[0], specimens=None)).blind
    assert blind.words == "it has no specimens"


class BrokenScorer:
    """Instruments that are configured and cannot tell."""

    codes = frozenset({"ENTITY", "TOPIC", "LANGUAGE"})

    async def measure(self, asked):
        return [Measurement(broken=dict.fromkeys(self.codes, "OSError")) for _ in asked]

    def close(self):
        pass


@pytest.mark.parametrize(
    "check", [c for c in CHECKS if c.measured and c.code != "JUDGE"], ids=lambda check: check.code
)
def test_a_broken_instrument_makes_its_check_blind(check) -> None:
    words = [each.words for each in run_on(check, scorer=BrokenScorer()).blind]
    assert words
    assert all("said error (" in each and "OSError)" in each for each in words)


def test_the_last_result_is_kept() -> None:
    tester = SelfTester(StillClock(), checks=CHECKS[:1])
    assert tester.last is None
    result = asyncio.run(tester.run(1))
    assert tester.last is result
    assert result.at == NOW
