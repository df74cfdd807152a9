"""Rules for what comes in order: letters of the alphabet, counting, places in a list."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re
import string

from monitor.lab.responder.arithmetic import NUMBER_WORDS, as_digits
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.forms import separator

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
             "tenth")  # fmt: skip
_ZH_DIGITS = "一二三四五六七八九十"
_LONGEST = 200
_ALPHABET = re.compile(
    r"\b(?P<end>first|last|final)\s+(?:(?P<n>\d+)\s+)?(?P<s>letters?)\b.*\balphabet"
    r"|(?:字母表|英文字母|英语字母)(?:表)?(?:中|里|的)*(?P<zend>前|后|最后)面?的?"
    r"(?P<zn>\d+|[一二三四五六七八九十两])个"
)
_LETTERS = re.compile(
    r"\bletters? (?:of the \w* ?alphabet )?from ([a-z]) (?:up )?(?:to|through) ([a-z])\b"
)
_COUNT = re.compile(
    r"\b(?:count|numbers?|integers|digits)\b[^.\d]*?(?:from|between)\s+(?P<a>\d+)\s+"
    r"(?:up\s+|down\s+|backwards?\s+)?(?:to|through|and|until)\s+(?P<b>\d+)"
    r"|\bcount\b[^.\d]*?\bto\s+(?P<only>\d+)"
    r"|从\s*(?P<za>\d+)\s*(?:开始)?(?:往下|倒着|倒)?(?:数|写|列)?到\s*(?P<zb>\d+)"
)
_POWERS = re.compile(
    r"\b(?P<power>squares|cubes) of (?:all )?(?:the )?(?:whole |natural )?(?:numbers|integers)"
    r" (?:from |between )?(?P<a>\d+) (?:up )?(?:to|through|and) (?P<b>\d+)"
    r"|从\s*(?P<za>\d+)\s*到\s*(?P<zb>\d+)(?:的)?(?:各|每)?(?:个)?(?:整数|数)?的(?P<zpower>平方|立方)"
)
_STEP = re.compile(r"\b(?:in steps of|by|every)\s+(\d+)s?\b|每次[加减隔]\s*(\d+)")
_PLACE = re.compile(
    rf"\b(?P<word>{'|'.join(_ORDINALS)}|last|final|(?P<n>\d+)(?:st|nd|rd|th))\b"
    r"|第(?P<zh>\d+|[一二三四五六七八九十])|(?P<zlast>最后一|倒数第一)"
)
_MEMBER = r"[^\s,、，;.。:：?？!！][^,、，;.。:：?？!！\n]{0,30}"
_LIST = re.compile(
    rf"(?:[:：]\s*|^|(?<=[\n。.?？]\s)|(?<=[\n。]))({_MEMBER}(?:\s*[,、，;]\s*{_MEMBER}){{2,30}})",
    re.MULTILINE,
)


def recite_letters(ask: Ask) -> list[Piece] | None:
    """Answer "Write the first four letters of the alphabet", "letters from C to G"."""
    low = as_digits(ask.text.lower())
    letters = _lettered(low)
    if not letters:
        return None
    small = re.search(r"\b(?:lower ?case|small letters)\b|小写", ask.turn_text.lower())
    shown = letters.lower() if small else letters
    return [known(separator(ask.turn_text, ", ").join(shown), ask.clause.start)]


def _lettered(low: str) -> str:
    span = _LETTERS.search(low)
    if span:
        a, b = (ord(letter) - ord("a") for letter in span.groups())
        return string.ascii_uppercase[a : b + 1]
    found = _ALPHABET.search(low)
    if not found:
        return ""
    count = _whole(found["n"] or found["zn"] or "1")
    at_front = (found["end"] or found["zend"]) in {"first", "前"}
    return string.ascii_uppercase[:count] if at_front else string.ascii_uppercase[-count:]


def count_off(ask: Ask) -> list[Piece] | None:
    """Answer "Count from 1 up to 5", "Write the even numbers from 2 to 8", "从1数到5"."""
    low = as_digits(ask.text.lower())
    found = _COUNT.search(low)
    if not found or re.search(r"\bhow many\b|\bsum\b|\badd\b|多少|之和|random", low):
        return None
    first, last = (
        int(found["a"] or found["za"] or 1),
        int(found["b"] or found["zb"] or found["only"]),
    )
    stride = _STEP.search(low)
    step = int(stride.group(1) or stride.group(2)) if stride else 1
    numbers = list(range(first, last + 1, step or 1) if first <= last
                   else range(first, last - 1, -(step or 1)))  # fmt: skip
    if re.search(r"\beven\b|偶数", low):
        numbers = [number for number in numbers if number % 2 == 0]
    elif re.search(r"\bodd\b|奇数", low):
        numbers = [number for number in numbers if number % 2]
    if re.search(r"\bbackwards?\b|倒着|倒数", low):
        numbers.sort(reverse=True)
    shown = [str(number) for number in numbers[:_LONGEST]]
    return [known(separator(ask.turn_text, " ").join(shown), ask.clause.start)]


def powers(ask: Ask) -> list[Piece] | None:
    """Answer "Write the squares of the numbers from 1 to 5", 从1到5的整数的平方."""
    found = _POWERS.search(as_digits(ask.text.lower()))
    if not found or re.search(r"\bsum\b|之和|总和", ask.text.lower()):
        return None
    exponent = 2 if (found["power"] or found["zpower"]) in {"squares", "平方"} else 3
    first, last = (int(found["a"] or found["za"]), int(found["b"] or found["zb"]))
    numbers = range(first, min(last, first + _LONGEST) + 1)
    shown = [str(number**exponent) for number in numbers]
    return [known(separator(ask.turn_text, "\n").join(shown), ask.clause.start)]


def in_list(ask: Ask) -> list[Piece] | None:
    """Answer "Which fruit is third in the list?" about a list that stands in the turn."""
    place = _PLACE.search(ask.text.lower())
    if not place or not re.search(
        r"\blist\b|\bitem|\bword|\bwhich\b|\bwhat\b|\bname\b|\bgive\b|哪|什么|第", ask.text.lower()
    ):
        return None
    for span in (ask.before, ask.clause, ask.turn):
        found = _LIST.search(ask.reading.text, span.start, span.end)
        if found:
            return _member(found, place)
    return None


def _member(found: re.Match[str], place: re.Match[str]) -> list[Piece] | None:
    members = list(re.finditer(_MEMBER, found.group(1)))
    if place["zlast"] or place["word"] in {"last", "final"}:
        index = len(members) - 1
    elif place["zh"]:
        index = _whole(place["zh"]) - 1
    else:
        index = int(place["n"]) - 1 if place["n"] else _ORDINALS.index(place["word"])
    if not 0 <= index < len(members):
        return None
    text = members[index].group()
    lead = re.match(r"(?:and|or)\s+|和|以及", text)
    start = lead.end() if lead else 0
    return [copied(text[start:].strip(), found.start(1) + members[index].start() + start)]


def _whole(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text == "两":
        return 2
    return _ZH_DIGITS.index(text) + 1 if text in _ZH_DIGITS else NUMBER_WORDS.get(text, 1)
