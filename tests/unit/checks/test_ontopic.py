"""ONTOPIC: another member's answer is recognised wherever it stands; nothing else is crossed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import ontopic
from monitor.model import Exchange, Fact, Outcome, Part, ToolCall, VerdictClass
from monitor.prompts.text import normalise
from tests.builders import Bench, a_trial, an_exchange, failures

# Codes of no registry, drawn from a space of 2**33: only ONTOPIC can see them.
OWN, OTHER = "7731904412", "5520917763"
CROSSED = ("ONTOPIC", "other_member")


def member(index: int, code: str, *, bits: float = 33.2, **response) -> Exchange:
    return an_exchange(
        f"Which number belongs to crate {index}? It is among the list.",
        response.pop("text", ""),
        index=index,
        part=Part.MEMBER,
        answers=(Fact(name="the number", any_of=(code,)),),
        answer_bits=bits,
        response=response,
    )


def said(form: str, code: str) -> dict[str, object]:
    """Return how an answer may hold a code: as text, in a call, as JSON, escaped."""
    arguments = {
        "call": json.dumps({"title": "Budget sync", "code": int(code)}),
        "nested": json.dumps({"rows": [{"of": {"shelf": code}}]}),
        "escaped": json.dumps({"note": f"shelf\n{code}\tpaid"}),
    }
    if form in arguments:
        call = ToolCall(name="schedule_meeting", arguments=arguments[form])
        return {"text": "", "tool_calls": (call,), "finish_reason": "tool_calls"}
    text = {"text": f"It is {code}.", "JSON": json.dumps({"a": f"x\n{code}"})}
    return {"text": text[form]}


FORMS = ("text", "call", "nested", "escaped", "JSON")


@pytest.mark.parametrize("form", FORMS)
def test_the_answer_of_another_member_is_crossed_in_whatever_form(form: str) -> None:
    five = member(5, OWN, **said(form, OTHER))
    seven = member(7, OTHER, **said("text", OTHER))
    verdict = Bench().judge(five, seven)
    assert CROSSED in failures(verdict)
    by_index = {e.exchange: e.verdict_class for e in verdict.exchanges}
    assert by_index == {5: VerdictClass.CROSSED, 7: VerdictClass.NONE}


@pytest.mark.parametrize("form", FORMS)
def test_the_own_answer_is_right_in_whatever_form(form: str) -> None:
    verdict = Bench().judge(
        member(5, OWN, **said(form, OWN)), member(7, OTHER, **said("text", OTHER))
    )
    assert not {code for code, _ in failures(verdict)} & {"ONTOPIC"}


def test_an_echoed_nonce_does_not_pass_another_members_answer() -> None:
    """A06: asked who wrote Hamlet, answered with another member's discovery, code and all."""
    bench = Bench()
    nonce = bench.mint("tenant-b")
    hamlet = member(0, OWN, text=f"Fleming discovered it: {OTHER}. {nonce}")
    expected = replace(hamlet.expectation, nonce=nonce)
    verdict = bench.judge(replace(hamlet, expectation=expected), member(1, OTHER, text=OTHER))
    assert verdict.verdict_class is VerdictClass.CROSSED
    assert ("NONCE", "absent") not in failures(verdict)


@pytest.mark.parametrize("form", FORMS)
def test_a_small_space_proves_nothing(form: str) -> None:
    verdict = Bench().judge(
        member(5, OWN, bits=31.9, **said(form, OTHER)), member(7, OTHER, bits=31.9, text=OTHER)
    )
    assert CROSSED not in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG


def test_an_answer_that_stands_in_the_own_request_is_no_crossing() -> None:
    same = an_exchange(
        f"The number is {OTHER}.",
        f"{OTHER}",
        index=0,
        answers=(Fact(name="the number", any_of=(OWN,)),),
        answer_bits=33.2,
    )
    verdict = Bench().judge(same, member(1, OTHER, text=OTHER))
    assert CROSSED not in failures(verdict)


def test_equal_answers_are_no_crossing() -> None:
    verdict = Bench().judge(member(0, OWN, text=OWN), member(1, OWN, text=OWN))
    assert verdict.outcome is Outcome.GOOD


@given(
    arguments=st.text(max_size=200) | st.sampled_from(["[" * 9000 + "\\", '{"\\u0000": "\\ud800"}'])
)
def test_any_arguments_are_read_and_cross_nothing(arguments: str) -> None:
    call = ToolCall(name="x", arguments=arguments)
    five = member(5, OWN, tool_calls=(call,), text=OWN)
    assert CROSSED not in failures(Bench().judge(five, member(7, OTHER, text=OTHER)))


def test_an_answer_is_folded_once_however_many_others_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "It is none of them."
    folded: list[str] = []

    def counted(said: str) -> str:
        folded.append(said)
        return normalise(said)

    monkeypatch.setattr(ontopic, "normalise", counted)
    members = [member(index, f"77319{index:05}", text=text) for index in range(12)]
    [signal] = ontopic.judge(a_trial(*members), members[0], Bench().history)
    assert signal.variant == "wrong"
    assert folded.count(text) == 1
