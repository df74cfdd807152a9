"""SPECIAL: leaked control tokens and raw pieces; tokens that are spoken of are no leak."""

# ruff: noqa: RUF001 - Chinese punctuation is part of what is tested

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


TURN = "What is the capital of Peru?"
SECOND = "The capital of Peru is Lima."


@pytest.mark.parametrize(
    "run_on",
    [
        f"\nuser\n{TURN}\nassistant\n{SECOND}",
        f"user\n{TURN}",
        f"\n\nUser: {TURN}\nAssistant: {SECOND}",
        f"\r\n\r\nHuman:\r\n{TURN}\r\n\r\nAssistant:\r\n{SECOND}",
        f"\n### Human: {TURN}\n### Assistant: {SECOND}",
        f"\n**User:** {TURN}\n**Assistant:** {SECOND}",
        f"\n[user] {TURN}\n[assistant] {SECOND}".replace("] ", "]\n"),
        "\n用户：秘鲁的首都是哪里？\n助手：利马。",
        f"\nassistant\n{SECOND}",
    ],
)
def test_a_turn_that_nobody_took_is_tolerated(run_on: str) -> None:
    answer = ANSWER + (run_on if run_on[0] in "\r\n" else f"\n{run_on}")
    assert variants(answer) == {"invented_turn"}
    verdict = BENCH.judge(an_exchange("What is the capital?", answer))
    assert verdict.verdict_class is VerdictClass.WRONG


def test_a_head_that_the_template_left_before_the_answer_is_one() -> None:
    assert variants(f"assistant\n\n{ANSWER}") == {"invented_turn"}
    assert variants("assistant") == set()


@pytest.mark.parametrize(
    "answer",
    [
        "admin\nuser\nguest",
        "Name: Ada\nUser: ada1\nHost: lamp",
        "User: a person who reads.\nAdmin: a person who writes.",
        "The user\nasked for three words, and the assistant\ngave them four.",
        f"{ANSWER}\n\nUser satisfaction is what counts.\nAssistants help.",
        f"{ANSWER}\n\nLet me know if you need anything else!",
        f"{ANSWER}\nAI: short for artificial intelligence.\nBot: short for robot.",
        f"{ANSWER}\nuser\n    The name to sign in with.\n",
        f"So it looks:\n```\nuser\nWhat is the capital?\nassistant\n{ANSWER}\n```\nThat was it.",
        "### User\n\nThe person who reads.\n\n### Response\n\nWhat is sent back.",
        "| user | assistant |\n|---|---|\n| asks | answers |",
        f"{ANSWER}\nUser:\nAssistant:",
        "Model: T-800\nUser: none",
    ],
)
def test_words_for_roles_are_no_turn(answer: str) -> None:
    assert variants(answer) == set()


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a short dialogue between a user and an assistant.",
        "请写一段对话。",
        "Go on:\nUser: Where is Lima?\nAssistant: In Peru.",
    ],
)
def test_who_asks_for_turns_gets_them(prompt: str) -> None:
    run_on = f"{ANSWER}\nUser: {TURN}\nAssistant: {SECOND}"
    assert variants(run_on, prompt) == set()
    assert variants(run_on) == {"invented_turn"}
