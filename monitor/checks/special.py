"""SPECIAL: control tokens of chat templates, and control characters, do not stand in answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial
from monitor.writing import control

CODE = "SPECIAL"
_SPANS = 16
# What is left of a call that the allowed tokens cut: engines give its beginning back as text.
_CALL_OPENING = re.compile(
    r"tool|python_tag|function|channel|message|constrain|call", re.IGNORECASE
)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a control token or character, or on raw pieces of a vocabulary.

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
    return signals or [passed(CODE, exchange, "no control token in the answer")]


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


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return an answer with a leaked token, one with an escape character, and a clean one."""
    scene = Scene(rng)
    answer = "The capital of France is Paris."
    return [
        scene.specimen(an_exchange(answer + rng.choice(_LEAKS)), fails="control_token"),
        scene.specimen(an_exchange(answer + "\x1b[0m"), fails="control_character"),
        scene.specimen(an_exchange(answer)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
