"""For any text whatsoever each check ends, with a status and an explanation of codes and numbers.

The instruments are the real ones, so that what they do with hostile text is seen too.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.checks import CHECKS, judge_trial
from monitor.checks.remembered import remembered
from monitor.history import History, JudgeSettings
from monitor.measuring import measure
from monitor.model import Calibration, Expectation, Fact, Needle, PromptBaseline, Status, ToolCall
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring import InlineScorer, ScoringSettings
from tests.builders import NOW, Bench, a_trial, an_exchange

# What a check looks at ends at 200,000 characters; two texts are far longer all the same.
MEGA = 250_000
MARK = "Zyxwvut"  # planted: no explanation may quote what the model wrote
EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
BOMBS = {
    "nothing": "",
    "a blank": " \n\t\u3000",
    "5 MB of one letter": "a" * 5_000_000,
    "5 MB of words": f"the {MARK} was busy " * 250_000,
    "5 MB of Chinese": "港口很忙" * 400_000,
    "every character there is": EVERY_CHARACTER,
    "half characters": "\ud800" * 25_000,
    "digits": "4" * MEGA,
    "card numbers": "4111 1111 1111 1111 " * 50_000,
    "telephone numbers": "+49 30 123456 " * 50_000,
    "addresses": "a@b." * 62_500,
    "one endless address": "a." * 62_500 + "@" + "b." * 62_500,
    "numbers with commas": "1," * 125_000,
    "dates": "1969-07-20 " * 50_000,
    "versions": "1.2.3." * 37_500,
    "colons": "a:" * 125_000,
    "keys": "sk-" + "a1" * 125_000,
    "tokens of three parts": "eyJ" + "a." * 75_000,
    "opened keys": "-----BEGIN PRIVATE KEY-----\n" * 30_000,
    "brackets": "[" * MEGA,
    "braces": '{"a":' * 50_000,
    "quotes": '"' * MEGA,
    "backslashes": '"' + "\\" * MEGA,
    "escapes": '"' + "\\u00" * 60_000,
    "a large number": '{"n": ' + "9" * 100_000 + "}",
    "control tokens": "<|im_end|>" * 25_000,
    "half control tokens": "<|" * 125_000,
    "full-width bars": "<\uff5c" * 125_000,
    "markers": "babab-" * 50_000,
    "groups without hyphens": "babab " * 50_000,
    "fences": "```\n" * 62_500,
    "list items": "\n".join(f"{number}. x" for number in range(25_000)),
    "bullets": "- a\n" * 62_500,
    "marks on a letter": "e" + "\u0301" * MEGA,
    "zero width": "\u200b" * MEGA,
    "right to left": "\u202e" * MEGA,
    "damage": "\ufffd" * MEGA,
    "private use": "\ue000" * MEGA,
    "line breaks": "\n" * MEGA,
    "almost a loop": "ab" * 125_000 + "c",
    "a bomb for repeats": "a" * 50_000 + "!",
    "code": "def f(x):\n    return (" * 50_000,
    "deep calls": "f(" * 25_000 + ")" * 25_000,
}
PROMPT = GoldenPrompt(
    suite="contract",
    id="capital",
    language="en",
    prompt="What is the capital of France? Answer in a sentence.",
    expectations=(AnyOf(strings=("Paris",)),),
    max_output_tokens=48,
    references=(
        "The capital of France is Paris.",
        "It is Paris.",
        "Paris is the capital city of France.",
    ),
)
BASELINE = PromptBaseline(
    name=PROMPT.name,
    version=PROMPT.version,
    asked=60,
    missed=0,
    similarities=tuple(0.5 + number / 200 for number in range(60)),
)
BENCH = Bench()
NONCE = BENCH.mint("tenant-b")
SCORER = InlineScorer(
    ScoringSettings(
        instruments={
            "ENTITY": {"engine": "pattern", "languages": ("en", "zh"), "allow": ()},
            "TOPIC": {
                "model": "all-MiniLM-L6-v2",
                "backend": "torch",
                "scripts": ("any",),
                "level": 0.02,
            },
            "LANGUAGE": {"languages": ("en", "zh", "de", "fr", "es", "ru")},
        }
    )
)
HISTORY = History(
    registry=BENCH.registry,
    golden={PROMPT.name: PROMPT},
    settings=JudgeSettings(sensitive_terms=("Project Bluebird", "蓝鸟计划")),
    calibration=Calibration(
        id="calibration-1",
        target="glm",
        model="glm-5.3",
        made_at=NOW,
        made_by="a test",
        reason="a test",
        subject="",
        checks_version="",
        tolerance=0.1,
        prompts=(BASELINE,),
    ),
)
EXPECTS = Expectation(
    nonce=NONCE,
    answers=(Fact(name="the sum", any_of=("42",)),),
    golden=PROMPT.name,
    golden_version=PROMPT.version,
    needles=(Needle(place="head", text=NONCE), Needle(place="tail", text=NONCE)),
    boundary="over",
    limit_tokens=100,
    limit_source="config",
    size_tokens=120,
)


def judged(answer: str, **response):
    """Return every signal of every check, measured by the real instruments.

    The second exchange is asked for a border input: of its answer less is expected.
    """
    exchange = an_exchange(f"{NONCE} what is 40 + 2?", answer, response=response)
    golden = replace(exchange, expectation=EXPECTS)
    border = replace(exchange, index=1, expectation=replace(EXPECTS, border_input="one"))
    trial = a_trial(golden, border)
    measured = asyncio.run(measure(a_trial(golden), (), HISTORY, SCORER))
    history = replace(HISTORY, measured=dict.fromkeys((0, 1), measured[0]))
    signals = judge_trial(trial, history, CHECKS)
    for each in trial.exchanges:
        assert MARK.casefold() not in repr(remembered(trial, each, history)).casefold()
    return signals


def holds_its_promises(signals) -> None:
    assert {signal.code for signal in signals} == {check.code for check in CHECKS}
    for signal in signals:
        assert signal.status in Status
        assert signal.status is not Status.ERROR, (signal.code, signal.explanation)
        assert len(signal.explanation) <= 400, signal.code
        assert signal.explanation.isprintable(), signal.code
        assert MARK.casefold() not in signal.explanation.casefold(), signal.code
        for start, end in signal.spans:
            assert 0 <= start <= end


@pytest.mark.parametrize("name", BOMBS)
def test_each_check_ends_on_hostile_text(name) -> None:
    holds_its_promises(judged(BOMBS[name]))


@pytest.mark.parametrize(
    "name", ["5 MB of words", "brackets", "braces", "every character there is"]
)
def test_so_it_does_where_the_text_is_a_call(name) -> None:

    calls = (ToolCall(name=BOMBS[name][:MEGA], arguments=BOMBS[name]),)
    holds_its_promises(judged("", tool_calls=calls, finish_reason="tool_calls"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.text(st.characters(codec=None), max_size=300))
def test_each_check_ends_on_any_text(text) -> None:
    holds_its_promises(judged(f"{text} {MARK} {text}"))
