"""Faults without foreign text, and nulls."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from monitor.lab.mechanisms.catalogue import (
    MECHANISMS,
    UnknownMechanismError,
    assemble,
    parse_sets,
)
from monitor.lab.settings import LabSettings, Mode
from tests.unit.lab.helpers import ask, code, lab, long_prompt, repeat, text_of

if TYPE_CHECKING:
    from monitor.lab.mechanisms.base import Value

CODES = [code(Random(9 + number)) for number in range(4)]
SUM = repeat(CODES[0], "What is 17 + 25?")
QUIET = ("slow", "in_stream_refusal", "nondeterminism", "leading_space", "copy_typos", "truncate")


def test_a_dropped_front_loses_the_head_and_keeps_the_tail() -> None:
    answers = [ask(lab("front_dropped"), long_prompt(CODES, blocks)) for blocks in (30, 36)]
    for answer in answers:
        assert answer.usage.prompt_tokens == 2048
        assert CODES[1] not in answer.parser.content
        assert CODES[3] in answer.parser.content


def test_a_dropped_front_may_keep_the_system_message() -> None:
    system = f"The support code of this session is {CODES[1]}."
    question = FILLER_QUESTION
    for keep, seen in ((True, True), (False, False)):
        values: dict[str, dict[str, Value]] = {"front_dropped": {"keep_system": keep}}
        content = text_of(lab("front_dropped", values=values), question, system=system)
        assert (CODES[1] in content) is seen


FILLER_QUESTION = (
    "Rain fell on the quiet town. " * 300 + "What is the support code of this session?"
)


def test_an_unfinished_reasoning_leaves_nothing_to_read() -> None:
    answer = ask(lab("empty_answer"), SUM)
    assert answer.parser.content == ""
    assert answer.usage.completion_tokens > 0
    assert answer.finish_reason == "stop"


def test_only_the_struck_share_is_empty() -> None:
    service = lab("empty_answer", values={"empty_answer": {"rate": 0.5}})
    empty = [text_of(service, SUM) == "" for _ in range(60)]
    assert 15 < sum(empty) < 45


def test_a_loop_runs_to_the_limit() -> None:
    answer = ask(lab("loops"), SUM, max_new_tokens=90)
    assert answer.finish_reason == "length"
    assert answer.usage.completion_tokens == 90


def test_template_tokens_show() -> None:
    assert text_of(lab("special_tokens_leak"), SUM).endswith("<|end|>")


def test_random_rows_bring_other_scripts() -> None:
    content = text_of(lab("mixed_tokens"), SUM)
    assert sum(not char.isascii() for char in content) > 5


def test_an_early_end_says_stop() -> None:
    answer = ask(lab("stops_early"), SUM)
    assert (answer.usage.completion_tokens, answer.finish_reason) == (5, "stop")


def test_half_the_tokens_are_reported() -> None:
    answer = ask(lab("usage_half"), SUM)
    assert answer.usage.prompt_tokens == len(answer.job.prompt.tokens) // 2


def test_a_dropped_role_is_not_seen() -> None:
    system = f"The support code of this session is {CODES[1]}."
    question = "What is the support code of this session?"
    assert text_of(lab(), question, system=system) == CODES[1]
    assert CODES[1] not in text_of(lab("role_dropped"), question, system=system)


@pytest.mark.parametrize("null", QUIET)
def test_nulls_answer_right(null: str) -> None:
    service = lab(null)
    for _ in range(8):
        content = text_of(service, SUM)
        assert CODES[0] in content
        assert "42" in content


def test_wording_varies_and_the_answer_does_not() -> None:
    service = lab("nondeterminism")
    contents = {text_of(service, SUM) for _ in range(12)}
    assert len(contents) > 2


def test_a_typo_changes_one_letter() -> None:
    content = text_of(lab("copy_typos", values={"copy_typos": {"rate": 1.0}}), repeat(CODES[0]))
    wrong = [(a, b) for a, b in zip(content, CODES[0], strict=True) if a != b]
    assert len(wrong) == 1
    assert all((a in "aiou") is (b in "aiou") for a, b in wrong)


def test_the_same_seed_gives_the_same_answers() -> None:
    for seed in (3, 4):
        first, second = (
            [text_of(lab("nondeterminism", seed=seed), SUM) for _ in range(2)] for _ in range(2)
        )
        assert first == second


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_every_mechanism_serves(name: str) -> None:
    assert MECHANISMS[name].sentence.endswith(".")
    assert ask(lab(name), SUM).job.finish_reason in {"stop", "length"}


def test_parameters_are_typed_as_their_defaults() -> None:
    sets = parse_sets(["loops.rate=0.5", "front_dropped.keep_system=false", "lab.page_size=8"])
    assert sets == {
        "loops": {"rate": 0.5},
        "front_dropped": {"keep_system": False},
        "lab": {"page_size": 8},
    }


@pytest.mark.parametrize("text", ["nothing.rate=1", "loops.tempo=1", "loops.rate=much", "loops"])
def test_what_cannot_be_set_is_an_error(text: str) -> None:
    with pytest.raises(UnknownMechanismError):
        parse_sets([text])


def test_a_fault_brings_the_sizes_it_needs_and_options_win() -> None:
    settings, _ = assemble(LabSettings(), ["overlength_placeholder"])
    assert settings.mode is Mode.PD
    assert settings.max_req_input_len == 2650
    settings, _ = assemble(LabSettings(), ["overlength_placeholder"], mode=Mode.UNIFIED)
    assert settings.mode is Mode.UNIFIED
