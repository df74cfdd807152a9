"""PROTOCOL: whose response id is used twice, and which ids say nothing."""

from dataclasses import replace

import pytest

from monitor.history import observe
from monitor.model import Trial, VerdictClass
from tests.builders import Bench, a_trial, an_exchange, failures

BENCH = Bench()


def answered_twice(response_id: str) -> Trial:
    """Return two prompts whose answers have one id."""
    return a_trial(
        *(
            an_exchange(prompt, index=number, response={"response_id": response_id})
            for number, prompt in enumerate(("What is 6 x 7?", "What is 6 x 8?"))
        )
    )


@pytest.mark.parametrize(
    "response_id",
    [
        "chatcmpl-9f86d081884c7d659a2feaa0c55ad015",
        "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "6fa459ea-ee8a-3ca4-894e-db77e160355e",
        "gen-1723456789-a8Xk2Pq9Lm",
        "7301234567890123456",
    ],
    ids=["hex", "mixed letters", "uuid", "second and letters", "snowflake"],
)
def test_one_id_for_two_prompts_is_a_contradiction(response_id) -> None:
    verdict = BENCH.judge(*answered_twice(response_id).exchanges)
    assert failures(verdict) == {("PROTOCOL", "response_id_reused")}
    assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize(
    "response_id",
    [
        *("chatcmpl-531", "chatcmpl-1723456789", "chatcmpl-1723456789123", "cmpl-0"),
        *("", "response", "(null)", "hidden-9f86d081884c7d659a2feaa0c55ad015"),
    ],
    ids=[
        *("one of 999", "seconds", "milliseconds", "counter", "none", "a word", "null", "hidden"),
    ],
)
def test_an_id_that_repeats_by_itself_says_nothing(response_id) -> None:
    assert failures(BENCH.judge(*answered_twice(response_id).exchanges)) == set()


@pytest.mark.parametrize("tenant", ["tenant-a", "tenant-b"])
def test_an_id_of_an_earlier_trial_is_remembered_whoever_asked(tenant: str) -> None:
    response_id = "chatcmpl-9f86d081884c7d659a2feaa0c55ad015"
    before, now = answered_twice(response_id).exchanges
    seen = observe(a_trial(id="trial-0"), replace(before, tenant=tenant))
    many = tuple(
        observe(a_trial(id=f"trial-{n}"), an_exchange(response={"response_id": f"other-{n:08d}"}))
        for n in range(200)
    )
    history = replace(BENCH.history, earlier=(seen, *many))
    assert failures(BENCH.judge(now, history=history)) == {("PROTOCOL", "response_id_reused")}
    same = replace(now, request=before.request)
    assert failures(BENCH.judge(same, history=history)) == set()
