"""The rule that converts units: a table of names and sizes in the fact file."""

# ruff: noqa: E501 (patterns read best whole)
from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from monitor.lab.responder.arithmetic import as_digits, show
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, known
from monitor.lab.responder.knowledge import rows

_ZH_NUMBERS = dict(
    zip("半一二三四五六七八九十两", ["1/2", *map(str, range(1, 11)), "2"], strict=True)
)
_ASKS = re.compile(
    r"\bhow many\b|\bhow much\b|\bconvert|\bexpress|\bchange\b|\bwhat is\b|\bnumber of\b"
    r"|多少|几|换算|等于",
    re.IGNORECASE,
)

_REFERS = re.compile(r"\b(?:that|this|it|they)\b|\blast\b|这是|合|也就是", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Unit:
    dimension: str
    size: Fraction


def convert(ask: Ask) -> list[Piece] | None:
    """Answer "How many minutes are there in 2 hours?", "Convert 3 km to metres", "3小时等于多少分钟"."""
    if not _ASKS.search(ask.text):
        return None
    given, wanted = _named(_with_figures(ask.text))
    if not given and wanted and _REFERS.search(ask.text):
        given = _named(_with_figures(ask.reading.text[ask.before.start : ask.before.end]))[0]
    for unit in wanted:
        alike = [(n, other) for n, other in given if other.dimension == unit.dimension != "pieces"]
        if alike and any(other != unit for _, other in alike):
            total = sum((n * other.size for n, other in alike), Fraction(0))
            return [known(show(total / unit.size), ask.clause.start)]
    # "How many eggs are in 3 dozen?": whatever is counted comes by the piece.
    pieces = [n * unit.size for n, unit in given if unit.dimension == "pieces"]
    return [known(show(pieces[0]), ask.clause.start)] if len(pieces) == 1 else None


def _with_figures(text: str) -> str:
    # A dozen is a unit here and no number.
    text = as_digits(re.sub(r"\bdozens?\b", "dozen_", text, flags=re.IGNORECASE))
    return text.replace("dozen_", "dozen").lower()


def _named(text: str) -> tuple[list[tuple[Fraction, _Unit]], list[_Unit]]:
    """Return the units with a number before them, and those without: what is given, and wanted."""
    given: list[tuple[Fraction, _Unit]] = []
    wanted: list[_Unit] = []
    table, pattern = _table()
    for found in pattern.finditer(text):
        units = table[found["unit"]] if found["unit"] in table else table[found["stem"]]
        number = found["n"]
        if number:
            given += [(_number(number), unit) for unit in units]
        else:
            wanted += units
    return given, wanted


def _number(text: str) -> Fraction:
    text = text.strip()
    if text in {"a", "an", "each", "every", "per", "每"}:
        return Fraction(1)
    if text.startswith("half"):
        return Fraction(1, 2)
    return Fraction(_ZH_NUMBERS.get(text, text))


@cache
def _table() -> tuple[dict[str, list[_Unit]], re.Pattern[str]]:
    table: dict[str, list[_Unit]] = {}
    for row in rows():
        if row.relation == "unit":
            unit = _Unit(row.value[0], Fraction(row.value[1]))
            for name in row.entity:
                table.setdefault(name.lower(), []).append(unit)
    names = "|".join(re.escape(name) for name in sorted(table, key=len, reverse=True))
    pattern = re.compile(
        r"(?:(?P<n>(?<![\w.])(?:\d+(?:\.\d+)?|half an?|an?|each|every|per)(?=[\s\d\u4e00-\u9fffa-z])"
        r"|[半一二三四五六七八九十两每]|\d+(?:\.\d+)?)\s*个?半?\s*(?:single |whole |full )?)?"
        rf"(?<![a-z])(?P<unit>(?P<stem>{names})(?:e?s)?)(?![a-z])"
    )
    return table, pattern
