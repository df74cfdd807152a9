"""TOPIC: the answer to a golden prompt is about what right answers are about.

An instrument measured the largest cosine to the prompt's references. How low is too low is learnt
from healthy answers of this very target, by split conformal prediction: there is no fixed
threshold, since likeness has another scale for every prompt and model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median

from monitor.checks.base import Check, Specimen, could_not_judge, failed, passed, skipped
from monitor.checks.fact import NOT_AS_ASKED, prompt_as_asked
from monitor.checks.specimen import Scene, a_calibration, a_golden_prompt, an_exchange
from monitor.detect.conformal import least_recorded, low_p_value
from monitor.history import History
from monitor.model import (
    Calibration,
    Exchange,
    Expectation,
    Measurement,
    PromptBaseline,
    Signal,
    Trial,
)
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring.topic.reading import answer_proper
from monitor.scoring.topic.refusals import declines

CODE = "TOPIC"
# Equal texts give equal cosines only up to rounding (batches, threads, backends); and a healthy
# target often gives one answer word for word, so that all its recorded cosines are one.
ALIKE = 0.001
# Prompts are pooled if their references have about as many characters: likeness grows with length.
LENGTHS = (40, 120, 400)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated on a refusal, and on an answer less like the references than healthy ones.

    False alarms: of healthy answers at most ``topic_level`` (0.02) are called off topic, whatever
    their distribution, over the draw of the recorded ones; where prompts are pooled the bound holds
    for all of them together. The bench of checks measures both, and what is caught. A refusal is a
    phrase of a list near the beginning; its rate on texts that refuse nothing is measured too.
    """
    response = exchange.response
    if exchange.expectation.golden is None or response is None:
        return [skipped(CODE, exchange, "not a golden prompt")]
    measured = history.measured.get(exchange.index)
    if measured is None or not _configured(measured):
        return [skipped(CODE, exchange, "not configured")]
    prompt = prompt_as_asked(exchange, history)
    if prompt is None:
        return [could_not_judge(CODE, exchange, NOT_AS_ASKED)]
    said = answer_proper(response.answer(), exchange.expectation.nonce or "")
    if declines(said, "\n".join([exchange.request.text(), *prompt.references])):
        return [failed(CODE, exchange, "refusal", "a phrase that declines stands near the start")]
    return [_of_measured(measured, exchange, prompt, history)]


def _of_measured(
    measured: Measurement, exchange: Exchange, prompt: GoldenPrompt, history: History
) -> Signal:
    if CODE in measured.broken:
        return could_not_judge(CODE, exchange, measured.broken[CODE])
    if measured.similarity is None:
        return skipped(CODE, exchange, measured.skipped[CODE])
    signal = _of_similarity(measured.similarity, exchange, prompt, history)
    return replace(signal, score=measured.similarity)


def _configured(measured: Measurement) -> bool:
    said = CODE in measured.skipped or CODE in measured.broken
    return said or measured.similarity is not None


def _of_similarity(
    similarity: float, exchange: Exchange, prompt: GoldenPrompt, past: History
) -> Signal:
    level, calibration = past.settings.topic_level, past.calibration
    least = least_recorded(level)
    if calibration is None:
        return skipped(CODE, exchange, "no calibration of this target to compare with")
    if least is None:
        return skipped(CODE, exchange, "level 0: nothing can be too unlike")
    recorded = _recorded(prompt, calibration, past, least)
    if recorded.quarantined:
        return skipped(CODE, exchange, "the calibration has this prompt in quarantine")
    found = len(recorded.similarities)
    if found < least:
        words = f"too few healthy answers recorded: {found} of {least}"
        return skipped(CODE, exchange, words)
    p = low_p_value(recorded.similarities, similarity + ALIKE)
    of = f"{found} healthy answers to {recorded.prompts} prompts"
    words = f"likeness {similarity:.3f}, p {p:.3f} among {of}, level {level:g}"
    return (
        failed(CODE, exchange, "off_topic", words) if p <= level else passed(CODE, exchange, words)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """Healthy similarities, ascending, and of how many prompts they are."""

    similarities: Sequence[float] = ()
    prompts: int = 1
    quarantined: bool = False


def _recorded(
    prompt: GoldenPrompt, calibration: Calibration, past: History, least: int
) -> _Recorded:
    """Return the prompt's own healthy similarities, or if too few those of all prompts like it.

    Classes by language and length make this a Mondrian conformal prediction (Vovk et al. 2003).
    """
    own = calibration.prompt(prompt.name, prompt.version)
    if own is not None and own.quarantined:
        return _Recorded(quarantined=True)
    if own is not None and len(own.similarities) >= least:
        return _Recorded(similarities=sorted(own.similarities))
    like = [each for each in calibration.prompts if _is_like(each, prompt, past)]
    pooled = sorted(similarity for each in like for similarity in each.similarities)
    if len(pooled) >= least:
        return _Recorded(similarities=pooled, prompts=len(like))
    return _Recorded(similarities=sorted(own.similarities) if own else ())


def _is_like(baseline: PromptBaseline, prompt: GoldenPrompt, past: History) -> bool:
    other = past.golden.get(baseline.name)
    if other is None or other.version != baseline.version or baseline.quarantined:
        return False
    return (other.language, _length(other)) == (prompt.language, _length(prompt))


def _length(prompt: GoldenPrompt) -> int:
    """Return which of ``LENGTHS`` the prompt's references reach."""
    middle = median(map(len, prompt.references)) if prompt.references else 0
    return sum(middle >= each for each in LENGTHS)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    metal = rng.choice(("copper", "silver", "zinc", "nickel"))
    prompt = a_golden_prompt(
        prompt=f"Does {metal} conduct electricity?",
        expectations=(AnyOf(strings=(metal,)),),
        references=(
            f"Yes, {metal} is a metal and conducts electricity well.",
            f"{metal.capitalize()} is a good conductor of electricity.",
            f"Electric current flows easily through {metal}.",
        ),
    )
    # High ones, so that they hold for models to which everything is somewhat alike.
    recorded = tuple(round(0.97 + rng.random() * 0.03, 4) for _ in range(60))
    baseline = PromptBaseline(
        name=prompt.name,
        version=prompt.version,
        asked=60,
        missed=0,
        similarities=tuple(sorted(recorded)),
    )
    calibration = a_calibration(prompts=(baseline,))
    expects = Expectation(golden=prompt.name, golden_version=prompt.version)
    answers = (
        (rng.choice(prompt.references), Measurement(similarity=1.0), ""),
        (
            f"The night train leaves at {rng.randint(8, 11)} from platform {rng.randint(2, 9)}.",
            Measurement(similarity=0.05),
            "off_topic",
        ),
        (
            "I'm sorry, but I cannot help with that request.",
            Measurement(skipped={CODE: "the answer declines"}),
            "refusal",
        ),
    )
    return [
        scene.specimen(
            an_exchange(answer, prompt=prompt.prompt, expects=expects),
            fails=variant,
            golden={prompt.name: prompt},
            calibration=calibration,
            measured={0: measured},
        )
        for answer, measured, variant in answers
    ]


CHECK = Check(code=CODE, judge=judge, measured=True, specimens=_specimens)
