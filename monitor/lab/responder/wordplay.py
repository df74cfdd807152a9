"""Rules about words and short lists: case, order, counting, translation, comparison."""

# ruff: noqa: E501, PLR0911, RUF001 (a table reads best one row a line; Chinese signs are meant)
from __future__ import annotations

import itertools
import re
from functools import cache
from importlib import resources

from monitor.lab.responder.arithmetic import as_digits
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.forms import separator

_QUOTED = re.compile("[\"“「'‘`]([^\"”」'’`\\n]+)[\"”」'’`]")
_AFTER_COLON = re.compile(r"[:：]\s*([^\n]+?)[.。!?？]?\s*$")
_NAMED_WORD = re.compile(
    r"\b(?:words?|strings?|letters (?:of|in)|text|phrase|sentence)\s+(?:of\s+)?([A-Za-z][\w-]*)",
    re.IGNORECASE,
)
_NOT_TARGETS = {
    "in",
    "of",
    "are",
    "is",
    "for",
    "to",
    "alphabetically",
    "from",
    "by",
    "into",
    "that",
}


def target(ask: Ask) -> tuple[str, int] | None:
    """Return what a clause is to be done to: quoted, after a colon, on the next line, or named."""
    text, base = ask.text, ask.clause.start
    for pattern in (_QUOTED, _AFTER_COLON):
        found = pattern.search(text)
        if found:
            return found.group(1).strip(), base + found.start(1)
    if re.search(r"[:：]\s*$", text):
        found = re.compile(r"\s*([^\n]+)").match(ask.reading.text, ask.clause.end, ask.turn.end)
        if found:
            return found.group(1).strip(), found.start(1)
    found = _NAMED_WORD.search(text)
    if found and found.group(1).lower() not in _NOT_TARGETS:
        return found.group(1), base + found.start(1)
    return None


def transform(ask: Ask) -> list[Piece] | None:
    """Answer requests to change the case, the order or the spelling of something."""
    text = ask.text.lower()
    change = next((make for pattern, make in _CHANGES if re.search(pattern, text)), None)
    subject = target(ask) or _bare(ask)
    if change is None or subject is None:
        return None
    changed = change(subject[0], text)
    if change is _sort:
        changed = separator(ask.turn_text, ", ").join(changed.split(", "))
    return [known(changed, subject[1])] if changed else None


def _bare(ask: Ask) -> tuple[str, int] | None:
    """Return the list in "sort the numbers 3, 1 and 2 in ascending order"."""
    found = re.search(
        r"\b(?:numbers|words|names|items)\s+((?:[\w-]+(?:,\s*(?:and\s+)?|\s+and\s+|\s+)){1,20}?[\w-]+)"
        r"(?=\s+(?:in|from|by|alphabetically|into)\b|[.!?]|$)",
        ask.text,
    )
    return (found.group(1), ask.clause.start + found.start(1)) if found else None


def items(text: str) -> list[str]:
    """Return the members of a list written in a line."""
    parts = re.split(r"\s*[,、，;]\s*(?:and\s+)?|\s+and\s+|和", text.strip(" .[]()"))
    parts = [part.strip(" \"'.") for part in parts if part.strip(" \"'.")]
    return text.split() if len(parts) == 1 and " " in text.strip() else parts


def _sort(text: str, clause: str) -> str:
    members = items(text)
    down = bool(
        re.search(
            r"descend|largest (?:first|to)|high(?:est)? to|reverse|z to a|从大到小|降序", clause
        )
    )
    numbers = all(re.fullmatch(r"-?\d+(?:\.\d+)?", member) for member in members)
    members.sort(key=(lambda m: (float(m), "")) if numbers else (lambda m: (0.0, m.lower())))
    return ", ".join(reversed(members) if down else members)


def _reverse(text: str, clause: str) -> str:
    if re.search(r"\b(?:list|items|words)\b", clause) and len(items(text)) > 1:
        return ", ".join(reversed(items(text)))
    return text[::-1]


def _spell(text: str, clause: str) -> str:
    del clause
    return "-".join(text)


def _initial(text: str, clause: str) -> str:
    word = text.rsplit(maxsplit=1)[-1] if "word" not in clause and " " in text else text
    return word[-1] if "last" in clause else word[0]


_CHANGES = (
    (
        r"\bsort|\barrange|\balphabetical|\border (?:the|these|from)|\bin (?:ascending|descending)|排序|排列",
        _sort,
    ),
    (r"\bupper ?case\b|\bcapital letters\b|\ball caps\b|大写", lambda t, _: t.upper()),
    (r"\blower ?case\b|\bsmall letters\b|小写", lambda t, _: t.lower()),
    (r"\breverse|\bbackwards?\b|\breversed\b|倒过来|反转|倒序", _reverse),
    (r"\bspell\b", _spell),
    (r"\b(?:first|last) letter\b|首字母", _initial),
)


def count(ask: Ask) -> list[Piece] | None:
    """Answer "how many words / letters / items are in ...?"."""
    text = ask.text.lower()
    if not re.search(r"\bhow many\b|\bcount\b|\bnumber of\b|多少个?|几个", text):
        return None
    letter = re.search(
        r"(?:letter|character)\s+[\"'“]?([a-z])\b|\b([a-z])['’]s\b.*\bin\b|[\"'“]([a-z])[\"'”]",
        text,
    )
    if letter:
        return _count_letter(ask, next(group for group in letter.groups() if group))
    subject = target(ask)
    if subject is None:
        return None
    if re.search(r"\bletters?\b|\bcharacters?\b|字母", text):
        return [known(str(sum(c.isalnum() for c in subject[0])), subject[1])]
    if re.search(r"\bwords?\b|单词", text) and "list" not in text:
        return [known(str(len(subject[0].split())), subject[1])]
    if re.search(r"\bitems?\b|\bnames?\b|\bnumbers?\b|\bwords?\b|\bentries\b", text):
        return [known(str(len(items(subject[0]))), subject[1])]
    return None


def _count_letter(ask: Ask, letter: str) -> list[Piece] | None:
    rest = re.search(
        r"\bin\b(?: the)?(?: word| phrase| string)?\s*[\"'“]?([\w-]+)", ask.text, re.IGNORECASE
    )
    if not rest or rest.group(1).lower() in {"the", "this"}:
        return None
    return [known(str(rest.group(1).lower().count(letter)), ask.clause.start + rest.start(1))]


_LANGUAGES = {"french": 1, "法": 1, "spanish": 2, "西班牙": 2, "german": 3, "德": 3, "italian": 4,
              "意大利": 4, "chinese": 5, "mandarin": 5, "中": 5, "汉": 5, "english": 0, "英": 0}  # fmt: skip


def translate(ask: Ask) -> list[Piece] | None:
    """Answer "translate X into French", "how do you say X in German?", "把X翻译成英文"."""
    text = ask.text.lower()
    wanted = re.search(
        r"\b(?:in|into|to)\s+(french|spanish|german|italian|chinese|mandarin|english)", text
    )
    wanted = wanted or re.search(r"(?:成|的|用)(法|西班牙|德|意大利|中|汉|英)[文语]", text)
    if not wanted or not re.search(r"translat|\bsay\b|\bword\b|\bwhat is\b|翻译|怎么说", text):
        return None
    column = _LANGUAGES[wanted.group(1)]
    for row in _dictionary():
        for word in row:
            found = re.search(
                rf"(?<![a-zà-ÿ]){re.escape(word)}(?![a-zà-ÿ])",
                text[: wanted.start()] + " " + text[wanted.end() :],
            )
            if found and word != row[column]:
                return [known(row[column], ask.clause.start)]
    return None


@cache
def _dictionary() -> tuple[tuple[str, ...], ...]:
    path = resources.files("monitor.lab") / "words.tsv"
    rows = [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines() if line]
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


def meanings(word: str) -> tuple[str, ...]:
    """Return what the dictionary has for an English word, in all its languages."""
    return next((row for row in _dictionary() if row[0] == word), ())


def compare(ask: Ask, question: str = "") -> list[Piece] | None:
    """Answer which of some numbers is largest, whether one is prime, even, or greater."""
    text = as_digits((question or ask.text).lower())
    numbers = [float(n) for n in re.findall(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])", text)]
    if not numbers:
        return None
    for pattern, answer in _JUDGEMENTS:
        if re.search(pattern, text):
            verdict = answer(numbers)
            return [known(verdict, ask.clause.start)] if verdict else None
    return None


def _yes(truth: bool) -> str:
    return "Yes" if truth else "No"


def _prime(number: float) -> bool:
    whole = int(number)
    return whole > 1 and all(whole % divisor for divisor in range(2, int(whole**0.5) + 1))


def _number(value: float) -> str:
    return f"{value:g}"


# Two numbers have no pattern yet.
_PATTERN_LENGTH = 3


def _next(numbers: list[float]) -> str:
    if len(numbers) < _PATTERN_LENGTH:
        return ""
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    if len(steps) == 1:
        return _number(numbers[-1] + steps.pop())
    ratios = {b / a for a, b in itertools.pairwise(numbers) if a}
    return _number(numbers[-1] * ratios.pop()) if len(ratios) == 1 else ""


_JUDGEMENTS = (
    (r"\bis -?[\d.]+ (?:greater|larger|bigger|more|higher) than\b|大于", lambda n: _yes(n[0] > n[1])),
    (r"\bis -?[\d.]+ (?:less|smaller|lower|fewer) than\b|小于", lambda n: _yes(n[0] < n[1])),
    (r"\bprime\b|质数|素数", lambda n: _yes(_prime(n[0]))),
    (r"\beven or odd|\bodd or even|奇数还是偶数|偶数还是奇数", lambda n: "even" if n[0] % 2 == 0 else "odd"),
    (r"\beven\b|偶数", lambda n: _yes(n[0] % 2 == 0)),
    (r"\bodd\b|奇数", lambda n: _yes(n[0] % 2 == 1)),
    (r"\b(?:largest|biggest|greatest|larger|bigger|greater|highest|maximum|max)\b|最大|更大|较大",
     lambda n: _number(max(n)) if len(n) > 1 else ""),
    (r"\b(?:smallest|smaller|lowest|least|minimum|min|fewest)\b|最小|更小|较小",
     lambda n: _number(min(n)) if len(n) > 1 else ""),
    (r"\b(?:average|mean)\b|平均", lambda n: _number(sum(n) / len(n)) if len(n) > 1 else ""),
    (r"\b(?:sum|add)\b|总和|之和", lambda n: _number(sum(n)) if len(n) >= _PATTERN_LENGTH else ""),
    (r"\b(?:next|continue|comes after|follows)\b|下一个", _next),
)  # fmt: skip


def greet(ask: Ask) -> list[Piece] | None:
    """Answer a greeting, a "reply with yes", and the like."""
    text = ask.text
    if re.search(
        r"\b(?:say|greet)\b.*\b(?:hello|hi)\b|^\W*(?:hello|hi)\b|你好", text, re.IGNORECASE
    ):
        return [known("你好!" if ask.chinese else "Hello!", ask.clause.start)]
    word = re.search(
        r"\b(?:reply|answer|respond|say)(?: only| just)?(?: with)? ([A-Za-z]{2,12})[.!]?$", text
    )
    if word and word.group(1).lower() in {"yes", "no", "ok", "okay", "done", "ready", "pong"}:
        return [copied(word.group(1), ask.clause.start + word.start(1))]
    return None
