"""TOPIC: judged by recorded healthy answers, refusals first, everything else said as a skip."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.base import judge_trial
from monitor.checks.topic import CHECK, LENGTHS
from monitor.history import History, JudgeSettings
from monitor.measuring import measure
from monitor.model import Calibration, Measurement, PromptBaseline, Signal, Status
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring import InlineScorer, ScoringSettings
from tests.builders import NOW, Bench, a_trial, an_exchange

BENCH = Bench()
RIGHT = "Paris is the capital of France."
REFERENCES = (RIGHT, "The capital of France is Paris.", "France's capital city is called Paris.")
HEALTHY = tuple(round(0.6 + number / 200, 3) for number in range(60))


def a_prompt(id_: str = "capital", **fields) -> GoldenPrompt:
    known = {
        "suite": "facts",
        "language": "en",
        "prompt": "What is the capital of France?",
        "expectations": (AnyOf(strings=("Paris",)),),
        "max_output_tokens": 48,
        "references": REFERENCES,
    }
    return GoldenPrompt(id=id_, **(known | fields))


def a_calibration(*prompts: tuple[GoldenPrompt, tuple[float, ...]], **fields) -> Calibration:
    return Calibration(
        id="calibration-1",
        target="glm",
        model="glm-5.3",
        made_at=NOW,
        made_by="tests",
        reason="a test",
        subject="",
        checks_version="2",
        tolerance=0.1,
        prompts=tuple(
            PromptBaseline(
                name=prompt.name,
                version=prompt.version,
                asked=len(similarities),
                missed=0,
                similarities=similarities,
                **fields,
            )
            for prompt, similarities in prompts
        ),
    )


def judged(
    measured: Measurement | None,
    answer: str = RIGHT,
    *,
    prompt: GoldenPrompt | None = None,
    calibration: Calibration | None = None,
    level: float = 0.02,
    others: tuple[GoldenPrompt, ...] = (),
) -> Signal:
    prompt = prompt or a_prompt()
    exchange = an_exchange(prompt.prompt, answer, golden=prompt.name, golden_version=prompt.version)
    history = History(
        registry=BENCH.registry,
        golden={each.name: each for each in (prompt, *others)},
        settings=JudgeSettings(topic_level=level),
        calibration=calibration or a_calibration((prompt, HEALTHY)),
        measured={} if measured is None else {0: measured},
    )
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    return signal


def likeness(similarity: float) -> Measurement:
    return Measurement(similarity=similarity)


def test_an_answer_less_alike_than_healthy_ones_is_off_topic() -> None:
    signal = judged(likeness(0.41))
    assert (signal.status, signal.variant, signal.score) == (Status.FAIL, "off_topic", 0.41)
    words = "likeness 0.410, p 0.016 among 60 healthy answers to 1 prompts, level 0.02"
    assert signal.explanation == words


def test_an_answer_like_the_least_alike_healthy_one_passes() -> None:
    assert judged(likeness(HEALTHY[0])).status is Status.PASS
    assert judged(likeness(HEALTHY[0] - 1e-6)).status is Status.PASS  # but for rounding
    assert judged(likeness(HEALTHY[0] - 0.01)).status is Status.FAIL


def test_one_answer_given_every_time_leaves_room_for_rounding_only() -> None:
    calibration = a_calibration((a_prompt(), (0.9,) * 60))
    assert judged(likeness(0.8999), calibration=calibration).status is Status.PASS
    assert judged(likeness(0.7), calibration=calibration).status is Status.FAIL


def test_the_level_decides() -> None:
    assert judged(likeness(0.604), level=0.02).status is Status.PASS
    assert judged(likeness(0.604), level=0.05).status is Status.FAIL
    assert judged(likeness(0.0), level=0.0).status is Status.SKIP


@pytest.mark.parametrize(("recorded", "status"), [(48, Status.SKIP), (49, Status.FAIL)])
def test_too_few_recorded_answers_are_no_verdict(recorded: int, status: Status) -> None:
    signal = judged(likeness(0.1), calibration=a_calibration((a_prompt(), HEALTHY[:recorded])))
    assert signal.status is status
    if status is Status.SKIP:
        assert signal.explanation == "too few healthy answers recorded: 48 of 49"
        assert signal.score == 0.1


def test_prompts_of_one_language_and_length_are_pooled() -> None:
    one, two, zh = a_prompt(), a_prompt("two"), a_prompt("zh", language="zh")
    long = a_prompt("long", references=tuple("x" * LENGTHS[0] * n for n in (2, 3, 4)))
    pooled = a_calibration((one, HEALTHY[:30]), (two, HEALTHY[30:]))
    signal = judged(likeness(0.1), prompt=one, others=(two,), calibration=pooled)
    assert signal.status is Status.FAIL
    assert "60 healthy answers to 2 prompts" in signal.explanation
    for other in (zh, long):
        apart = a_calibration((one, HEALTHY[:30]), (other, HEALTHY[30:]))
        signal = judged(likeness(0.1), prompt=one, others=(other,), calibration=apart)
        assert signal.explanation == "too few healthy answers recorded: 30 of 49"


def test_what_is_pooled_was_recorded_of_the_prompts_as_they_are_and_not_set_aside() -> None:
    one, two = a_prompt(), a_prompt("two")
    pooled = a_calibration((one, HEALTHY[:30]), (two, HEALTHY[30:]))
    changed = replace(two, prompt="And the largest city?")
    few = "too few healthy answers recorded: 30 of 49"
    assert (
        judged(likeness(0.1), prompt=one, others=(changed,), calibration=pooled).explanation == few
    )
    own, other = pooled.prompts
    aside = replace(pooled, prompts=(own, replace(other, quarantined=True)))
    assert judged(likeness(0.1), prompt=one, others=(two,), calibration=aside).explanation == few


def test_a_recording_under_another_version_does_not_count() -> None:
    other = a_prompt(prompt="Which city is the capital of France?")
    signal = judged(likeness(0.1), calibration=a_calibration((other, HEALTHY)))
    assert signal.explanation == "too few healthy answers recorded: 0 of 49"


def test_without_a_calibration_the_likeness_is_kept_and_not_judged() -> None:
    prompt = a_prompt()
    exchange = an_exchange(prompt.prompt, RIGHT, golden=prompt.name)
    history = History(
        registry=BENCH.registry, golden={prompt.name: prompt}, measured={0: likeness(0.8)}
    )
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    assert (signal.status, signal.score) == (Status.SKIP, 0.8)
    assert "no calibration" in signal.explanation


def test_a_quarantined_prompt_is_not_judged() -> None:
    calibration = a_calibration((a_prompt(), HEALTHY), quarantined=True)
    assert judged(likeness(0.1), calibration=calibration).status is Status.SKIP


@pytest.mark.parametrize(
    "measured",
    [Measurement(skipped={"TOPIC": "the answer declines"}), likeness(0.9)],
)
def test_a_refusal_is_its_own_fault_whatever_the_likeness(measured: Measurement) -> None:
    signal = judged(measured, "I'm sorry, but I cannot help with that. Paris.")
    assert (signal.status, signal.variant) == (Status.FAIL, "refusal")


def test_a_refusal_that_was_asked_for_is_none() -> None:
    prompt = a_prompt(prompt="Translate into English: 'Ich kann nicht helfen.' (I cannot help.)")
    assert judged(likeness(0.9), "I cannot help you out.", prompt=prompt).status is Status.PASS


@pytest.mark.parametrize(
    ("measured", "status", "words"),
    [
        (None, Status.SKIP, "not configured"),
        (Measurement(), Status.SKIP, "not configured"),
        (Measurement(entities=(), language="en"), Status.SKIP, "not configured"),
        (Measurement(skipped={"TOPIC": "too short"}), Status.SKIP, "too short"),
        (Measurement(broken={"TOPIC": "TimeoutError"}), Status.ERROR, "TimeoutError"),
    ],
)
def test_what_was_not_measured_is_said(measured, status, words) -> None:
    signal = judged(measured)
    assert (signal.status, signal.explanation) == (status, words)


def test_unconfigured_a_refusal_is_left_to_other_checks() -> None:
    assert judged(None, "I cannot help with that.").explanation == "not configured"


def test_a_prompt_that_is_gone_cannot_be_judged() -> None:
    exchange = an_exchange("?", RIGHT, golden="facts/gone")
    history = replace(BENCH.history, measured={0: likeness(0.1)})
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    assert signal.status is Status.ERROR


def test_a_prompt_that_was_edited_since_cannot_be_judged() -> None:
    exchange = an_exchange("?", RIGHT, golden="facts/capital", golden_version="000000000000")
    history = replace(
        BENCH.history, golden={"facts/capital": a_prompt()}, measured={0: likeness(0.1)}
    )
    [signal] = judge_trial(a_trial(exchange), history, [CHECK])
    assert signal.status is Status.ERROR


@given(
    answer=st.text(st.characters(codec=None), max_size=300),
    similarity=st.floats(-1, 1) | st.none(),
    recorded=st.lists(st.floats(-1, 1), max_size=70),
)
def test_any_answer_is_judged_by_its_likeness_alone_and_not_quoted(
    answer: str, similarity: float | None, recorded: list[float]
) -> None:
    calibration = a_calibration((a_prompt(), tuple(recorded)))
    measured = Measurement(similarity=similarity, skipped={"TOPIC": "spared"})
    signal = judged(measured, f"sk-planted {answer}", calibration=calibration)
    assert signal.status is not Status.ERROR
    assert "sk-planted" not in repr(signal)
    lower = sum(each <= (similarity or 0) for each in recorded)
    if signal.variant == "off_topic":
        assert similarity is not None
        assert (1 + lower) / (len(recorded) + 1) <= 0.02


def test_the_specimens_hold_for_the_real_model() -> None:
    """Through measuring and the real vectors: what must fail fails, what must pass passes."""
    topic = {"model": "all-MiniLM-L6-v2", "backend": "onnx", "scripts": ("latin",)}
    scorer = InlineScorer(ScoringSettings(instruments={"TOPIC": topic}))
    assert CHECK.specimens is not None
    for seed in range(5):
        specimens = CHECK.specimens(Random(seed))
        assert {each.variant for each in specimens} == {"", "off_topic", "refusal"}
        for specimen in specimens:
            past = specimen.history
            found = asyncio.run(measure(specimen.trial, (), past, scorer))
            for measured in (found, past.measured):
                history = replace(past, measured=measured)
                [signal] = judge_trial(specimen.trial, history, [CHECK])
                wanted = Status.FAIL if specimen.variant else Status.PASS
                assert (signal.status, signal.variant) == (wanted, specimen.variant)
