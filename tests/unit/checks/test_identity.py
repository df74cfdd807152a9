"""IDENTITY: a name of another family is a fault, an alias is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import identity
from monitor.checks.identity import CLOSED_PER_FINGERPRINT, SETTLED, SETTLED_ALONE
from monitor.history import observe
from monitor.model import Exchange, Status, VerdictClass
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


@pytest.mark.parametrize("name", [None, "hidden-9f86d081884c7d659a2feaa0c55ad015"])
def test_a_name_that_is_missing_or_hidden_says_nothing(name: str | None) -> None:
    verdict = judged(name, before="glm-5.3")
    [signal] = [s for s in verdict.signals if s.code == identity.CODE]
    assert signal.status is Status.SKIP


@given(name=st.text(max_size=60))
def test_the_name_that_was_always_given_never_fails(name: str) -> None:
    assert not failures(judged(name, before=name))


# --- System fingerprints


def built(fingerprint: str | None, *before: str | None) -> set[tuple[str, str]]:
    """Return what fails in an answer of this fingerprint after answers of those."""
    bench = Bench()
    seen = tuple(
        observe(a_trial(), an_exchange(response={"system_fingerprint": each})) for each in before
    )
    last = an_exchange(response={"system_fingerprint": fingerprint})
    return failures(bench.judge(last, history=replace(bench.history, earlier=seen)))


CHANGED = {("IDENTITY", "fingerprint_changed")}


def test_a_new_fingerprint_after_a_settled_one_is_worth_a_look_once() -> None:
    assert built("fp_2", *["fp_1"] * CLOSED_PER_FINGERPRINT) == CHANGED
    assert built("fp_2", *["fp_1"] * CLOSED_PER_FINGERPRINT, "fp_2") == set()
    assert built("fp_2", *["fp_1"] * (CLOSED_PER_FINGERPRINT - 1)) == set()
    assert built(None, *["fp_1"] * 20) == set()


def test_replicas_of_several_builds_are_a_set_of_its_own() -> None:
    three = ["fp_1", "fp_2", "fp_3"] * 10
    assert built("fp_2", *three) == set()
    assert built("fp_4", *three) == set()
    assert built("fp_4", *three * 2) == CHANGED


def test_a_server_that_gives_each_answer_its_own_is_not_held_to_it() -> None:
    assert built("fp_new", *[f"fp_{number}" for number in range(200)]) == set()


# --- Request ids

OWN, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2
SWAPPED = {("IDENTITY", "request_id_swapped")}


def answered(sent: str, prompt: str = "What is 6 x 7?", index: int = 0, **fields) -> Exchange:
    exchange = an_exchange(prompt, "42", index=index, response=fields.pop("response", None))
    return replace(exchange, sent_request_id=sent, **fields)


def with_id(name: str, value: str) -> Exchange:
    """Return an answer that names ``value`` in one of its places."""
    if name == "response_id":
        return answered(OWN, index=1, response={"response_id": value})
    if name == "request_id":
        return answered(OWN, index=1, request_id=value)
    return answered(OWN, index=1, response={"headers": ((name, value),)})


PLACES = ["x-request-id", "request-id", "body.request_id", "response_id", "request_id"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["{}", "chatcmpl-{}", "req_{}"])
def test_an_answer_that_names_another_of_our_questions_was_swapped(place: str, form: str) -> None:
    bench, other = Bench(), answered(OTHER, "What is 6 x 8?", request_id="req-9")
    verdict = bench.judge(other, with_id(place, form.format(OTHER)))
    assert failures(verdict) == SWAPPED
    assert verdict.verdict_class is VerdictClass.CONTRACT
    earlier = (observe(a_trial(id="trial-0"), other),)
    history = replace(bench.history, earlier=earlier)
    assert failures(bench.judge(with_id(place, form.format(OTHER)), history=history)) == SWAPPED


def test_a_uuid_with_hyphens_is_the_same_id() -> None:
    other = answered(OTHER, "What is 6 x 8?")
    hyphens = f"{OTHER[:8]}-{OTHER[8:12]}-{OTHER[12:16]}-{OTHER[16:20]}-{OTHER[20:]}"
    assert failures(Bench().judge(other, with_id("x-request-id", hyphens.upper()))) == SWAPPED


@pytest.mark.parametrize("place", PLACES)
def test_our_own_id_and_one_that_nobody_knows_are_well(place: str) -> None:
    other = answered(OTHER, "What is 6 x 8?")
    for value in (OWN, "9" * 32, "", "req-1"):
        assert failures(Bench().judge(other, with_id(place, value))) == set()


def test_a_stored_answer_to_the_same_prompt_may_bring_its_id_along() -> None:
    assert failures(Bench().judge(answered(OTHER), with_id("x-request-id", OTHER))) == set()


def test_without_ids_of_ours_nothing_is_swapped() -> None:
    other = answered("", "What is 6 x 8?")
    assert failures(Bench().judge(other, with_id("x-request-id", ""))) == set()
