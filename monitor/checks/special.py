"""SPECIAL: control tokens of chat templates, and control characters, do not stand in answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Signal, Trial

CODE = "SPECIAL"
# The shapes of control tokens in public chat templates: <|…|> (ChatML, Llama 3, harmony, GLM,
# Phi), full-width bars (DeepSeek), [INST] (Mistral), <<SYS>> (Llama 2), <s> </s> <pad> <bos> <eos>
# <unk>, <start_of_turn> (Gemma), and unfinished tool-call wrappers.
_CONTROL = re.compile(
    r"<\|[A-Za-z0-9_ /▁-]{1,40}\|>"
    r"|<\uff5c[^<>\uff5c]{1,40}\uff5c>"
    r"|\[/?INST\]|<</?SYS>>"
    r"|<(?:/?s|pad|bos|eos|unk|mask|start_of_turn|end_of_turn|begin_of_box|end_of_box)>"
    r"|</?(?:tool_call|tool_response|think)>"
    r"|\[/?(?:TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS)\]"
)
# What is left of a call that the allowed tokens cut: engines give its beginning back as text.
_CALL_OPENING = re.compile(
    r"tool|python_tag|function|channel|message|constrain|call", re.IGNORECASE
)
# Terminal escapes and the like: C0 and C1 but tab and line breaks.
_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a control token or character that the request itself does not hold.

    Of an answer that the allowed tokens cut, the opening of a call is not looked at.
    """
    if exchange.response is None:
        return []
    request, answer = exchange.request.text(), exchange.response.written()
    signals = []
    for variant, pattern in (("control_token", _CONTROL), ("control_character", _CHARACTER)):
        asked = {match.group() for match in pattern.finditer(request)}
        found = [match for match in pattern.finditer(answer) if match.group() not in asked]
        found = [match for match in found if not _opens_cut_call(match, exchange)]
        if found:
            signal = failed(CODE, exchange, variant, f"{len(found)} {variant}s in the answer")
            signals.append(replace(signal, spans=tuple(match.span() for match in found[:16])))
    return signals or [passed(CODE, exchange, "no control token in the answer")]


def _opens_cut_call(match: re.Match[str], exchange: Exchange) -> bool:
    """True for the opening of a call in the text of an answer that the allowed tokens cut."""
    response = exchange.response
    if response is None or response.finish_reason != "length" or not exchange.request.tools:
        return False
    return match.start() < len(response.text) and bool(_CALL_OPENING.search(match.group()))


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    token = rng.choice(["<|im_end|>", "<|channel|>", "[/INST]", "</s>"])
    return [
        scene.specimen(an_exchange(f"It is Paris.{token}"), fails="control_token"),
        scene.specimen(an_exchange("It is Paris.\x1b[2J"), fails="control_character"),
        scene.specimen(an_exchange("It is Paris, and 2 < 3 | 4 > 1.")),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=_specimens)
