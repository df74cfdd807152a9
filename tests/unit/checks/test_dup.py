"""DUP: one answer to two requests that must be answered otherwise, and to those that need not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import dup
from monitor.checks.remembered import remembered
from monitor.history import History, Observation
from monitor.model import Exchange, Fact, Outcome, Signal, Status, VerdictClass
from monitor.verdicts import CONSEQUENCES
from tests.builders import Bench, a_trial, an_exchange, failures

BENCH = Bench()
LONG = (
    "Photosynthesis is how green plants, algae and some bacteria turn light into chemical energy. "
    "Chlorophyll absorbs mostly blue and red light; water is split, oxygen leaves, and sugar is "
    "built from carbon dioxide in a cycle that Melvin Calvin described."
)


def coded(index: int, answer: str = "{code}", tenant: str = "tenant-b", **fields) -> Exchange:
    """Return an exchange with a nonce of its own, which it is answered with by default."""
    code = BENCH.mint(tenant, index, "trial-now")
    text = answer.format(code=code)
    return an_exchange(
        f"Repeat {code}, please.", text, index=index, tenant=tenant, nonce=code, **fields
    )


def drawn(index: int, right: str, answer: str, **fields) -> Exchange:
    facts = (Fact(name="it", any_of=(right,)),)
    return an_exchange(
        f"Which is {right}?", answer, index=index, answers=facts, answer_bits=36.0, **fields
    )


def signals(*exchanges: Exchange, history: History | None = None, **fields) -> dict[int, Signal]:
    trial = a_trial(*exchanges, **fields)
    found = [
        s for e in trial.exchanges for s in dup.CHECK.judge(trial, e, history or BENCH.history)
    ]
    return {signal.exchange: signal for signal in found}


def variants(*exchanges: Exchange, history: History | None = None, **fields) -> dict[int, str]:
    said = signals(*exchanges, history=history, **fields)
    return {index: signal.variant for index, signal in said.items() if signal.variant}


def past(*exchanges: Exchange, **fields) -> History:
    """Return a history in which a trial of these exchanges was seen."""
    trial = a_trial(*exchanges, id="trial-before", **fields)
    earlier = tuple(remembered(trial, e, BENCH.history) for e in trial.exchanges)
    return replace(BENCH.history, earlier=earlier)


# --- Within a trial


def test_a15_the_earlier_answer_given_again_is_a_duplicate_and_crossed() -> None:
    cat, dog = drawn(0, "cat 48151623", "a cat 48151623"), drawn(1, "dog 42108815", "a dog")
    again = replace(dog, response=cat.response)
    assert variants(cat, again) == {1: "in_trial"}
    verdict = BENCH.judge(cat, again)
    assert failures(verdict) >= {("ONTOPIC", "other_member"), ("DUP", "in_trial")}
    assert verdict.verdict_class is VerdictClass.CROSSED


def test_a15_both_images_are_cats() -> None:
    cat = drawn(0, "cat 48151623", "a cat 48151623")
    other = replace(cat, index=1, request=an_exchange("Which is on the other?").request)
    assert variants(cat, other) == {}
    assert BENCH.judge(cat, other).outcome is Outcome.GOOD


def test_a_duplicate_alone_is_never_more_than_suspect() -> None:
    one, two = drawn(0, "81029384756", LONG), drawn(1, "10293847561", LONG)
    said = signals(one, replace(two, expectation=replace(two.expectation, answers=())))
    assert said[1].variant == "in_trial"
    rows = [row for (code, _), row in CONSEQUENCES.items() if code == dup.CODE]
    assert {row.verdict_class for row in rows} == {VerdictClass.SUSPECT}


def test_the_one_that_is_not_answered_rightly_is_marked() -> None:
    one, two = coded(0), coded(1)
    assert variants(replace(one, response=two.response), two) == {0: "in_trial"}
    assert variants(one, replace(two, response=one.response)) == {1: "in_trial"}


def test_case_space_and_emphasis_make_no_other_answer() -> None:
    one = coded(0, "The code is **{code}**.")
    shout = replace(one.response, text=f"the code\n\nis {one.response.text[14:37]}")
    assert variants(one, replace(coded(1), response=shout)) == {1: "in_trial"}


def test_of_another_tenant_it_says_so() -> None:
    one, two = coded(0, tenant="tenant-a"), coded(1)
    assert variants(one, replace(two, response=one.response)) == {1: "across_tenants"}


@pytest.mark.parametrize(
    "answer",
    [
        "Sure.",
        "42",
        "I'm sorry, but as an AI language model I cannot help with that. " + LONG,
        "抱歉\uff0c我无法回答这个问题。" + LONG,
        "the same words " * 40,
        "",
    ],
    ids=["short", "number", "refusal", "refusal zh", "few words", "empty"],
)
def test_ordinary_answers_may_repeat(answer: str) -> None:
    one, two = coded(0, answer), coded(1, answer)
    two = replace(two, expectation=replace(two.expectation, golden="facts/other"))
    assert variants(one, two) == {}
    assert variants(two, history=past(one)) == {}


def test_healthy_answers_that_differ_in_their_codes_alone_are_well() -> None:
    text = "The reference code is {code}. The sum is 42."
    said = signals(coded(0, text), coded(1, text))
    assert {s.status for s in said.values()} == {Status.PASS}


def test_a_code_of_the_conversation_may_be_said_again() -> None:
    code = BENCH.mint("tenant-b", 0, "trial-now")
    turns = [an_exchange(f"End with {code}. {n}?", f"OK. {code}", index=n) for n in range(3)]
    assert variants(*turns) == {}


def test_what_was_copied_from_the_prompt_may_repeat() -> None:
    one, two = (
        an_exchange(f"{LONG} Sum up, {name}.", LONG, index=n, golden=f"facts/{name}")
        for n, name in enumerate(("a", "b"))
    )
    assert variants(one, two) == {}


# --- Over time


def test_an_earlier_trials_answer_is_told_by_its_code() -> None:
    earlier = coded(3)
    again = replace(coded(0), response=earlier.response)
    assert variants(again, history=past(earlier)) == {0: "over_time"}
    theirs = replace(again, tenant="tenant-a")
    assert variants(theirs, history=past(earlier)) == {0: "across_tenants"}


def test_a_long_answer_to_another_task_is_told_and_to_the_same_task_not() -> None:
    one, other = coded(0, LONG, golden="facts/a"), coded(1, LONG, golden="facts/b")
    assert variants(other, history=past(one)) == {1: "over_time"}
    same = coded(1, LONG, golden="facts/a")
    assert variants(same, history=past(one)) == {}


def test_a_phrase_of_the_models_own_is_told_twice_at_most() -> None:
    seen = [coded(n, LONG, golden=f"facts/{n}") for n in range(5)]
    told = [
        bool(variants(coded(9, LONG, golden="facts/x"), history=past(*seen[:n]))) for n in range(5)
    ]
    assert told == [False, True, True, False, False]


def test_a_stored_answer_to_the_same_prompt_is_none() -> None:
    one = coded(0)
    assert variants(one, history=past(one)) == {}


def test_a_confirmation_may_repeat_what_it_confirms() -> None:
    one = coded(0)
    salted = replace(one, request=an_exchange(f"Sheet 1. {one.request.text()}").request)
    assert variants(salted, history=past(one), replays="trial-before") == {}
    assert variants(salted, history=past(one)) == {0: "over_time"}
    twice = past(one, replays="trial-0")
    assert variants(salted, history=twice, replays="trial-0") == {}


def test_nothing_of_the_answer_is_kept() -> None:
    one = coded(0, "The secret of the harbour is {code}.")
    [kept] = past(one).earlier
    assert isinstance(kept, Observation)
    assert kept.answer is not None
    assert one.response is not None
    assert "harbour" not in repr(kept)
    assert one.response.text[25:48] not in repr(kept)


@given(st.text(max_size=300), st.text(max_size=300))
def test_texts_that_differ_in_letters_are_never_the_same(one: str, other: str) -> None:
    first, second = an_exchange("a?", one), an_exchange("b?", other, index=1)
    if dup.plain(first) != dup.plain(second):
        assert variants(first, second) == {}


def test_each_answer_of_a_burst_is_folded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each is compared with all others: folding both every time blocked the loop for minutes.
    folded: list[int] = []
    plain = dup.plain

    def counted(exchange: Exchange) -> str:
        folded.append(exchange.index)
        return plain(exchange)

    monkeypatch.setattr(dup, "plain", counted)
    variants(*(coded(index) for index in range(12)))
    assert sorted(folded) == list(range(12))
