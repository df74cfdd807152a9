"""Every check, whatever it is, keeps the same promises on odd and hostile answers."""

from __future__ import annotations

import ast
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import CHECKS, Check, judge_trial
from monitor.checks.base import Needs
from monitor.model import Fact, Failure, FailureKind, Needle, Status, ToolCall
from monitor.verdicts import CONSEQUENCES
from tests.builders import Bench, a_trial, an_exchange

BENCH = Bench()
DONOR = BENCH.mint("tenant-a", trial="trial-0")
NONCE = BENCH.mint("tenant-b")
SECRET = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"  # noqa: S105 - planted, to look for
ODD = [
    "",
    " \n\t",
    "\x1b[2J\x1b[31mred",
    "\ufffd" * 50,
    "\u202eevil",
    "a" * 300_000,
    "<|im_end|>" * 1000,
    "{" * 5000,
    NONCE * 2000,
    "\ud800 lone surrogate",
    f"{SECRET} {DONOR}",
]
EXPECTS = {
    "nonce": NONCE,
    "answers": (Fact(name="the sum", any_of=("42",)),),
    "needles": (Needle(place="head", text=DONOR), Needle(place="tail", text=NONCE)),
    "boundary": "over",
    "limit_tokens": 100,
    "size_tokens": 120,
}


def judged(check: Check, answer: str | None, **fields):
    exchange = an_exchange(f"{NONCE} what is 40 + 2?", answer, **(EXPECTS | fields))
    return judge_trial(a_trial(exchange), BENCH.history, [check])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
@pytest.mark.parametrize("answer", ODD, ids=range(len(ODD)))
def test_odd_answers_are_judged_without_a_crash_and_without_being_quoted(check, answer) -> None:
    for signal in judged(check, answer):
        assert signal.status is not Status.ERROR
        assert signal.code == check.code
        assert SECRET not in repr(signal)
        assert DONOR not in repr(signal)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
@given(answer=st.text(max_size=400), tokens=st.none() | st.integers(-5, 10**12))
def test_any_text_and_any_count_is_judged(check, answer, tokens) -> None:
    for signal in judged(check, answer, usage={"input_tokens": tokens, "output_tokens": tokens}):
        assert signal.status is not Status.ERROR
        if signal.status is Status.FAIL:
            assert (signal.code, signal.variant) in CONSEQUENCES


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_without_an_answer_no_check_says_pass_unless_it_judges_refusals(check) -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, detail="no answer")
    statuses = {s.status for s in judged(check, None, failure=failure, http_status=None)}
    assert statuses <= {Status.SKIP}


@pytest.mark.parametrize(
    "check", [c for c in CHECKS if c.needs is Needs.AN_ANSWER], ids=lambda check: check.code
)
def test_checks_of_absence_skip_a_cut_answer(check) -> None:
    cut = Failure(kind=FailureKind.CUT_STREAM, detail="cut")
    assert {s.status for s in judged(check, "The ans", failure=cut)} == {Status.SKIP}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_variant_a_check_can_fail_with_has_a_row(check) -> None:
    """Reads the variants out of the module's source: literals next to FAIL words of the table."""
    source = ast.parse(inspect.getsource(inspect.getmodule(check.judge)))
    literals = {n.value for n in ast.walk(source) if isinstance(n, ast.Constant)}
    rows = {variant for code, variant in CONSEQUENCES if code == check.code}
    assert rows, f"{check.code} has no row in the table"
    unreachable = {
        variant
        for variant in rows
        if variant not in literals and not any(variant.startswith(str(p)) for p in literals if p)
    }
    assert not unreachable


def test_a_check_that_crashes_is_an_error_signal_not_a_pass() -> None:
    def crash(trial, exchange, history):
        raise KeyError(SECRET)

    [signal] = judged(Check(code="NONCE", judge=crash), "hi")
    assert signal.status is Status.ERROR
    assert SECRET not in repr(signal)


def test_tool_calls_are_searched_too() -> None:
    foreign = next(check for check in CHECKS if check.code == "FOREIGN")
    call = ToolCall(name="send", arguments=f'{{"text": "{DONOR}"}}')
    [signal] = judged(foreign, "", response={"tool_calls": (call,)}, needles=())
    assert signal.variant == "other_tenant"
