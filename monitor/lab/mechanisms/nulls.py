"""Peculiarities of healthy services, which must not be taken for faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from monitor.lab.draws import Between
from monitor.lab.jobs import Refusal
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.responder.draft import Draft, Origin, Piece, known
from monitor.lab.steps import Gate, Steps
from monitor.lab.trigger import Asker

_OPENINGS = ("", "Sure. ", "Certainly: ", "Here you are: ", "Of course.\n")
_VOWELS, _CONSONANTS = "aiou", "bdfghjklmnprstvz"
_CODE = re.compile(r"[a-z]{3,}(?:-[a-z]{3,})+")


def _burst_429(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    refusal = Refusal(status=429, message="Too many requests.", kind="RateLimitError")
    return _refuse_some(steps, params, trigger, refusal)


def _burst_5xx(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    refusal = Refusal(status=503, message="The service is overloaded.", kind="ServiceUnavailable")
    return _refuse_some(steps, params, trigger, refusal)


def _refuse_some(
    steps: Steps, params: Mapping[str, Value], trigger: Trigger, refusal: Refusal
) -> Steps:
    def gate(asker: Asker) -> Gate:
        # Requests are struck in runs, as when a limit or a node is hit.
        struck = trigger.strikes(asker, asker.number // int(params["run"]))
        return Gate(refusal=refusal) if struck else steps.gate(asker)

    return replace(steps, gate=gate)


def _slow(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def gate(asker: Asker) -> Gate:
        gate = steps.gate(asker)
        if not trigger.strikes(asker):
            return gate
        longest = float(params["seconds"])
        delay = trigger.rng(asker.number).uniform(longest / 2, longest)
        return replace(gate, delay_seconds=delay)

    return replace(steps, gate=gate)


def _in_stream(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    return replace(steps, refuse_in_stream=trigger.strikes)


def _vary(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        if not draft.plain or not trigger.strikes(asker):
            return draft
        return _opened(draft, trigger.rng(-asker.number).choice(_OPENINGS[1:]))

    return replace(steps, word=word)


def _space(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:

    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        return draft if draft.call or not trigger.strikes(asker) else _opened(draft, " ")

    return replace(steps, word=word)


def _opened(draft: Draft, opening: str) -> Draft:
    at = draft.pieces[0].at if draft.pieces else 0
    return replace(draft, pieces=(known(opening, at), *draft.pieces))


def _mistype(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        places = [place for place, piece in enumerate(draft.pieces) if _copies_a_code(piece)]
        if not places or not trigger.strikes(asker):
            return draft
        rng, pieces = trigger.rng(-asker.number), list(draft.pieces)
        place = rng.choice(places)
        pieces[place] = _mistyped(pieces[place], rng)
        return replace(draft, pieces=tuple(pieces))

    return replace(steps, word=word)


def _copies_a_code(piece: Piece) -> bool:
    return piece.origin is Origin.PAGES and bool(_CODE.fullmatch(piece.text))


def _mistyped(piece: Piece, rng: Random) -> Piece:
    places = [place for place, letter in enumerate(piece.text) if letter.isalpha()]
    place = rng.choice(places)
    kind = _VOWELS if piece.text[place] in _VOWELS else _CONSONANTS
    letter = rng.choice([other for other in kind if other != piece.text[place]])
    return replace(piece, text=piece.text[:place] + letter + piece.text[place + 1 :])


NULLS = (
    Mechanism(
        name="burst_429",
        sentence="Some runs of requests are turned away with 429.",
        install=_burst_429,
        ranges={"rate": Between(0.05, 0.3), "run": Between(2, 6)},
        null=True,
        params={"rate": 0.2, "run": 3},
    ),
    Mechanism(
        name="burst_5xx",
        sentence="Some runs of requests fail with 503.",
        install=_burst_5xx,
        ranges={"rate": Between(0.05, 0.2), "run": Between(2, 6)},
        null=True,
        params={"rate": 0.1, "run": 3},
    ),
    Mechanism(
        name="slow",
        sentence="Every answer is late.",
        install=_slow,
        ranges={"seconds": Between(0.1, 0.6)},
        null=True,
        params={"seconds": 0.4},
    ),
    Mechanism(
        name="in_stream_refusal",
        sentence="In streams, the refusal of a long prompt comes as an error event after the 200.",
        install=_in_stream,
        null=True,
    ),
    Mechanism(
        name="nondeterminism",
        sentence="The same prompt gets the same right answer in different words.",
        install=_vary,
        ranges={"rate": Between(0.3, 0.9)},
        null=True,
        params={"rate": 0.7},
    ),
    Mechanism(
        name="leading_space",
        sentence="Every answer begins with a space.",
        install=_space,
        null=True,
    ),
    Mechanism(
        name="copy_typos",
        sentence=(
            "One answer in a hundred that copies codes has one letter of one code wrong, a vowel "
            "for a vowel."
        ),
        install=_mistype,
        ranges={"rate": Between(0.002, 0.01)},
        null=True,
        params={"rate": 0.01},
    ),
)
