"""FINGER: what counts as a fact, when a prompt is settled, and when its facts have moved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries import InstallationKey, MarkerRegistry
from monitor.checks import finger
from monitor.checks.finger import NEWEST, SETTLED, finger_of, fingerprint_of
from monitor.checks.remembered import remembered
from monitor.history import History, Memory
from monitor.model import (
    Calibration,
    Exchange,
    FirstTokens,
    PromptBaseline,
    Signal,
    Status,
    VerdictClass,
)
from monitor.prompts import AnyOf, GoldenPrompt, JsonHolds, ListHas
from tests.builders import KEY, NOW, Bench, a_trial, an_exchange, failures

BENCH = Bench()
CODE = BENCH.mint("tenant-b", 0, "trial-now")


def a_prompt(*expectations, question: str = "Who wrote Hamlet?", **fields) -> GoldenPrompt:
    return GoldenPrompt(
        suite="facts",
        id="hamlet",
        language="en",
        prompt=question,
        expectations=expectations or (AnyOf(strings=("Shakespeare", "the Bard")),),
        max_output_tokens=48,
        **fields,
    )


HAMLET = a_prompt()


def answer(text: str, prompt: GoldenPrompt = HAMLET, **fields) -> Exchange:
    return an_exchange(
        f"{prompt.prompt} {CODE}",
        text.format(code=CODE) if "{code}" in text else text,
        golden=prompt.name,
        golden_version=prompt.version,
        nonce=CODE,
        **fields,
    )


def printed(text: str, prompt: GoldenPrompt = HAMLET) -> str | None:
    history = replace(BENCH.history, golden={prompt.name: prompt})
    return fingerprint_of(answer(text, prompt), history)


def history(
    *texts: str, prompt: GoldenPrompt = HAMLET, fields: dict | None = None, **past
) -> History:
    """Return a history in which the prompt was answered with these texts, oldest first."""
    memory, known = Memory(), replace(BENCH.history, golden={prompt.name: prompt})
    for text in texts:
        one = answer(text, prompt, response=dict(fields or {}))
        memory.remember([remembered(a_trial(one), one, known)])
    return replace(known, fingers=memory.recall_fingers(), **past)


def judged(text: str, past: History, prompt: GoldenPrompt = HAMLET, **fields) -> Signal:
    one = answer(text, prompt, response=fields)
    [signal] = finger.CHECK.judge(a_trial(one), one, past)
    return signal


def a_calibration(*seen: tuple[str, int], tokens: tuple[tuple[str, int], ...] = ()) -> Calibration:
    baseline = PromptBaseline(
        name=HAMLET.name, version=HAMLET.version, asked=10, missed=0, fingerprints=seen
    )
    return Calibration(
        id="calibration-1",
        target="glm",
        model="glm-5.3",
        made_at=NOW,
        made_by="a test",
        reason="a test",
        subject="a test",
        checks_version="2",
        tolerance=0.1,
        prompts=(baseline,),
        first_tokens=(FirstTokens(border_input="i-7", seen=tokens),),
    )


# --- What counts as a fact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It was Shakespeare. {code}", "{code}\n**William Shakespeare** wrote it."),
        ("Shakespeare, in 1,600", "shakespeare (1600)"),
        ("1. {code}\n2. Shakespeare", "Shakespeare {code}"),
    ],
    ids=["wording", "writing of numbers", "numbers of the list"],
)
def test_wording_is_no_fact(one: str, other: str) -> None:
    assert printed(one) == printed(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Shakespeare", "Marlowe"),
        ("Shakespeare", "the Bard"),
        ("Shakespeare, in 1600", "Shakespeare, in 1601"),
    ],
    ids=["wrong", "another alternative", "another year"],
)
def test_what_is_said_is_a_fact(one: str, other: str) -> None:
    assert printed(one) != printed(other)


def test_numbers_of_the_question_are_not_the_answers() -> None:
    prompt = a_prompt(AnyOf(strings=("42",)), question="What is 12 + 30?")
    assert printed("12 + 30 = 42", prompt) == printed("It is 42.", prompt)


def test_json_is_compared_by_its_values() -> None:
    prompt = a_prompt(JsonHolds(values='{"a": 1}'), structure="json")
    one, other = '{code} {{"a": 1, "b": "X y"}}', '```json\n{{"b": "x  Y",\n"a":1}}\n``` {code}'
    assert printed(one, prompt) == printed(other, prompt)
    assert printed(one, prompt) != printed('{code} {{"a": 1, "b": "z"}}', prompt)


def test_items_of_a_list_are_facts_where_a_list_was_asked_for() -> None:
    prompt = a_prompt(ListHas(items=2), question="Name two.")
    assert printed("1. Red\n2. Blue", prompt) == printed("- red\n- **Blue**", prompt)
    assert printed("1. Red\n2. Blue", prompt) != printed("1. Red\n2. Green", prompt)


def test_another_version_or_a_prompt_that_is_gone_has_no_fingerprint() -> None:
    one = answer("Shakespeare")
    known = replace(BENCH.history, golden={HAMLET.name: HAMLET})
    older = replace(one, expectation=replace(one.expectation, golden_version="older"))
    assert fingerprint_of(older, known) is None
    assert fingerprint_of(one, BENCH.history) is None
    assert fingerprint_of(an_exchange(), known) is None


def test_another_installation_has_other_fingerprints() -> None:
    own, theirs = (
        fingerprint_of(
            answer("Shakespeare"),
            History(registry=MarkerRegistry(key), golden={HAMLET.name: HAMLET}),
        )
        for key in (KEY, InstallationKey(bytes(32)))
    )
    assert own != theirs
    assert len(own or "") == len(theirs or "") == 16


@given(st.text(max_size=400))
def test_any_text_has_one_fingerprint(text: str) -> None:
    one = answer("x")
    assert one.response is not None
    one = replace(one, response=replace(one.response, text=text))
    known = replace(BENCH.history, golden={HAMLET.name: HAMLET})
    assert fingerprint_of(one, known) == fingerprint_of(one, known) is not None


# --- Moves


def test_facts_that_moved_are_flagged_and_never_more() -> None:
    past = history(*["Shakespeare"] * SETTLED)
    signal = judged("Marlowe, of course", past)
    assert signal.variant == "facts_moved"
    assert "Marlowe" not in signal.explanation
    verdict = BENCH.judge(answer("the Bard"), history=past)
    assert ("FINGER", "facts_moved") in failures(verdict)
    flagged = [s for s in verdict.signals if s.code == "FINGER"]
    assert len(flagged) == 1
    assert judged("Mr Shakespeare", past).status is Status.PASS


def test_nothing_is_said_before_it_has_settled_or_where_it_varies() -> None:
    assert judged("the Bard", history(*["Shakespeare"] * (SETTLED - 1))).status is Status.SKIP
    varied = history(*["Shakespeare", "the Bard"] * SETTLED)
    assert judged("Marlowe", varied).status is Status.SKIP
    once = history(*["Shakespeare"] * 12, "the Bard", *["Shakespeare"] * 11)
    assert judged("Marlowe", once).status is Status.SKIP


def test_a_move_is_flagged_for_a_while_and_then_is_the_new_normal() -> None:
    said = ["Shakespeare"] * 24
    statuses = []
    for _ in range(40):
        statuses.append(judged("the Bard", history(*said[-24:])).status)
        said.append("the Bard")
    assert statuses[:NEWEST] == [Status.FAIL] * NEWEST
    assert statuses[-1] is Status.PASS
    assert Status.FAIL not in statuses[statuses.index(Status.PASS) :]


def test_a_calibration_settles_it_from_the_first_answer_on() -> None:
    right = printed("Shakespeare")
    assert right is not None
    past = history(calibration=a_calibration((right, 10)))
    assert judged("the Bard", past).variant == "facts_moved"
    assert judged("Shakespeare", past).status is Status.PASS
    few = history(calibration=a_calibration((right, 3)))
    assert judged("the Bard", few).status is Status.SKIP
    both = history(*["Shakespeare"] * SETTLED, calibration=a_calibration((right, 3)))
    assert judged("the Bard", both).variant == "facts_moved"


def test_each_route_is_compared_with_itself() -> None:
    """A replica that always answers otherwise is settled in its own way; a new one is flagged."""
    texts = ["Shakespeare"] * 10
    one = history(*texts, fields={"system_fingerprint": "fp_1"})
    two = history(*["the Bard"] * 10, fields={"system_fingerprint": "fp_2"})
    [key] = one.fingers
    mixed = tuple(f for pair in zip(one.fingers[key], two.fingers[key], strict=True) for f in pair)
    past = replace(one, fingers={key: (*mixed, *mixed[:NEWEST])})
    assert judged("the Bard", past, system_fingerprint="fp_2").status is Status.PASS
    moved = judged("the Bard", past, system_fingerprint="fp_1")
    assert moved.variant == "facts_moved"
    assert "by this route" in moved.explanation
    new = judged("the Bard", one, system_fingerprint="fp_9")
    assert "a route not seen before" in new.explanation


def test_replicas_and_providers_are_routes() -> None:
    known = replace(BENCH.history, golden={HAMLET.name: HAMLET})
    routes = set()
    for headers in ((), (("x-served-by", "a"),), (("x-served-by", "b"),), (("cf-ray", "1"),)):
        found = finger_of(answer("x", response={"headers": headers}), known)
        assert found is not None
        routes.add(found.route)
    assert len(routes) == 3
    assert 0 in routes


# --- Border inputs


def first(text: str, *tokens: tuple[str, int]) -> Signal:
    past = replace(BENCH.history, calibration=a_calibration(tokens=tokens) if tokens else None)
    one = an_exchange("x", text, border_input="i-7")
    [signal] = finger.CHECK.judge(a_trial(one), one, past)
    return signal


def test_a_first_token_that_was_never_seen_is_flagged() -> None:
    seen = (("The", 30), ("Sure", 20))
    assert first("Sure, I can.", *seen).status is Status.PASS
    signal = first("Certainly.", *seen)
    assert signal.variant == "unseen_first_token"
    assert "Certainly" not in signal.explanation


def test_without_a_calibration_of_it_there_is_nothing_to_compare_with() -> None:
    assert first("Certainly.").status is Status.SKIP
    assert first("Certainly.", ("The", 3)).status is Status.SKIP
    assert first("", ("The", 30)).variant == "unseen_first_token"


def test_a_border_answer_is_never_bad() -> None:
    past = replace(BENCH.history, calibration=a_calibration(tokens=(("The", 30),)))
    one = an_exchange("x", "Certainly", border_input="i-7")
    verdict = BENCH.judge(one, history=past)
    assert ("FINGER", "unseen_first_token") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.SUSPECT


def test_the_rate_of_false_alarms_is_the_one_that_is_stated() -> None:
    # So many alike, and then another, at the worst share of others.
    rates = [(1 - share / 1000) ** SETTLED * share / 1000 for share in range(1, 1000)]
    assert f"at most {max(rates) + 0.0005:.1%}".replace("%", " %") in (finger.__doc__ or "")
