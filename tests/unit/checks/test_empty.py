"""EMPTY: an empty answer is a fault, unless it says that it was withheld."""

import pytest

from monitor.model import Outcome, VerdictClass
from tests.builders import Bench, an_exchange, failures


def empty_answer(finish_reason: str):
    bench = Bench()
    nonce = bench.mint("tenant-b")
    exchange = an_exchange(nonce, "", nonce=nonce, response={"finish_reason": finish_reason})
    return bench.judge(exchange)


@pytest.mark.parametrize("reason", ["content_filter", "sensitive", "SAFETY", "refusal"])
def test_what_a_filter_withheld_is_a_wrong_answer_and_no_broken_contract(reason: str) -> None:
    verdict = empty_answer(reason)
    assert failures(verdict) == {("NONCE", "absent")}
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.BAD, VerdictClass.WRONG)


@pytest.mark.parametrize("reason", ["stop", "end_turn", "tool_calls"])
def test_an_empty_answer_that_says_it_is_whole_breaks_the_contract(reason: str) -> None:
    verdict = empty_answer(reason)
    assert ("EMPTY", "empty") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.CONTRACT
