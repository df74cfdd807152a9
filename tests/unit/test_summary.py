"""Counting, bounding and exit codes of the check report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.binomial import exceeds, tail_probability, upper_bound
from monitor.model import ExchangeVerdict, Outcome, VerdictClass
from monitor.passes import Done
from monitor.reports.answers import answers_of, answers_report
from monitor.reports.summary import exit_code_of
from tests.builders import Bench, a_trial, an_exchange


def verdict(outcome: Outcome, verdict_class: VerdictClass = VerdictClass.NONE) -> ExchangeVerdict:
    wrong = verdict_class is VerdictClass.WRONG
    hard = verdict_class > VerdictClass.WRONG
    return ExchangeVerdict(
        exchange=0,
        outcome=outcome,
        verdict_class=verdict_class,
        reason="x",
        hard=hard,
        tolerated=wrong,
    )


GOOD = verdict(Outcome.GOOD)
WRONG = verdict(Outcome.BAD, VerdictClass.WRONG)
LEAK = verdict(Outcome.BAD, VerdictClass.LEAK)
ERROR = verdict(Outcome.ERROR)
INVALID = verdict(Outcome.INVALID)
SUSPECT = verdict(Outcome.GOOD, VerdictClass.SUSPECT)


def code(verdicts: list[ExchangeVerdict], tolerance: float = 0.1, **flags: bool) -> int:
    answers = answers_report(verdicts, {"golden": verdicts}, tolerance)
    outcomes = Counter(v.outcome.value for v in verdicts)
    given_flags = {"held_back": False, "uncovered": False} | flags
    return exit_code_of(judged=verdicts, answers=answers, outcomes=outcomes, **given_flags)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([GOOD] * 9, 0),
        ([GOOD] * 9 + [SUSPECT], 0),
        ([GOOD] * 9 + [WRONG], 0),
        ([GOOD] * 9 + [LEAK], 1),
        ([WRONG] * 9, 1),
        ([GOOD] * 9 + [ERROR], 3),
        ([GOOD] * 9 + [INVALID], 3),
        ([ERROR] * 9, 3),
        ([LEAK, ERROR, INVALID], 1),
        ([], 3),
    ],
)
def test_exit_codes(verdicts: list[ExchangeVerdict], expected: int) -> None:
    assert code(verdicts) == expected


def test_a_tolerance_above_one_half_judges_nothing_but_hard_faults() -> None:
    assert code([WRONG] * 50, tolerance=0.6) == 3
    assert code([GOOD] * 50, tolerance=0.6) == 3
    assert code([*[GOOD] * 50, LEAK], tolerance=0.6) == 1


def test_an_open_leak_and_a_gap_in_required_coverage_are_never_green() -> None:
    assert code([GOOD] * 9, held_back=True) == 1
    assert code([GOOD] * 9, uncovered=True) == 3


def test_one_broken_probe_is_not_lost_among_many_good_ones() -> None:
    golden, canary = [WRONG] * 6 + [GOOD] * 4, [GOOD] * 40
    answers = answers_report(golden + canary, {"golden": golden, "canary": canary}, 0.1)
    assert not exceeds(6, 50, 0.1)
    assert answers.exceeded
    assert answers.exceeded_probes == ["golden"]


def test_a_fault_of_one_batch_size_shows_although_no_probe_exceeds() -> None:
    def done(number: int, concurrency: int, *, wrong: bool) -> Done:
        probe = ("burst", "prefix", "pair", "combined")[number % 4]
        stratum = f"short/c{concurrency}/cold/plain/pair"
        trial = a_trial(an_exchange(), probe=probe, stratum=stratum)
        verdict = Bench().judge(an_exchange(), probe=probe, stratum=stratum)
        return Done(trial=trial, verdict=replace(verdict, exchanges=(WRONG if wrong else GOOD,)))

    many = [done(number, 1 + 2 * (number % 2), wrong=False) for number in range(120)]
    two = [done(number, 2, wrong=number < 8) for number in range(16)]
    answers = answers_of([*many, *two], 0.1)
    assert answers.exceeded_probes == ["2 at once"]


def test_tool_calls_lost_in_streams_show_although_neither_streams_nor_calls_exceed() -> None:
    def done(number: int, *, tool: str, stream: bool) -> Done:
        exchange = an_exchange(tool=tool)
        exchange = replace(exchange, request=replace(exchange.request, stream=stream))
        trial = a_trial(exchange, probe=("burst", "turns", "combined")[number % 3])
        judged = WRONG if tool and stream else GOOD
        return Done(trial=trial, verdict=replace(Bench().judge(exchange), exchanges=(judged,)))

    plain = [done(number, tool="book", stream=False) for number in range(48)]
    streams = [done(number, tool="", stream=True) for number in range(90)]
    lost = [done(number, tool="book", stream=True) for number in range(12)]
    assert answers_of([*plain, *streams, *lost], 0.1).exceeded_probes == ["tool calls in streams"]


def test_lost_tool_results_show_although_no_probe_exceeds() -> None:
    def done(number: int, *, role: str) -> Done:
        exchange = an_exchange()
        message = replace(exchange.request.messages[0], role=role)
        exchange = replace(exchange, request=replace(exchange.request, messages=(message,)))
        trial = a_trial(exchange, probe=("turns", "combined")[number % 2])
        judged = WRONG if role == "tool" else GOOD
        return Done(trial=trial, verdict=replace(Bench().judge(exchange), exchanges=(judged,)))

    asked = [done(number, role="user") for number in range(90)]
    reported = [done(number, role="tool") for number in range(6)]
    assert answers_of([*asked, *reported], 0.1).exceeded_probes == ["tool results"]


@given(st.integers(1, 60), st.data(), st.floats(0.01, 0.99))
def test_the_tail_is_the_sum_of_the_binomial(n: int, data: st.DataObject, rate: float) -> None:
    k = data.draw(st.integers(0, n))
    exact = sum(comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k, n + 1))
    assert tail_probability(k, n, rate) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@given(st.integers(1, 400), st.data())
def test_the_upper_bound_is_where_so_few_failures_become_unlikely(n: int, data) -> None:
    k = data.draw(st.integers(0, n - 1))
    bound = upper_bound(k, n)
    assert k / n < bound < 1
    assert 1 - tail_probability(k + 1, n, bound) == pytest.approx(0.05, abs=1e-6)


def test_nothing_in_n_is_about_three_over_n_and_nothing_asked_is_nothing_known() -> None:
    assert upper_bound(0, 300) == pytest.approx(3 / 300, rel=0.01)
    assert upper_bound(0, 0) == 1.0


def test_the_tolerance_test_keeps_its_false_alarm_rate() -> None:
    for n in (10, 30, 100):
        alarms = sum(
            comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(n + 1) if exceeds(k, n, 0.1)
        )
        assert alarms < 0.01
