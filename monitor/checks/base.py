"""What a check is: a pure function from an exchange and its past to signals.

A new check is one module with a ``CHECK`` and one test; it is listed in ``monitor/checks/__init__``
and each (code, variant) it may fail with has a row in ``monitor/verdicts.py``. A check of what an
instrument measures says so with ``measured``: it finds the reading in ``History.measured``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from monitor.history import History
from monitor.model import Exchange, Expectation, Response, Signal, Status, Trial

Judge = Callable[[Trial, Exchange, History], Sequence[Signal]]


class Needs(Enum):
    """What must have come back before a check can say anything.

    Checks of presence (``SOME_TEXT``) look for what must not be there, so they also run on a cut
    answer; checks of absence (``AN_ANSWER``) would mistake the cut for a fault.
    """

    NOTHING = "nothing"
    SOME_TEXT = "some_text"
    AN_ANSWER = "an_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """An exchange whose right signal is known, by which a check shows that it is not blind.

    ``variant`` is what the check must fail it with; empty if it must pass.
    """

    trial: Trial
    exchange: int
    history: History
    variant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A plug: one signal code and the function that judges it.

    ``specimens`` makes, from a seed, at least one exchange the check must fail and one it must
    pass. ``measured`` is true if an instrument must have looked at the answer first.
    """

    code: str
    judge: Judge
    needs: Needs = Needs.AN_ANSWER
    measured: bool = False
    specimens: Callable[[Random], Sequence[Specimen]] | None = None


def judge_trial(trial: Trial, history: History, checks: Sequence[Check]) -> tuple[Signal, ...]:
    """Return every signal of every exchange. A check that crashes becomes an ERROR signal."""
    return tuple(
        signal
        for exchange in trial.exchanges
        for check in checks
        for signal in _judge(check, trial, exchange, history)
    )


def _judge(check: Check, trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    if not _can_judge(check.needs, exchange):
        return [skipped(check.code, exchange, "no whole answer to judge")]
    try:
        return check.judge(trial, exchange, history)
    except Exception as error:  # noqa: BLE001 - one of three broad handlers: a crash is "could not tell"
        return [
            could_not_judge(check.code, exchange, f"the check crashed ({type(error).__name__})")
        ]


def _can_judge(needs: Needs, exchange: Exchange) -> bool:
    match needs:
        case Needs.NOTHING:
            return True
        case Needs.SOME_TEXT:
            return exchange.response is not None
        case Needs.AN_ANSWER:
            return exchange.whole and not only_reasoned(exchange.response)


def only_reasoned(response: Response | None) -> bool:
    """True if hidden reasoning used up the allowed tokens before any answer was written."""
    if response is None or response.text.strip() or response.tool_calls:
        return False
    reasoned = bool(response.reasoning_text.strip() or response.usage.reasoning_tokens)
    return reasoned and response.finish_reason == "length"


def meant_to_be_cut(exchange: Exchange) -> bool:
    """True if nothing is expected of the answer: its allowed tokens are too few on purpose."""
    return replace(exchange.expectation, border_input="", counts_to=0) == Expectation()


def passed(code: str, exchange: Exchange, explanation: str = "") -> Signal:
    """Return a PASS signal."""
    return Signal(code=code, status=Status.PASS, exchange=exchange.index, explanation=explanation)


def skipped(code: str, exchange: Exchange, explanation: str) -> Signal:
    """Return a SKIP signal: the check does not apply here."""
    return Signal(code=code, status=Status.SKIP, exchange=exchange.index, explanation=explanation)


def could_not_judge(code: str, exchange: Exchange, explanation: str) -> Signal:
    """Return an ERROR signal: the check applies, but nothing can be said."""
    return Signal(code=code, status=Status.ERROR, exchange=exchange.index, explanation=explanation)


def failed(code: str, exchange: Exchange, variant: str, explanation: str) -> Signal:
    """Return a FAIL signal; ``variant`` picks its row in the table of consequences."""
    return Signal(
        code=code,
        status=Status.FAIL,
        exchange=exchange.index,
        variant=variant,
        explanation=explanation,
    )
