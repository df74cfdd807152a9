"""NEEDLE: facts planted at head, middle and tail of a long prompt are recalled."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.canaries import Echo, Echoes
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Needle, Signal, Trial

CODE = "NEEDLE"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard if the head is lost while the tail is kept: the front of the prompt was not read.

    Tolerated where only the middle is lost, which large models do by themselves in long prompts,
    and where the model may forget by itself: its tolerance says it is weak, or not even a short
    prompt of the same trial had all its needles recalled. A needle of which a part stands in the
    answer was read, and copied badly.
    """
    if not exchange.expectation.needles:
        return [skipped(CODE, exchange, "no needle was planted")]
    if exchange.expectation.truncation_accepted:
        return [skipped(CODE, exchange, "truncation is accepted here")]
    lost = lost_places(exchange)
    if not lost:
        return [passed(CODE, exchange, "every needle was recalled")]
    explanation = f"lost: {', '.join(lost)} of {len(exchange.expectation.needles)} needles"
    front = front_lost(exchange, lost) and ended(exchange)
    if front and not history.weak_model and recalls_short_prompts(trial, exchange):
        return [failed(CODE, exchange, "front_lost", explanation)]
    return [failed(CODE, exchange, "lost", explanation)]


def front_lost(exchange: Exchange, lost: Sequence[str]) -> bool:
    """True if the tail is recalled, and of the head's needle not even a part.

    ``lost`` are the exchange's ``lost_places``.
    """
    heads = [needle.text for needle in exchange.expectation.needles if needle.place == "head"]
    return (
        "head" in lost
        and "tail" not in lost
        and not any(shows_part(exchange, text) for text in heads)
    )


def shows_part(exchange: Exchange, code: str) -> bool:
    """True if one of a code's groups stands in the answer: five random letters or more."""
    text = exchange.response.answer().casefold() if exchange.response else ""
    return any(group in text for group in code.casefold().split("-"))


def ended(exchange: Exchange) -> bool:
    """True if the answer came to its own end, so that what it lacks was not merely cut off."""
    return exchange.response is not None and exchange.response.finish_reason == "stop"


def recalls_short_prompts(trial: Trial, exchange: Exchange) -> bool:
    """True unless shorter prompts of the trial show that the model forgets needles anyway."""
    size = len(exchange.request.text())
    shorter = [
        other
        for other in trial.exchanges
        if other.whole and other.expectation.needles and len(other.request.text()) < size
    ]
    return not shorter or any(not lost_places(other) for other in shorter)


def lost_places(exchange: Exchange) -> list[str]:
    """Return the places whose needle does not stand in the answer, copy errors allowed."""
    said = Echoes(exchange.response.answer() if exchange.response else "")
    return [
        needle.place
        for needle in exchange.expectation.needles
        if said.of(needle.text) is Echo.ABSENT
    ]


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    codes = {place: scene.mint() for place in ("head", "middle", "tail")}
    expects = Expectation(needles=tuple(Needle(place=p, text=c) for p, c in codes.items()))
    everything = " ".join(codes.values())
    return [
        scene.specimen(an_exchange(codes["tail"], expects=expects), fails="front_lost"),
        scene.specimen(an_exchange("I do not know.", expects=expects), fails="lost"),
        scene.specimen(an_exchange(everything, expects=expects)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
