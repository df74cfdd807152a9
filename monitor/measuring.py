"""What is measured of a trial's answers before the checks of measurements judge them.

A cascade: the checks that cost nothing come first, and a model is spared where it could not change
the verdict. What an instrument was spared for is said, so that it shows as a skip with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from monitor.checks.fact import prompt_as_asked
from monitor.history import History
from monitor.model import Exchange, Measurement, Signal, Status, Trial, VerdictClass
from monitor.prompts import GoldenPrompt
from monitor.scoring import Asked, Scorer
from monitor.scoring.topic.reading import LEAST_REFERENCES
from monitor.verdicts import consequence

# Fewer letters do not tell a language.
LANGUAGE_LETTERS = 100
# A cosine below this is no answer to the question: right ones have more than 0.5 in the bench.
UNLIKE = 0.3
# These can call an answer WRONG and nothing worse.
_ONLY_WRONG = ("TOPIC", "LANGUAGE")


class SecondOpinion(Protocol):
    """Another model that is asked whether a golden answer is right."""

    async def opinion(self, trial: Trial, exchange: Exchange, golden: GoldenPrompt) -> Measurement:
        """Return ``judged_right``, or under JUDGE why nothing was said. Never raises."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """Who measures: the instruments, and another model if one is asked."""

    scorer: Scorer
    second: SecondOpinion | None = None


async def measure(
    trial: Trial,
    signals: Sequence[Signal],
    history: History,
    scorer: Scorer,
    second: SecondOpinion | None = None,
) -> dict[int, Measurement]:
    """Return what was read off each answer, by the exchange's index.

    ``signals`` are those of the checks that went before. Nothing is measured, and nothing started,
    without an instrument or a ``second`` opinion, which is asked last.
    """
    measured = await _read_off(trial, signals, history, scorer)
    if second is None:
        return measured
    for exchange in trial.exchanges:
        before = measured.get(exchange.index, Measurement())
        opinion = await _opinion(trial, exchange, signals, history, before, second)
        measured[exchange.index] = replace(
            before,
            judged_right=opinion.judged_right,
            skipped={**before.skipped, **opinion.skipped},
            broken={**before.broken, **opinion.broken},
        )
    return measured


async def _opinion(
    trial: Trial,
    exchange: Exchange,
    signals: Sequence[Signal],
    history: History,
    before: Measurement,
    second: SecondOpinion,
) -> Measurement:
    """Ask for an opinion, but pass on no answer in which anything looks odd, or was not told.

    What is odd may be somebody else's text, and the judge is somebody else's server.
    """
    golden = prompt_as_asked(exchange, history)
    untold = {s.exchange for s in signals if s.status in (Status.FAIL, Status.ERROR)}
    unlike = before.similarity is not None and before.similarity < UNLIKE
    odd = (
        exchange.index in untold
        or unlike
        or bool(before.broken)
        or any(each.strong for each in before.entities or ())
    )
    why = _spared(exchange, golden, bad=False) or ("the answer looks odd already" if odd else "")
    if why or golden is None:
        return Measurement(skipped={"JUDGE": why})
    return await second.opinion(trial, exchange, golden)


async def _read_off(
    trial: Trial, signals: Sequence[Signal], history: History, scorer: Scorer
) -> dict[int, Measurement]:
    """Return what the instruments read off each answer, by the exchange's index."""
    if not scorer.codes:
        return {}
    bad = {signal.exchange for signal in signals if _is_bad(signal)}
    orders = [
        _order(exchange, history, scorer.codes, bad=exchange.index in bad)
        for exchange in trial.exchanges
        if exchange.response is not None
    ]
    wanted = [order for order in orders if order.asked.wants]
    measured = await scorer.measure([order.asked for order in wanted]) if wanted else []
    found = {o.exchange: each for o, each in zip(wanted, measured, strict=True)}
    return {o.exchange: _with_spared(found.get(o.exchange), o) for o in orders}


@dataclass(frozen=True, slots=True)
class _Order:
    """What to measure of one answer, and by code why an instrument is spared."""

    exchange: int
    asked: Asked
    spared: dict[str, str]


def _is_bad(signal: Signal) -> bool:
    is_worse = consequence(signal).verdict_class >= VerdictClass.WRONG
    return signal.status is Status.FAIL and is_worse


def _order(exchange: Exchange, history: History, codes: frozenset[str], *, bad: bool) -> _Order:
    response = exchange.response
    written = response.written() if response else ""
    answer = response.answer() if response else ""
    golden = prompt_as_asked(exchange, history)
    spared = {code: _spared(exchange, golden, bad=bad) for code in codes & {*_ONLY_WRONG}}
    if "TOPIC" in codes and golden and len(golden.references) < LEAST_REFERENCES:
        spared["TOPIC"] = spared["TOPIC"] or _few_references(golden)
    if "LANGUAGE" in codes and golden and golden.structure != "text":
        spared["LANGUAGE"] = spared["LANGUAGE"] or "code and JSON are in no language"
    if "LANGUAGE" in codes and not _tells_a_language(answer):
        few = f"fewer than {LANGUAGE_LETTERS} letters do not tell a language"
        spared["LANGUAGE"] = spared["LANGUAGE"] or few
    if "ENTITY" in codes and not written.strip():
        spared["ENTITY"] = "nothing was written"
    spared = {code: why for code, why in spared.items() if why}
    asked = Asked(
        written=written,
        answer=answer,
        request=exchange.request.text(),
        wants=codes - spared.keys(),
        references=golden.references if golden else (),
        language=golden.language if golden else "",
        nonce=exchange.expectation.nonce or "",
    )
    return _Order(exchange.index, asked, spared)


def _spared(exchange: Exchange, golden: GoldenPrompt | None, *, bad: bool) -> str:
    """Return why an instrument that can only say WRONG is spared; nothing if it is not."""
    if not exchange.whole:
        return "no whole answer to judge"
    if golden is None:
        return "not a golden prompt"
    return "the answer is bad already" if bad else ""


def _few_references(golden: GoldenPrompt) -> str:
    return f"{len(golden.references)} of {LEAST_REFERENCES} reference answers"


def _tells_a_language(answer: str) -> bool:
    letters = (letter for letter in answer if letter.isalpha())
    return sum(1 for _ in islice(letters, LANGUAGE_LETTERS)) == LANGUAGE_LETTERS


def _with_spared(measured: Measurement | None, order: _Order) -> Measurement:
    measured = measured or Measurement()
    return replace(measured, skipped={**order.spared, **measured.skipped})
