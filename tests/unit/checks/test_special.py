"""SPECIAL: leaked control tokens and raw pieces; tokens that are spoken of are no leak."""

from __future__ import annotations

import pytest

from monitor.checks import judge_trial
from monitor.checks.special import CHECK
from monitor.model import Status, Tool, ToolCall, VerdictClass
from monitor.writing import control
from tests.builders import Bench, a_trial, an_exchange

BENCH = Bench()
ANSWER = "The capital of France is Paris."


def variants(answer: str, prompt: str = "What is the capital?", **fields) -> set[str]:
    exchange = an_exchange(prompt, answer, **fields)
    signals = CHECK.judge(a_trial(exchange), exchange, BENCH.history)
    return {signal.variant for signal in signals if signal.status is Status.FAIL}


@pytest.mark.parametrize(
    "leak",
    [
        "<|im_end|>",
        "<turn|>",
        "</s>",
        "<0xE4><0xB8><0xAD>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    ],
)
def test_a_leaked_token_is_corrupt(leak: str) -> None:
    assert variants(ANSWER + leak) == {"control_token"}
    verdict = BENCH.judge(an_exchange("What is the capital?", ANSWER + leak))
    assert verdict.verdict_class is VerdictClass.CORRUPT


def test_pieces_that_the_request_asks_about_are_no_leak() -> None:
    pieces = "With \u2581: \u2581Hello \u2581world \u2581again"
    assert variants(pieces, "How does SentencePiece mark spaces?") == set()
    assert variants(pieces, "Say hello.") == {"raw_pieces"}


def test_d07_a_token_in_a_tools_name_is_never_excused() -> None:
    call = ToolCall(name="query_dataset<|channel|>commentary", arguments='{"a": 1}')
    assert variants("", response={"tool_calls": (call,)}) == {"control_token"}
    assert variants("", "Which special tokens?", response={"tool_calls": (call,)}) == {
        "control_token"
    }
    quoted = ToolCall(name="find", arguments='{"q": "<|im_end|>"}')
    assert variants("", response={"tool_calls": (quoted,)}) == {"control_token"}


def test_tokens_in_reasoning_count() -> None:
    assert variants(ANSWER, response={"reasoning_text": "Hm.<|im_end|>"}) == {"control_token"}


@pytest.mark.parametrize(
    ("answer", "prompt"),
    [
        ("It ends with <|im_end|>.", "Explain <|im_end|> please."),
        ("ChatML ends turns with <|im_end|>", "Which special token ends a turn?"),
        ("The token `<|im_end|>` ends a turn.", "How do chats end?"),
        ('Then comes "<s>", and so on.', "How do chats begin?"),
        ("<p>Old price: <s>12</s></p>", "Show the price."),
        ("Use <s>12</s> for it.", "How is text struck through in HTML?"),
        ("<svg><mask>x</mask><g>y</g></svg>", "Draw something."),
    ],
)
def test_what_is_spoken_of_or_asked_for_is_no_leak(answer: str, prompt: str) -> None:
    assert variants(answer, prompt) == set()


def test_a_json_answer_does_not_speak_of_tokens() -> None:
    assert variants('{"city": "<|im_end|>"}') == {"control_token"}


def test_pieces_of_a_vocabulary_count_from_three_on() -> None:
    assert variants("TheĠcapitalĠofĠFranceĠisĠParis") == {"raw_pieces"}
    assert variants("▁The▁capital▁of▁France") == {"raw_pieces"}
    assert variants("The ▁capital is Paris") == set()


def test_control_characters_are_corrupt_unless_given() -> None:
    assert variants(f"{ANSWER}\x1b[0m") == {"control_character"}
    assert variants(f"{ANSWER}\x1b[0m", "What is \x1b?") == set()
    assert variants(f"{ANSWER}\n\tYes.\r\n") == set()


def test_the_opening_of_a_call_that_was_cut_is_not_looked_at() -> None:
    tools = (Tool(name="find", description="", parameters="{}"),)
    exchange = an_exchange("Find it.", "<tool_call>", response={"finish_reason": "length"})
    object.__setattr__(exchange.request, "tools", tools)
    [signal] = judge_trial(a_trial(exchange), BENCH.history, [CHECK])
    assert signal.status is Status.PASS


def test_a_request_is_not_looked_through_for_an_answer_without_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It may have a million tokens: that took a second an answer.
    class Untouched:
        def search(self, text: str) -> None:
            raise AssertionError(text)

    monkeypatch.setattr(control, "ABOUT_TOKENS", Untouched())
    assert variants(f"{ANSWER} The \u2581end") == set()


def test_five_megabytes_of_tokens_are_judged() -> None:
    assert variants("<|im_end|>" * 500_000) == {"control_token"}
    assert variants("<|" * 2_500_000) == set()
    assert variants("`" * 5_000_000) == set()
