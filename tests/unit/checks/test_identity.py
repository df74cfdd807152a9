"""IDENTITY: a name of another family is a fault, an alias is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import identity
from monitor.checks.identity import SETTLED, SETTLED_ALONE
from monitor.history import observe
from monitor.model import Status, VerdictClass
from tests.builders import Bench, a_trial, an_exchange, failures


def judged(
    name: str | None, *, asked: str = "glm-5.3", before: str | None, times: int = SETTLED_ALONE
):
    bench = Bench()
    seen = observe(a_trial(), an_exchange(response={"model": before}))
    history = replace(bench.history, earlier=(seen,) * times)
    exchange = an_exchange(response={"model": name})
    return bench.judge(exchange, history=history, model=asked)


@pytest.mark.parametrize("name", ["qwen2.5-7b-instruct", "accounts/x/llama-v3", "fallback-router"])
def test_another_family_after_the_right_one_breaks_the_contract(name: str) -> None:
    verdict = judged(name, before="zai-org/GLM-5.3-FP8")
    assert ("IDENTITY", "other_model") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize("name", ["GLM-5.3", "glm-5.3-20261101", "@cf/zai-org/glm-5.3", "glm"])
def test_another_name_of_the_same_family_is_worth_a_look_once(name: str) -> None:
    verdict = judged(name, before="glm-5.3")
    assert failures(verdict) == {("IDENTITY", "renamed")}
    assert verdict.verdict_class is VerdictClass.SUSPECT


def test_a_target_that_always_names_its_own_way_is_not_held_to_it() -> None:
    assert not failures(judged("/srv/weights", before="/srv/weights"))
    assert not failures(judged("qwen", before="qwen"))


def test_nothing_is_said_before_a_name_has_settled() -> None:
    assert not failures(judged("qwen", before="glm-5.3", times=SETTLED - 1))
    assert failures(judged("qwen", before="glm-5.3", times=SETTLED_ALONE - 1)) == {
        ("IDENTITY", "renamed")
    }


def named_in_turn(*names: str) -> set[tuple[str, str]]:
    """Return what fails in the last of these answers."""
    bench = Bench()
    *before, last = [an_exchange(response={"model": name}) for name in names]
    seen = tuple(observe(a_trial(), each) for each in before)
    verdict = bench.judge(last, history=replace(bench.history, earlier=seen), model="glm-5.3")
    return failures(verdict)


def test_replicas_with_names_of_their_own_are_no_swap() -> None:
    names = ["glm-5.3", "glm-5.3", "/srv/weights"] * 20
    assert not named_in_turn(*names)
    # What is remembered may by chance begin with one of them alone.
    assert not named_in_turn(*["glm-5.3"] * SETTLED_ALONE, *names)


def test_a_fallback_that_answers_now_and_then_is_one_each_time() -> None:
    rare = [*["glm-5.3"] * SETTLED_ALONE, "qwen2.5", *["glm-5.3"] * 9, "qwen2.5"]
    assert named_in_turn(*rare) == {("IDENTITY", "other_model")}


def test_a_name_that_is_missing_says_nothing() -> None:
    verdict = judged(None, before="glm-5.3")
    [signal] = [s for s in verdict.signals if s.code == identity.CODE]
    assert signal.status is Status.SKIP


@given(name=st.text(max_size=60))
def test_the_name_that_was_always_given_never_fails(name: str) -> None:
    assert not failures(judged(name, before=name))
