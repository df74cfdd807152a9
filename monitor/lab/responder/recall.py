"""Rules that give back what stands in the text: codes to repeat, definitions, list rows."""

# ruff: noqa: PLR2004, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re

from monitor.lab.responder.asking import Ask, words
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.entries import (
    Entry,
    content_words,
    definitions,
    inline,
    lines,
    place_of,
)
from monitor.lab.responder.extract import field

CODE = (
    r"[a-z]{3,6}(?:-[a-z]{3,6}){1,7}"
    r"|[A-Za-z]*\d[\w]*(?:[-_][\w]+)*|[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)+|[\w]+(?:-[\w]+){2,}"
)
_CODE = re.compile(rf"(?<![\w-])(?:{CODE})(?![\w-])")
_SAY = re.compile(
    r"\b(?:repeat|echo|say|reply|respond|answer|write|output|print|return|copy|type|quote|send)\b"
    r"(?: (?:back|only|just|with|the|following|exactly|this|that|me|out|to|us|these|in|a|your|"
    r"verbatim|code|codes|word|words|text|string|phrase|token|number|single|one|sentence|message|"
    r"line|unchanged|as|is|it|again|nothing|but|and|please|exact|marker|reference|value)\b)*"
    r"\s*(?P<colon>[:：]?)\s*(?P<quote>[\"'`“«]?)(?P<what>[^\n]+?)(?P=quote)?[\"'`”»]?[.!]?\s*$",
    re.IGNORECASE,
)
_SAY_ZH = re.compile(
    r"(?:重复|复述|回复|输出|写出|说|回答|返回)(?:一遍|以下|下面|下列|这个|的|编号|代码|内容|文字|参考|词|单词|：|:|“|\"|「)*\s*"
    r"(?P<quote>)(?P<colon>)(?P<what>[A-Za-z0-9][\w -]*[A-Za-z0-9]|[\u4e00-\u9fff]+)"
)
_RECALL = re.compile(
    r"\b(?:repeat|echo|recall|remind|earlier|again|quote|copy|confirm|gave|told|mentioned|"
    r"back|said|remember|above)\b|重复|复述|之前|刚才|再说|告诉",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\W*(?:what|which|who|whose|how|when|where)\b", re.IGNORECASE)
_STARTS = re.compile(
    _QUESTION.pattern + r"|\W*(?:please )?(?:extract|find|get|read|list|give|sort|output|write)\b",
    re.IGNORECASE,
)
_GROUP = r"(?:codes?|phrases?|passwords?|numbers?|names?|keys?|values?|words?|ids?|tokens?)"


def say_literally(ask: Ask) -> list[Piece] | None:
    """Answer "Repeat the following code exactly: X" and "Reply with the word X"."""
    text, base = ask.text, ask.clause.start
    match = _SAY_ZH.search(text) if ask.chinese else _SAY.search(text)
    if not match or text.rstrip().endswith(("?", "？")) or _QUESTION.match(match["what"]):
        return None
    codes = list(_CODE.finditer(match["what"]))
    if codes and not match["what"].startswith(("the ", "my ")):
        first = codes[0]
        return [copied(first.group(), base + match.start("what") + first.start())]
    literal = match["colon"] or match["quote"] or ask.chinese or _names_a_word(text)
    if not literal or _unfit(match["what"]):
        return None
    return [copied(match["what"], base + match.start("what"))]


def _names_a_word(text: str) -> bool:
    return bool(re.search(r"\b(?:word|exactly|say)\b", text, re.IGNORECASE)) and not re.search(
        r"\b(?:one|single|two|three|what|which|who|sum|sorted|number of)\b", text, re.IGNORECASE
    )


def _unfit(what: str) -> bool:
    return bool(re.match(r"(?:编号|参考|代码|问题|只|仅)", what)) or what.lower() in {
        "uppercase", "lowercase", "english", "chinese", "json", "bullets", "capitals",
    }  # fmt: skip


def next_line_literally(ask: Ask) -> list[Piece] | None:
    """Answer "Repeat the following:" when what to repeat stands on the next line."""
    if not re.search(
        r"\b(?:repeat|copy|echo)\b[^\n]*:\s*$|(?:重复|复述)[^\n]*[:：]\s*$", ask.text, re.IGNORECASE
    ):
        return None
    rest = re.compile(r"\s*([^\n]+)").match(ask.reading.text, ask.clause.end, ask.turn.end)
    return [copied(rest.group(1), rest.start(1))] if rest else None


def several_fields(ask: Ask) -> list[Piece] | None:
    """Answer "extract the name and the date": two fields or more of one text."""
    if not re.search(r"\b(?:extract|find|list|give|pick out)\b|提取|找出", ask.text, re.IGNORECASE):
        return None
    pieces = field(ask) or []
    return pieces if sum(piece.origin == "pages" for piece in pieces) > 1 else None


def defined(ask: Ask) -> list[Piece] | None:
    """Answer questions for "A of B is X" sentences, several at once if asked so."""
    clause = ask.text
    asked = content_words(clause)
    for scope in ask.scopes:
        known_here = [e for e in definitions(ask.reading.text, scope) if _outside(e, ask)]
        named = [e for e in known_here if content_words(e.attribute) & asked]
        full = [e for e in named if content_words(e.attribute) <= asked]
        owned = _last_by_owner([e for e in named if place_of(e.owner, clause) >= 0])
        if owned:
            best = [e for e in owned if e in full] or owned
            best.sort(key=lambda entry: place_of(entry.owner, clause))
            return _with_gaps(ask, best)
        deictic = [e for e in full if _without_owner(e, known_here) or _RECALL.search(clause)]
        if deictic and not _asks_for_another_owner(ask, deictic[-1]):
            return [copied(deictic[-1].value, deictic[-1].at)]
    return None


def _outside(entry: Entry, ask: Ask) -> bool:
    inside = ask.clause.start <= entry.at < ask.clause.end
    # "Given a = 1, b = 2, what is b?" holds question and entries; "What comes next: 1, 2?" none.
    return not inside or ("," in ask.text and not _STARTS.match(ask.text))


def _last_by_owner(entries: list[Entry]) -> list[Entry]:
    return list({(e.owner.lower(), e.attribute.lower()): e for e in entries}.values())


def _without_owner(entry: Entry, entries: list[Entry]) -> bool:
    alike = [e for e in entries if words(e.attribute) == words(entry.attribute)]
    return not entry.owner or len({e.owner for e in alike}) == 1


def _asks_for_another_owner(ask: Ask, entry: Entry) -> bool:
    """Return whether the clause names an owner, and it is not this entry's."""
    match = re.search(r"\b(?:of|for) (?:the )?([\w' -]+)", ask.text)
    if not match or not entry.owner:
        return False
    return not content_words(match.group(1)) & (content_words(entry.owner) | {"ticket", "session"})


def _with_gaps(ask: Ask, entries: list[Entry]) -> list[Piece]:
    pieces: list[Piece] = []
    separator = ", " if re.search(r"comma", ask.turn_text, re.IGNORECASE) else "\n"
    for number, entry in enumerate(entries):
        if number:
            pieces.append(known(separator, ask.clause.start))
        pieces.append(copied(entry.value, entry.at))
    return pieces


def listed(ask: Ask) -> list[Piece] | None:
    """Answer "which code belongs to KEY?" from lines that say "KEY: VALUE"."""
    for scope in ask.scopes:
        for entries in (lines(ask.reading.text, scope), inline(ask.reading.text, scope)):
            usable = [e for e in entries if _outside(e, ask) and not e.value.endswith(("?", "？"))]
            found = _mentioned(ask.text, usable)
            if found:
                return _with_gaps(ask, found)
            back = [
                e
                for e in usable
                if not ask.clause.start <= e.at < ask.clause.end
                if re.search(rf"(?<![\w-]){re.escape(e.value)}(?![\w-])", ask.text)
            ]
            if back:
                at = ask.reading.text.rfind(back[-1].owner, scope.start, back[-1].at)
                return [copied(back[-1].owner, max(at, 0))]
    return None


def _mentioned(clause: str, entries: list[Entry]) -> list[Entry]:
    low = clause.lower()
    placed = {}
    for entry in entries:
        if len(entry.owner.split()) > 6:
            continue
        match = re.search(rf"(?<![\w-]){re.escape(entry.owner.lower())}(?![\w-])", low)
        if match or (re.search("[\u4e00-\u9fff]", entry.owner) and entry.owner in clause):
            at = match.start() if match else clause.find(entry.owner)
            placed[entry.owner.lower()] = (at, entry)
    longest = [
        (at, entry)
        for key, (at, entry) in placed.items()
        if not any(key != other and key in other for other in placed)
    ]
    return [entry for _, entry in sorted(longest, key=lambda pair: pair[0])]


def told_earlier(ask: Ask) -> list[Piece] | None:
    """Answer "What was the code I gave you earlier?": the last code said before the clause."""
    if not _RECALL.search(ask.text) or not re.search(
        _GROUP + "|编号|代码|口令|数字", ask.text, re.IGNORECASE
    ):
        return None
    for scope in (ask.before, *ask.scopes[1:]):
        codes = list(_CODE.finditer(ask.reading.text, scope.start, scope.end))
        # A plain number is the code only if nothing looks more like one.
        codes = [code for code in codes if "-" in code.group()] or codes
        if codes:
            return [copied(codes[-1].group(), codes[-1].start())]
    return None
