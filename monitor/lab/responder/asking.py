"""One turn cut into clauses, and the question a rule is asked about one of them."""

# ruff: noqa: E501, PLR2004, RUF001 (word lists; Chinese signs are meant; lengths of endings)
from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.lab.responder.reading import Reading

# A full stop ends a clause only before white space, so that 3.5 and a@b.example stay whole.
_CLAUSE = re.compile(
    r"[^\n]+?(?:(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?](?=[\"')\]]?(?:\s|$))|[。？！；]|,? (?=(?:and )?then )|:(?=\s+(?:what|which|who|whose|when|where|how|in which|in what)\b)|(?=\n|$))[\"')\]]?",
    re.IGNORECASE,
)
# "Then answer:" introduces a question and is none itself.
_LABEL = re.compile(
    r"\s*(?:(?:(?:and|now|then|finally|also|next),?\s+)*(?:please\s+)?"
    r"(?:answer|question|reply to|respond to|solve|task)(?:\s*\d+)?"
    r"(?:\s+(?:the|this|my)(?:\s+following)?(?:\s+question)?)?\s*[:：]"
    r"|(?:然后|再|最后|接着|并)?(?:请)?(?:回答|问题)(?:以下|下面|下列)?(?:的)?(?:问题)?\s*[:：])?\s*",
    re.IGNORECASE,
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
_VERBS = (
    "repeat|reply|answer|give|tell|say|state|name|list|write|return|output|print|copy|echo|"
    "compute|calculate|add|subtract|multiply|divide|evaluate|find|extract|translate|sort|reverse|"
    "count|spell|convert|put|use|call|fill|complete|respond|look|provide|show|report|quote|type|"
    "confirm|identify|recall|remind|solve|determine|order|arrange|fetch|book|send|get|schedule|"
    "set|create|search|check|choose|pick|produce|make|explain|describe|summarise|summarize|greet|"
    "express|change|enclose|mend|repair|fix|correct|rewrite|turn|wrap|surround|format"
)
_WH = (
    "what|what's|which|who|whom|whose|when|where|how|why|is|are|does|do|did|was|were|can|could|"
    "in what|in which|on which|on what|at what|of which|by whom|to which|from which|with which"
)
_LEAD = (
    r"(?:(?:then|now|and|finally|next|first|second|third|last|also|after that|afterwards|so|"
    r"lastly|task|question|q|step|instruction|user|[0-9]+)[\s,:.)0-9-]*)*"
    r"(?:(?:please|kindly|just|only|simply)\s+)*"
)
_ASKS = re.compile(
    rf"\?|？|,\s*(?:find|give|tell|name|list|answer|repeat|look|return|state|write|reply)\b|^\W*(?:hello|hi)\b|你好|^\W*{_LEAD}(?:{_VERBS}|{_WH})\b|[:,;]\s*(?:{_WH})\b|:\s*(?:{_VERBS})\b"
    r"|\bplease\b|\b(?:i need|i want|i would like|your task|you must|you should|would you|"
    r"let me know|tell me)\b|=\s*$|\bis\s*$"
    r"|[请什哪谁几吗呢]|写成|写三|从\d+数|换算|多少|重复|复述|计算|回答|翻译|说出|写出|给出|列出|找出|提取|等于|查询|告诉",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the reading."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A clause to answer. ``scopes`` is where to look things up, the nearest first."""

    reading: Reading
    clause: Span
    turn: Span
    scopes: tuple[Span, ...]

    @property
    def text(self) -> str:
        """Return the clause."""
        return self.reading.text[self.clause.start : self.clause.end]

    @property
    def turn_text(self) -> str:
        """Return the whole turn."""
        return self.reading.text[self.turn.start : self.turn.end]

    @property
    def chinese(self) -> bool:
        """Return whether the clause is in Chinese."""
        return bool(_CHINESE.search(self.text))

    @property
    def before(self) -> Span:
        """Return the part of the turn before the clause."""
        return Span(start=self.turn.start, end=self.clause.start)


def clauses(text: str, span: Span) -> list[Span]:
    """Return the sentences and lines of a span."""
    found = []
    for match in _CLAUSE.finditer(text, span.start, span.end):
        lead = _LABEL.match(text, match.start(), match.end())
        start = lead.end() if lead else match.start()
        if start < match.end():
            found.append(Span(start=start, end=match.end()))
    return found


def may_ask(text: str) -> bool:
    """Return whether a clause has any sign of a question or a request in it."""
    return bool(_ASKS.search(text))


def words(text: str) -> set[str]:
    """Return the words of a text in lower case, plural endings cut."""
    return {stem(word) for word in re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())}


def stem(word: str) -> str:
    """Return a word without its plural ending."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
