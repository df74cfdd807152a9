"""LANGUAGE: a golden prompt is answered in its language."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import Check, Specimen, could_not_judge, failed, passed, skipped
from monitor.checks.fact import prompt_as_asked
from monitor.checks.specimen import Scene, a_golden_prompt, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Measurement, Signal, Trial
from monitor.writing.languages import same

CODE = "LANGUAGE"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if the answer is in another language than the golden prompt.

    The instrument leaves out what it is not sure of, and answers in the language of the request
    itself, of a reference, or one that the request names; see ``monitor/scoring/language.py`` for
    how often it is wrong.
    """
    golden = prompt_as_asked(exchange, history)
    if golden is None:
        return [skipped(CODE, exchange, "no golden prompt was asked, or it is not known as asked")]
    reading = history.measured.get(exchange.index, Measurement())
    if CODE in reading.broken:
        return [could_not_judge(CODE, exchange, f"not measured ({reading.broken[CODE]})")]
    if CODE in reading.skipped:
        return [skipped(CODE, exchange, reading.skipped[CODE])]
    if reading.language is None:
        return [skipped(CODE, exchange, "not configured, or too short to tell")]
    if same(reading.language, golden.language):
        return [passed(CODE, exchange, f"in {golden.language}, as asked")]
    words = f"in {reading.language}, asked in {golden.language}"
    return [failed(CODE, exchange, "other_language", words)]


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return an answer in another language, and one in the prompt's."""
    scene = Scene(rng)
    golden = a_golden_prompt(prompt="Describe the harbour in the morning.")
    english = "The morning train left the old station on time, and the boats waited by the pier. "
    french = "Le train du matin est parti à l'heure, et les bateaux attendaient près du quai. "
    cases = (("en", english, ""), (rng.choice(["fr", "it"]), french, "other_language"))
    return [
        scene.specimen(
            an_exchange(text * 2, prompt=golden.prompt, expects=Expectation(golden=golden.name)),
            fails=variant,
            golden={golden.name: golden},
            measured={0: Measurement(language=language)},
        )
        for language, text, variant in cases
    ]


CHECK = Check(code=CODE, judge=judge, measured=True, specimens=specimens)
