"""Rules that need more than one turn: totals and lists kept, and what was said in which message."""

# ruff: noqa: E501 (patterns read best whole)
from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from monitor.lab.responder.arithmetic import as_digits, show
from monitor.lab.responder.asking import Ask, Span, clauses, words
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.entries import content_words, definitions
from monitor.lab.responder.reading import Turn
from monitor.lab.responder.recall import CODE
from monitor.lab.responder.wordplay import items

_CODE = re.compile(rf"(?<![\w-])(?:{CODE})(?![\w-])")
_TELLS = re.compile(
    r"\W*(?:(?:now|and|also|next|first|then|please|kindly)[\s,]+)*"
    r"(?:remember|note|memori[sz]e|keep in mind|bear in mind|take note|store|save|keep)\b[^?]*$",
    re.IGNORECASE,
)
_ACKNOWLEDGE = re.compile(
    r"\b(?:reply|answer|respond|say|confirm|acknowledge)\b"
    r"(?:\s+(?:only|just|simply|with|the|word|words|by|saying|it|this|that|single|a|plain))*\s*[:,]?"
    r"\s*[\"'“]?(?P<word>OK|okay|noted|done|understood|ready|got it|yes|acknowledged|stored|thanks)"
    r"\b[\"'”]?(?:\s+(?:only|alone|and nothing (?:else|more)|for now|now))*[.!]?\s*$",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_WHICH = (
    r"(?P<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth|\d+(?:st|nd|rd|th)|last|"
    r"previous|latest|very first|opening|initial)"
)
_SAID = r"(?:message|turn|question|request|prompt|note|post|line)"
_OF_MINE = re.compile(
    rf"\b(?:my|the|user'?s?)\s+{_WHICH}\s+(?:user\s+)?{_SAID}\b"
    rf"|\b(?:my |the )?{_SAID}\s+(?:number\s+|no\.?\s*)?#?(?P<number>\d+)\b",
    re.IGNORECASE,
)
_OF_YOURS = re.compile(rf"\byour\s+{_WHICH}\s+(?:answer|reply|response|message)\b", re.IGNORECASE)
_HOW_MANY_SAID = re.compile(
    rf"\bhow many {_SAID}s\b[^?]*\b(?:i|we|sent|so far)\b|\bhow many times have i\b", re.IGNORECASE
)
_TOTAL = re.compile(r"\b(?:totals?|counter|tally|balance|score|sum|count)\b", re.IGNORECASE)
_KEPT = re.compile(r"\b(?:running|counter|tally|balance|score|so far|now|total)\b", re.IGNORECASE)
_N = r"(?P<n>-?\d+(?:\.\d+)?)(?![\w-])"
_SET = re.compile(
    r"\b(?:starts?|begins?|set|reset|initiali[sz]e|open)\b[^.\d]*?\b(?:at|from|to|with|of)\s+" + _N
    + r"|\b(?:total|counter|tally|balance|score|sum|count)\b[^.\d]{0,24}?"
    r"\b(?:is|starts at|starts with|begins at|stands at|at|equals|=)\s+(?:now\s+)?" + _N.replace("<n>", "<m>"),
    re.IGNORECASE,
)  # fmt: skip
_MORE = re.compile(
    rf"\b(?:add|plus|deposit|increase\b[^.\d]*\bby|increment\b[^.\d]*\bby|raise\b[^.\d]*\bby)\s+{_N}",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:subtract|minus|take(?: away)?|deduct|remove|withdraw|(?:decrease|reduce|lower|decrement)"
    rf"\b[^.\d]*\bby)\s+{_N}",
    re.IGNORECASE,
)
_TIMES = re.compile(rf"\b(?:multiply\b[^.\d]*\bby)\s+{_N}", re.IGNORECASE)
_NUMBERS_TWO = re.compile(r"\badd\s+-?\d+\s+(?:and|to|with)\s+-?\d", re.IGNORECASE)
_LIST = r"(?:(?:the|my|our|this|that|your|a)\s+)?(?:\w+\s+){0,2}?list\b"
_PUT = re.compile(
    r"\b(?:add|put|append|insert|include|write|enter)\s+(?P<what>[^.!?\n]+?)\s+"
    rf"(?:to|on|onto|in|into|at the end of|as the next item (?:of|on|in))\s+{_LIST}",
    re.IGNORECASE,
)
_PUT_AFTER = re.compile(
    rf"\b(?:add|put|append|insert)\b[^.!?\n:]*\b{_LIST}[^.!?\n:]*:\s*(?P<what>[^.!?\n]+)"
    rf"|\b(?:start|begin|open|make|create|keep)\b[^.!?\n]*\b{_LIST}[^.!?\n]*?"
    r"(?:\bwith(?: the(?: \w+)?)?|\bof|:)\s+(?P<more>[^.!?\n]+)",
    re.IGNORECASE,
)
_TAKE = re.compile(
    r"\b(?:remove|delete|strike|take|drop|cross)\s+(?P<what>[^.!?\n]+?)\s+"
    rf"(?:from|off|out of)\s+{_LIST}",
    re.IGNORECASE,
)
_ASKS_LIST = re.compile(
    r"\b(?:what|which|repeat|read|show|give|say|print|recite|tell|write|name|how many|list)\b"
    r"[^.!?\n]*\b(?:list|items?|entries|things)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:(?:the|an?)\s+)?(?:(?:item|word|code|entry|name|number|thing|fruit|reference code)s?"
    r"(?:\s*:\s*|\s+))?",
    re.IGNORECASE,
)


_ASKS_FOR = re.compile(r"\?|\b(?:what|tell|give|say|state|report|show)\b", re.IGNORECASE)


def only_tells(text: str) -> bool:
    """Return whether a clause gives something to remember and asks for nothing."""
    return bool(_TELLS.match(text)) and not _ACKNOWLEDGE.search(text)


def acknowledge(ask: Ask) -> list[Piece] | None:
    """Answer "Reply with OK" with the word asked for."""
    found = _ACKNOWLEDGE.search(ask.text)
    return [copied(found["word"], ask.clause.start + found.start("word"))] if found else None


def only_changes(ask: Ask) -> bool:
    """Return whether a clause changes a total or a list that the same turn asks for later."""
    text, later = ask.text, ask.reading.text[ask.clause.end : ask.turn.end]
    if "?" in text or _ASKS_FOR.search(text):
        return False
    counts = _after(Fraction(0), as_digits(text)) is not None
    if counts and _TOTAL.search(later):
        return bool(_ASKS_FOR.search(later))
    lists = _PUT.search(text) or _PUT_AFTER.search(text) or _TAKE.search(text)
    return bool(lists and _ASKS_LIST.search(later))


def noted(ask: Ask) -> list[Piece]:
    """Return the answer to a turn that only tells something."""
    return [known("Noted.", ask.clause.start)]


def _turns(ask: Ask, role: str) -> list[Turn]:
    """Return the turns of a role up to the one that is asked in."""
    return [
        turn for turn in ask.reading.turns() if turn.role == role and turn.start <= ask.turn.start
    ]


def _told(ask: Ask) -> Iterator[Span]:
    """Yield the clauses of the user's turns, up to the one that is asked."""
    for turn in _turns(ask, "user"):
        for clause in clauses(ask.reading.text, Span(start=turn.start, end=turn.end)):
            if clause.start <= ask.clause.start:
                yield clause


def of_a_message(ask: Ask) -> list[Piece] | None:
    """Answer "What was the reference code of my first message?", "Repeat your last answer"."""
    mine, yours = _OF_MINE.search(ask.text), _OF_YOURS.search(ask.text)
    if yours:
        turn = _chosen(_turns(ask, "assistant")[:-1], yours["ordinal"])
        text = ask.reading.text[turn.start : turn.end].strip() if turn else ""
        return [copied(text, turn.start)] if turn and text else None
    if _HOW_MANY_SAID.search(ask.text):
        return [known(str(len(_turns(ask, "user"))), ask.clause.start)]
    if not mine:
        return None
    earlier = [turn for turn in _turns(ask, "user") if turn.start != ask.turn.start]
    which = mine["ordinal"] or mine["number"]
    turn = _chosen(earlier, which)
    return _content(ask, Span(start=turn.start, end=turn.end)) if turn else None


def _chosen(turns: list[Turn], which: str) -> Turn | None:
    low = which.lower()
    if low in {"last", "previous", "latest"}:
        return turns[-1] if turns else None
    digits = re.match(r"\d+", low)
    place = int(digits.group()) if digits else next(
        (n for n, word in enumerate(_ORDINALS, 1) if word in low), 1
    )  # fmt: skip
    return turns[place - 1] if 0 < place <= len(turns) else None


def _content(ask: Ask, span: Span) -> list[Piece] | None:
    """Return what a message told: what was asked for, its code, its quoted words, its number."""
    asked = content_words(ask.text)
    named = [e for e in definitions(ask.reading.text, span) if content_words(e.attribute) <= asked]
    if named:
        return [copied(named[0].value, named[0].at)]
    kinds = [_CODE, re.compile('["“]([^"”\n]+)["”]'), re.compile(r"(?<![\w-])\d+(?![\w-])")]
    if re.search(r"\bnumber\b", ask.text, re.IGNORECASE):
        kinds.reverse()
    for kind in kinds:
        found = kind.search(ask.reading.text, span.start, span.end)
        if found:
            group = 1 if kind.groups else 0
            return [copied(found.group(group), found.start(group))]
    whole = ask.reading.text[span.start : span.end].strip()
    return [copied(whole, span.start)] if whole else None


def total(ask: Ask) -> list[Piece] | None:
    """Answer "What is the total now?" after numbers were added and taken away over the turns."""
    if not _TOTAL.search(ask.text) or not _KEPT.search(ask.text):
        return None
    value: Fraction | None = None
    steps = 0
    for clause in _told(ask):
        text = as_digits(ask.reading.text[clause.start : clause.end])
        new = _after(value, text)
        steps += new is not None
        value = value if new is None else new
    return [known(show(value), ask.clause.start)] if value is not None and steps else None


def _after(value: Fraction | None, text: str) -> Fraction | None:
    """Return the total after a clause, or ``None`` if the clause leaves it alone."""
    if _NUMBERS_TWO.search(text):
        return None
    start = _SET.search(text)
    if start:
        return Fraction(start["n"] or start["m"])
    more, less, times = _MORE.search(text), _LESS.search(text), _TIMES.search(text)
    had = value if value is not None else Fraction(0)
    if more or less:
        return had + (Fraction(more["n"]) if more else 0) - (Fraction(less["n"]) if less else 0)
    if times:
        return had * Fraction(times["n"])
    if value is not None and re.search(r"\bdouble (?:it|the)\b", text, re.IGNORECASE):
        return value * 2
    return None


def kept_list(ask: Ask) -> list[Piece] | None:
    """Answer "What is on the list now?", "What is its third item?", "How many items are there?"."""
    if not _ASKS_LIST.search(ask.text) or _PUT.search(ask.text) or _PUT_AFTER.search(ask.text):
        return None
    kept: list[Piece] = []
    for clause in _told(ask):
        kept = _listed_after(ask, clause, kept)
    if not kept:
        return None
    if re.search(r"\bhow many\b", ask.text, re.IGNORECASE):
        return [known(str(len(kept)), ask.clause.start)]
    one = re.search(
        rf"\b{_WHICH}\s+(?:item|entry|thing|word|code|name|one)\b|\bitem (?P<number>\d+)\b"
        rf"|\b(?:which|what)\b.*\b(?P<place>first|last|second|third|fourth|fifth)\b",
        ask.text,
        re.IGNORECASE,
    )
    if one:
        which = (one["ordinal"] or one["number"] or one["place"]).lower()
        place = len(kept) if which in {"last", "latest"} else _number(which)
        return [kept[place - 1]] if 0 < place <= len(kept) else None
    pieces: list[Piece] = []
    for number, piece in enumerate(kept):
        pieces += [known(", ", ask.clause.start), piece] if number else [piece]
    return pieces


def _number(which: str) -> int:
    digits = re.match(r"\d+", which)
    if digits:
        return int(digits.group())
    return next((n for n, word in enumerate(_ORDINALS, 1) if word in which), 1)


def _listed_after(ask: Ask, clause: Span, kept: list[Piece]) -> list[Piece]:
    text = ask.reading.text[clause.start : clause.end]
    taken = _TAKE.search(text)
    if taken:
        gone = {piece.text.lower() for piece in _items(taken["what"], clause.start)}
        return [piece for piece in kept if piece.text.lower() not in gone]
    put = _PUT.search(text) or _PUT_AFTER.search(text)
    if not put:
        return kept
    group = "what" if put["what"] else "more"
    return [*kept, *_items(put[group], clause.start + put.start(group))]


def _items(text: str, at: int) -> list[Piece]:
    label = _LABEL.match(text)
    rest = text[label.end() :] if label else text
    found, place = [], 0
    for item in items(rest):
        plain = item.strip(" \"'“”`.")
        place = text.find(plain, place)
        if plain and place >= 0:
            found.append(copied(plain, at + place))
            place += len(plain)
    return found


def beside_name(ask: Ask) -> list[Piece] | None:
    """Answer "Which code did I give you for locker 17?" from any clause about locker 17."""
    if not re.search(r"\b(?:code|number|phrase|reference|password|key|id)\b", ask.text.lower()):
        return None
    names = re.findall(r"\b([A-Za-z]+ \d+)\b(?![\w-])", ask.text)
    for name in names:
        pattern = re.compile(rf"\b{re.escape(name)}\b(?![\w-])", re.IGNORECASE)
        for clause in reversed([c for c in _told(ask) if c.start < ask.clause.start]):
            text = ask.reading.text[clause.start : clause.end]
            place = pattern.search(text)
            codes = [c for c in _CODE.finditer(text) if "-" in c.group()]
            if place and codes:
                code = next((c for c in codes if c.start() > place.end()), codes[-1])
                return [copied(code.group(), clause.start + code.start())]
    return None


def tool_said(ask: Ask) -> list[Piece] | None:
    """Answer "What did the tool say?" from the tool's last message."""
    turns = _turns(ask, "tool")
    if not turns or not _ASKS_TOOL.search(ask.turn_text) or _AGAIN.search(ask.turn_text):
        return None
    turn = turns[-1]
    text = ask.reading.text[turn.start : turn.end]
    asked = words(ask.turn_text)
    for found in _MEMBER.finditer(text):
        if content_words(re.sub(r"[_-]", " ", found["key"])) <= asked:
            group = "text" if found["text"] is not None else "bare"
            return [copied(found[group], turn.start + found.start(group))]
    return [copied(text.strip() or "...", turn.start)]


_ASKS_TOOL = re.compile(
    r"\b(?:what|which|repeat|tell|give|quote|report)\b[^.!]*"
    r"\b(?:tool|function|call|results?|return(?:ed|s)?|receipt|confirmation|booking|outcome)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:use|call|invoke|run) (?:the|a|this|that) \w*\s?(?:tool|function)\b", re.IGNORECASE
)
_MEMBER = re.compile(r"\"(?P<key>\w+)\"\s*:\s*(?:\"(?P<text>[^\"]*)\"|(?P<bare>-?[\w.]+))")
