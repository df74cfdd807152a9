"""Rules that reckon: expressions, sums in words, and small stories of apples."""

# ruff: noqa: RUF001, S105 (pattern tables read best one row a line; Chinese signs are meant)
from __future__ import annotations

import operator
import re
from collections.abc import Callable
from fractions import Fraction

from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, known

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
         "ninety": 90, "hundred": 100, "dozen": 12}  # fmt: skip
NUMBER_WORDS: dict[str, int] = {word: number for number, word in enumerate(_SMALL)} | _TENS
_DIGITS_ZH = dict(zip("零一二三四五六七八九十两", [*range(11), 2], strict=True))
_WORD = re.compile(r"\b(?:" + "|".join(NUMBER_WORDS) + r")\b", re.IGNORECASE)
_OPERATORS = (
    (r"\bplus\b|\badded to\b|加上|加|＋", "+"),
    (r"\bminus\b|\bless\b|减去|减|－|−|–", "-"),
    (r"\btimes\b|\bmultiplied by\b|乘以|乘|×|·|(?<=\d)\s*x\s*(?=\d)|(?<=\d)\s*\*\s*(?=\d)", "*"),
    (r"\bdivided by\b|\bover\b|除以|÷", "/"),
)
_EXPRESSION = re.compile(r"[-(]?\d[\d.,]*\)?(?:\s*[-+*/]\s*\(?-?\d[\d.]*\)?)+")
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[-+*/()]")
_N = r"(-?\d+(?:\.\d+)?)"
_PHRASES: tuple[tuple[str, Callable[[Fraction, Fraction], Fraction]], ...] = (
    (rf"\b(?:sum|total) of {_N},? (?:and|plus) {_N}", operator.add),
    (rf"\badd(?:ing)? {_N} (?:and|to|with) {_N}", operator.add),
    (rf"\bproduct of {_N} and {_N}", operator.mul),
    (rf"\bmultiply(?:ing)? {_N} (?:by|and|with) {_N}", operator.mul),
    (rf"\bsubtract(?:ing)? {_N} from {_N}", lambda a, b: b - a),
    (rf"\bdifference (?:between|of) {_N} and {_N}", lambda a, b: abs(a - b)),
    (rf"\btake {_N} (?:away )?from {_N}", lambda a, b: b - a),
    (rf"\bdivide {_N} by {_N}", lambda a, b: a / b),
    (rf"\b{_N}\s*(?:%|percent|per cent) of {_N}", lambda a, b: a * b / 100),
    (rf"{_N}和{_N}(?:的和|之和|相加)", operator.add),
    (rf"{_N}和{_N}(?:的积|之积|相乘)", operator.mul),
    (rf"{_N}和{_N}(?:的差|之差)", lambda a, b: abs(a - b)),
)
_SINGLES: tuple[tuple[str, Callable[[Fraction], Fraction]], ...] = (
    (rf"\bhalf of {_N}|{_N}的一半", lambda a: a / 2),
    (rf"\b(?:double|twice) {_N}|{_N}的两倍", lambda a: a * 2),
    (rf"\bsquare of {_N}|\b{_N} squared|{_N}的平方", lambda a: a * a),
    (rf"\bafter {_N}\b", lambda a: a + 1),
    (rf"\bbefore {_N}\b", lambda a: a - 1),
)


def reckon(ask: Ask) -> list[Piece] | None:
    """Answer a clause that holds an expression or names an operation on two numbers."""
    value = evaluate(ask.text)
    return None if value is None else [known(value, ask.clause.start)]


def evaluate(text: str) -> str | None:
    """Return the value of the expression or the named operation in a text."""
    text = as_digits(text)
    value = _expression(text)
    if value is None:
        value = _named(text)
    return None if value is None else show(value)


def figures(text: str) -> str:
    """Return a text with English number words as figures."""
    return _WORD.sub(lambda m: str(NUMBER_WORDS[m.group().lower()]), text)


def as_digits(text: str) -> str:
    """Return a text with number words and operator words as figures and signs."""
    text = re.sub(
        r"(?<![\u4e00-\u9fff])[一二三四五六七八九十两](?=\s*(?:加|减|乘|除|个|和|支|本|只|张|瓶|杯|斤|块|元|盒|件|条))",
        lambda m: str(_DIGITS_ZH[m.group()]),
        figures(text),
    )
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for pattern, sign in _OPERATORS:
        text = re.sub(pattern, f" {sign} ", text, flags=re.IGNORECASE)
    return text


def show(value: Fraction) -> str:
    """Return a number as people write it."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.4f}".rstrip("0").rstrip(".")


def _expression(text: str) -> Fraction | None:
    # Hyphens inside codes and dates are no minus: 2024-05-06, ab-12.
    found = _EXPRESSION.search(re.sub(r"\w*\d+(?:-\d+){2,}\w*|[A-Za-z]\w*-\w+", " ", text))
    if not found:
        return None
    try:
        return _sum(_TOKEN.findall(found.group().strip(",.")))
    except (IndexError, ValueError, ZeroDivisionError):
        return None


def _sum(tokens: list[str]) -> Fraction:
    value = _product(tokens)
    while tokens and tokens[0] in "+-":
        value = value + _product(tokens) if tokens.pop(0) == "+" else value - _product(tokens)
    return value


def _product(tokens: list[str]) -> Fraction:
    value = _atom(tokens)
    while tokens and tokens[0] in "*/":
        value = value * _atom(tokens) if tokens.pop(0) == "*" else value / _atom(tokens)
    return value


def _atom(tokens: list[str]) -> Fraction:
    token = tokens.pop(0)
    if token == "(":
        value = _sum(tokens)
        if tokens:
            tokens.pop(0)
        return value
    return -_atom(tokens) if token == "-" else Fraction(token)


def _named(text: str) -> Fraction | None:
    for pattern, of_two in _PHRASES:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            return of_two(Fraction(found.group(1)), Fraction(found.group(2)))
    for pattern, of_one in _SINGLES:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            return of_one(Fraction(next(group for group in found.groups() if group)))
    return None


_GAIN = re.compile(
    r"\b(?:buy|bought|get|got|gain|find|found|receiv|add|more|pick|collect|join|arriv|bak|earn|"
    r"come|came|win|won|another|given)|买|又|得到|多|拿来|加|进来|给了他|给了她"
)
_LOSS = re.compile(
    r"\b(?:eat|ate|giv(?:es|e|ing)|gave|los[et]|sell|sold|us(?:e|es|ed)\b|leav|left(?! over)|"
    r"fl(?:y|ew|ies)|br(?:eak|oke)|spen[dt]|remov|throw|threw|drop|away|get off|got off|taken)|"
    r"吃|借给|给了|送|卖|丢|用|飞走|离开|走了|坏"
)
_PRICED = re.compile(
    r"\bcosts?\b|[$€£¥]\s?\d+(?:\.\d+)?\s+(?:each|apiece|per)\b"
    r"|\d\s?(?:元|块|角|dollars?|euros?|pounds?|francs?|yuan)[^.。]*(?:\bbuys?\b|\bfor\b|买|要|花)"
    r"|(?:买|要)[^。]*每[^。]*\d\s?(?:元|块)"
)
_PRICE = re.compile(
    r"\bcosts?\s(?:\D{0,12}\s)?[$€£¥]?(\d+(?:\.\d+)?)|[$€£¥]\s?(\d+(?:\.\d+)?)"
    r"|(\d+(?:\.\d+)?)\s?(?:元|块|角|dollars?|euros?|pounds?|francs?|yuan)"
)
# A number that is no part of a code, a date or a name.
_COUNT = re.compile(r"(?<![A-Za-z0-9_.-])\d+(?:\.\d+)?(?![A-Za-z0-9_-])")
_EACH = re.compile(r"\b(?:each|every|per)\b|每")


def story(ask: Ask) -> list[Piece] | None:
    """Answer "how many are there now?" after a story of gains and losses."""
    if not re.search(r"\bhow (?:many|much)\b|多少|几", ask.text, re.IGNORECASE):
        return None
    text = ask.reading.text[ask.before.start : ask.clause.end]
    if _PRICED.search(text) and re.search(r"\d", as_digits(ask.text)):
        return _price(text, ask)
    if (
        re.search(r"\bhow much\b", ask.text, re.IGNORECASE)
        and len(re.findall(r"[$€£¥]", text)) == 1
    ):
        return None
    told = re.split(r"(?:[.!?。！？\n]|\bthen\b|,|，|\band\b)", as_digits(text))
    value: Fraction | None = None
    for part in told:
        for number in _COUNT.findall(part):
            value = _next(value, Fraction(number), part.lower())
    enough = len(_COUNT.findall(" ".join(told))) > 1
    return [known(show(value), ask.clause.start)] if value is not None and enough else None


def _price(text: str, ask: Ask) -> list[Piece] | None:
    """Return what several things cost; or what is left of a sum that was there before."""
    text = as_digits(text)
    priced = list(_PRICE.finditer(text))
    rest = re.search(r"\bleft\b|\bchange\b|\bremain|剩|找", text)
    if not priced or len(priced) > (2 if rest else 1):
        return None
    price = priced[-1]
    others = [
        found for found in _COUNT.finditer(text) if not price.start() <= found.start() < price.end()
    ]
    if not others:
        return None
    quantity = others[-1]
    cost = Fraction(next(group for group in price.groups() if group)) * Fraction(quantity.group())
    had = next((found for found in others if found is not quantity and rest), None)
    return [known(show(Fraction(had.group()) - cost if had else cost), ask.clause.start)]


def _next(value: Fraction | None, number: Fraction, part: str) -> Fraction:
    if value is None:
        return number
    if _EACH.search(part):
        return value * number
    return value - number if _LOSS.search(part) and not _GAIN.search(part) else value + number
