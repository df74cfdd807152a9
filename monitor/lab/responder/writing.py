"""Rules for how something is written: several times, inside brackets, as a date of some form."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re
from datetime import date

from monitor.lab.responder.arithmetic import figures
from monitor.lab.responder.asking import Ask, Span
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.forms import separator

_MOST = 50
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_QUOTED = re.compile("[\"“「'‘`]([^\"”」'’`\\n]+)[\"”」'’`]")
_NAMED = re.compile(
    r"\b(?:words?|numbers?|letters?|digits?|names?|figures?|text|string)\s+([A-Za-z0-9][\w.-]*)"
    r"|(?:单词|词语|数字|字母|词|字)\s*([A-Za-z0-9]+|[\u4e00-\u9fff]{1,4}?)(?=[连写放用放置三两二四五\d]|$)",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\b(?:write|say|print|type|repeat|put|output)\s+([A-Za-z0-9][\w.-]*)(?=\s)", re.IGNORECASE
)
_NO_SUBJECT = {"the", "it", "this", "that", "a", "an", "each", "your", "them", "in", "inside"}
_TIMES = re.compile(
    r"\b(?:(?P<n>\d+)\s+times|(?P<word>twice|thrice|once))\b|(?P<z>\d+|[一二两三四五六七八九十])[遍次]",
    re.IGNORECASE,
)
_WRAPS = (
    (r"\bsquare brackets?\b|方括号|中括号", "[]"),
    (r"\b(?:curly brackets?|curly braces?|braces)\b|花括号|大括号", "{}"),
    (r"\bangle brackets?\b|尖括号", "<>"),
    (r"\b(?:parenthes[ei]s|round brackets?|brackets?)\b|圆括号|小括号|括号", "()"),
    (r"\b(?:double )?(?:quotation marks|quotes)\b|双引号|引号", '""'),
    (r"\basterisks?\b|星号", "**"),
)
_INSIDE = re.compile(
    r"\b(?:in|inside|within|between|with|into|enclosed|surrounded)\b|放在|放进|写在|放入|用|加上|里|中"
)
_FORMAT = re.compile(
    r"(?<![A-Za-z])(YYYY|YY|MM|DD|M|D)([-/. ]?)(YYYY|YY|MM|DD|M|D)\2(YYYY|YY|MM|DD|M|D)(?![A-Z])"
)
_ISO = re.compile(r"\bISO\b", re.IGNORECASE)
_DATES = (
    re.compile(
        r"(?P<d>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<name>[A-Z][a-z]{2,8})\.?,? (?P<y>\d{4})"
    ),
    re.compile(r"(?P<name>[A-Z][a-z]{2,8})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})"),
    re.compile(r"(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]"),
    re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"),
    re.compile(r"(?P<d>\d{1,2})[-/.](?P<m>\d{1,2})[-/.](?P<y>\d{4})"),
)


def subject(ask: Ask) -> tuple[str, int] | None:
    """Return what is to be written: quoted, after "the word" or "the number", or after the verb."""
    for pattern in (_QUOTED, _NAMED, _BARE):
        for found in pattern.finditer(ask.text):
            group = 1 if found.group(1) else 2
            text = found.group(group).strip()
            if text.lower() not in _NO_SUBJECT:
                return text.rstrip(".") or text, ask.clause.start + found.start(group)
    return None


def several_times(ask: Ask) -> list[Piece] | None:
    """Answer "Write the word moon three times" and 把“月亮”写三遍."""
    text = figures(ask.text) if not ask.chinese else ask.text
    found = _TIMES.search(text)
    if not found or not re.search(
        r"\b(?:write|say|print|type|repeat|output)\b|写|说|重复|输出", text.lower()
    ):
        return None
    what = subject(ask)
    if what is None:
        return None
    digits = dict(zip("一二三四五六七八九十两", [*range(1, 11), 2], strict=True))
    words = {"once": 1, "twice": 2, "thrice": 3}
    given = found["n"] or found["z"] or ""
    count = (
        int(given)
        if given.isdigit()
        else digits.get(given, words.get((found["word"] or "").lower(), 1))
    )
    between = separator(ask.turn_text, " ")
    pieces: list[Piece] = []
    for number in range(min(count, _MOST)):
        if number:
            pieces.append(known(between, ask.clause.start))
        pieces.append(copied(*what))
    return pieces


def bracketed(ask: Ask) -> list[Piece] | None:
    """Answer "Write the number 3 inside square brackets"."""
    signs = brackets(ask.text)
    what = subject(ask) if signs else None
    if not what:
        return None
    at = ask.clause.start
    return [known(signs[0], at), copied(*what), known(signs[1], at)]


def brackets(text: str) -> str:
    """Return the opening and the closing sign that a text asks for, or nothing."""
    low = text.lower()
    signs = next((signs for cue, signs in _WRAPS if re.search(cue, low)), "")
    return signs if signs and _INSIDE.search(low) else ""


def dated(ask: Ask) -> list[Piece] | None:
    """Answer "Write the date 5 March 2020 in the form YYYY-MM-DD"."""
    form = _FORMAT.search(ask.text)
    if not form and not (
        _ISO.search(ask.text) and re.search(r"\bdate\b|日期", ask.text, re.IGNORECASE)
    ):
        return None
    for span in (ask.clause, ask.before, Span(start=ask.clause.end, end=ask.turn.end)):
        found = _first_date(ask.reading.text, span)
        if found:
            day, at = found
            parts, sign = (
                (form.group(1, 3, 4), form.group(2)) if form else (("YYYY", "MM", "DD"), "-")
            )
            return [known(sign.join(_part(day, part) for part in parts), at)]
    return None


def _first_date(text: str, span: Span) -> tuple[date, int] | None:
    for pattern in _DATES:
        for found in pattern.finditer(text, span.start, span.end):
            day = _day(found.groupdict())
            if day:
                return day, found.start()
    return None


def _day(parts: dict[str, str | None]) -> date | None:
    name = (parts.get("name") or "")[:3].lower()
    if name and name not in _MONTHS:
        return None
    month = _MONTHS.index(name) + 1 if name else int(parts["m"] or 0)
    try:
        return date(int(parts["y"] or 0), month, int(parts["d"] or 0))
    except ValueError:
        return None


def _part(day: date, part: str) -> str:
    number = {"Y": day.year, "M": day.month, "D": day.day}[part[0]]
    return str(number).zfill(len(part))[-len(part) :] if len(part) > 1 else str(number)
