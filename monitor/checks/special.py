"""SPECIAL: control tokens of chat templates, control characters and made-up turns are in no answer.

A made-up turn (``invented_turn``) is what a model writes that is not stopped where its answer ends:
the head of the user's next turn, what it says, and an answer to it. It is tolerated: a weak model
does this without any fault of the engine. It is not looked for where the request holds such heads,
or asks for a dialogue; nor in code. Of 2,068 healthy pieces and answers it fails none (at most
0.19 % at 95 %; ``tests/bench/checks/special.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import SAID_CHARACTERS, Exchange, Response, Signal, Trial
from monitor.writing import control, turns

CODE = "SPECIAL"
_SPANS = 16
# What is left of a call that the allowed tokens cut: engines give its beginning back as text.
_CALL_OPENING = re.compile(
    r"tool|python_tag|function|channel|message|constrain|call", re.IGNORECASE
)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a control token or character or raw pieces; tolerated on an invented turn.

    What the request itself holds is no fault, nor is a token in quotes of its own (an answer speaks
    of it), nor any token or piece where the request asks about them. Some are tags of HTML too: not
    in an answer that holds other tags. None of this excuses a token in a tool's name or arguments.
    Of an answer that the allowed tokens cut, the opening of a call is not looked at.
    """
    if exchange.response is None:
        return []
    text, request = exchange.response.written(), exchange.request.text()
    found = {
        "control_token": _tokens(exchange, exchange.response, text, request),
        "control_character": _beyond(text, request, control.CHARACTER),
        "raw_pieces": _pieces(text, request),
    }
    signals = [
        replace(
            failed(CODE, exchange, variant, f"{len(places)} of {variant} in the answer"),
            spans=tuple(match.span() for match in places[:_SPANS]),
        )
        for variant, places in found.items()
        if places
    ]
    if place := _invented_turn(exchange.response, exchange):
        signal = failed(CODE, exchange, "invented_turn", "a turn that nobody took in the answer")
        signals.append(replace(signal, spans=(place,)))
    return signals or [passed(CODE, exchange, "no control token in the answer")]


def _invented_turn(response: Response, exchange: Exchange) -> tuple[int, int] | None:
    place = turns.invented_turn(response.text[:SAID_CHARACTERS])
    if place is None:
        return None
    asked = [message.content for message in exchange.request.messages]
    is_asked = turns.ABOUT_DIALOGUE.search(asked[-1]) if asked else None
    return None if is_asked or any(map(turns.holds_heads, asked)) else place


def _beyond(text: str, request: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return what the pattern finds in the answer and not in the request."""
    found = list(pattern.finditer(text))
    asked = {match.group() for match in pattern.finditer(request)} if found else set()
    return [match for match in found if match.group() not in asked]


def _pieces(text: str, request: str) -> list[re.Match[str]]:
    pieces = _beyond(text, request, control.PIECE)
    if len(pieces) < control.LEAST_PIECES or control.ABOUT_TOKENS.search(request):
        return []
    return pieces


def _tokens(exchange: Exchange, response: Response, text: str, request: str) -> list[re.Match[str]]:
    strong = _beyond(text, request, control.STRONG)
    weak = _beyond(text, request, control.WEAK)
    if not (strong or weak):
        return []
    calls = len(response.text) + len(response.reasoning_text) + 2
    about_tokens = control.ABOUT_TOKENS.search(request) is not None
    about_markup = control.ABOUT_MARKUP.search(request) is not None or control.is_markup(text)
    is_json = response.text.lstrip()[:1] in ("{", "[")
    return [
        match
        for match in sorted([*strong, *weak], key=lambda each: each.start())
        if match.start() >= calls
        or not (
            about_tokens
            or (about_markup and control.WEAK.fullmatch(match.group()))
            or (not is_json and control.is_quoted(text, *match.span()))
            or _opens_cut_call(match, exchange)
        )
    ]


def _opens_cut_call(match: re.Match[str], exchange: Exchange) -> bool:
    """True for the opening of a call in the text of an answer that the allowed tokens cut."""
    response = exchange.response
    if response is None or response.finish_reason != "length" or not exchange.request.tools:
        return False
    return match.start() < len(response.text) and bool(_CALL_OPENING.search(match.group()))


_LEAKS = ("<|im_end|>", "<|eot_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "</s>", "<0x0A>")

_TURNS = (
    "\nuser\n{0}\nassistant\n{1}",
    "\n\nUser: {0}\nAssistant: {1}",
    "\n### Human: {0}\n### Assistant: {1}",
)


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return answers with a leaked token, an escape character and a made-up turn; a clean one."""
    scene = Scene(rng)
    answer = "The capital of France is Paris."
    return [
        scene.specimen(an_exchange(answer + rng.choice(_LEAKS)), fails="control_token"),
        scene.specimen(an_exchange(answer + "\x1b[0m"), fails="control_character"),
        scene.specimen(
            an_exchange(answer + rng.choice(_TURNS).format("And of Peru?", "Lima, by the sea.")),
            fails="invented_turn",
        ),
        scene.specimen(an_exchange(answer)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
