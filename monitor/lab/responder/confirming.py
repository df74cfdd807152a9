"""The rule that answers yes or no about facts."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re

from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, known
from monitor.lab.responder.knowledge import (
    CHINESE,
    CUES,
    OF_NATURE,
    index,
    kinds_named,
    kinds_of,
    mentions,
    plain,
)


def confirm(ask: Ask) -> list[Piece] | None:
    """Answer "Is Paris the capital of France?" with yes or no."""
    low = ask.text.lower()
    if not re.match(
        r"\W*(?:.*[:,] )?(?:is|are|does|do|did|was|true or false)\b", low
    ) and not re.search(r"吗|是不是|是否|yes or no|true or false", low):
        return None
    if re.search(r"\b(?:what|which|who|when|where|how)\b|什么|哪|谁|多少", low):
        return None
    whole = f" {plain(ask.text)} "
    for name, row in mentions(ask.text, index()[0]):
        cue = CUES[row.relation]
        if cue and re.search(cue, low):
            rest = whole.replace(f" {name} ", " ", 1)
            said = any(
                f" {plain(value)} " in rest or (CHINESE.search(value) and value in ask.text)
                for value in row.value
            )
            return [known(_verdict(ask, said=said), ask.clause.start)]
    return _confirm_nature(ask, low)


def _confirm_nature(ask: Ask, low: str) -> list[Piece] | None:
    """Answer "Is ice frozen water?", "Is a whale a fish?": what a thing is, or is not."""
    named = [plain(kind) for kind in kinds_named(ask.text)]
    for name, row in mentions(ask.text, index()[0]):
        # "Is the blue whale a mammal?" names the colour as well; the kind must stand elsewhere.
        asked = [kind for kind in named if kind and kind not in name]
        if row.relation not in OF_NATURE or not asked:
            continue
        own = {plain(kind) for kind in kinds_of(name)}
        said = any(kind in own for kind in asked)
        negated = bool(re.search(r"\bnot\b|n't\b", low))
        return [known(_verdict(ask, said=said != negated), ask.clause.start)]
    return None


def _verdict(ask: Ask, *, said: bool) -> str:
    if ask.chinese:
        no = "否" if re.search(r"或者?否|[、，]否|否[。）]", ask.turn_text) else "不是"
        return "是" if said else no
    if re.search(r"true or false", ask.text.lower()):
        return "True" if said else "False"
    return "Yes" if said else "No"
