"""What is measured of a trial's answers before the checks of measurements judge them.

Cheap checks come first. An instrument that can only call an answer WRONG is spared where the
answer is bad already: it could not change the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.history import History
from monitor.model import Exchange, Measurement, Signal, Status, Trial, VerdictClass
from monitor.scoring import Asked, Scorer
from monitor.verdicts import consequence

# What a topic threshold rests on: fewer references say too little of what right answers sound like.
LEAST_REFERENCES = 3
# Fewer letters do not tell a language.
LANGUAGE_LETTERS = 100


async def measure(
    trial: Trial, signals: Sequence[Signal], history: History, scorer: Scorer
) -> dict[int, Measurement]:
    """Return what the instruments read off each answer, by the exchange's index."""
    if not scorer.codes:
        return {}
    bad = {s.exchange for s in signals if _is_bad(s)}
    wanted = [
        (exchange.index, asked)
        for exchange in trial.exchanges
        if (asked := _asked(exchange, history, scorer, bad=exchange.index in bad)) is not None
    ]
    measured = await scorer.measure([asked for _, asked in wanted])
    return {index: each for (index, _), each in zip(wanted, measured, strict=True)}


def _is_bad(signal: Signal) -> bool:
    is_worse = consequence(signal).verdict_class >= VerdictClass.WRONG
    return signal.status is Status.FAIL and is_worse


def _asked(exchange: Exchange, history: History, scorer: Scorer, *, bad: bool) -> Asked | None:
    response = exchange.response
    if response is None:
        return None
    golden = history.golden.get(exchange.expectation.golden or "")
    written, answer = response.written(), response.answer()
    references = golden.references if golden else ()
    wants = {"ENTITY"} if written.strip() else set()
    if exchange.whole and golden is not None and not bad:
        if len(references) >= LEAST_REFERENCES:
            wants.add("TOPIC")
        if sum(letter.isalpha() for letter in answer) >= LANGUAGE_LETTERS:
            wants.add("LANGUAGE")
    wants &= scorer.codes
    if not wants:
        return None
    return Asked(
        written=written,
        answer=answer,
        request=exchange.request.text(),
        wants=frozenset(wants),
        references=references,
        language=golden.language if golden else "",
        nonce=exchange.expectation.nonce or "",
    )
