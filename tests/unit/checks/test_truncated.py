"""An answer that its allowed tokens cut is told by FINISH, whatever it was in the middle of."""

from __future__ import annotations

import pytest

from monitor.model import Outcome, Status, VerdictClass
from tests.builders import Bench, an_exchange, failures

CUT = {
    "a sentence": "The morning train left the old station and then",
    "JSON": '{"city": "Par',
    "a fence": "```python\ndef left(train):\n    return",
    "a list": "1. the train\n2. the bo",
    "nothing said yet": "",
}


@pytest.mark.parametrize("answer", CUT.values(), ids=CUT)
def test_a_cut_answer_to_a_task_is_tolerated_and_told_once(answer: str) -> None:
    exchange = an_exchange(
        "Where is the train?",
        answer,
        max_output_tokens=12,
        nonce="lusab-babad-gutih-tugad",
        response={"finish_reason": "length"},
        usage={"output_tokens": 12},
    )
    verdict = Bench().judge(exchange)
    assert ("FINISH", "truncated") in failures(verdict)
    assert not {code for code, _ in failures(verdict)} & {"STRUCT", "REPEAT", "SPECIAL", "CHARSET"}


def test_an_answer_that_was_meant_to_be_cut_is_fine() -> None:
    exchange = an_exchange(
        "Count.",
        "One, two, three,",
        max_output_tokens=8,
        response={"finish_reason": "length"},
        usage={"output_tokens": 8},
    )
    verdict = Bench().judge(exchange)
    assert verdict.outcome is Outcome.GOOD
    assert verdict.verdict_class is VerdictClass.NONE


def test_reasoning_that_used_up_the_tokens_is_not_judged_and_not_passed() -> None:
    exchange = an_exchange(
        "Where is the train?",
        "",
        max_output_tokens=12,
        nonce="lusab-babad-gutih-tugad",
        response={"finish_reason": "length", "reasoning_text": "Hm, the train"},
        usage={"output_tokens": 12},
    )
    verdict = Bench().judge(exchange)
    statuses = {s.code: s.status for s in verdict.signals}
    assert statuses["FINISH"] is statuses["NONCE"] is Status.SKIP
    assert statuses["EMPTY"] is Status.ERROR
    assert verdict.outcome is Outcome.INVALID
