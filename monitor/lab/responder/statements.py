"""The rule that reads short statements: what one of them says and the question leaves open.

"Ben lives in Lima. ... In which city does Ben live?" The statement that shares most with the
question is chosen; what the question already says is struck out of it; the rest is the answer.
"""

# ruff: noqa: E501, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.lab.responder.asking import Ask, Span
from monitor.lab.responder.draft import Piece, copied
from monitor.lab.responder.extract import FIELDS

_WH = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|how old|how many|how much)\b", re.IGNORECASE
)
_TYPE = re.compile(r"\b(?:what|which)\s+(?:is the |are the )?([a-z]+)", re.IGNORECASE)
_SENTENCE = re.compile(
    r"[^\s.!?;\n,\ue000-\ue03f](?:[^.!?;\n,\ue000-\ue03f]|[.!?,](?=\w)|(?<=\bDr)\.|(?<=\bM[rs])\.|(?<=\bMrs)\.|(?<=\bProf)\.|,(?= (?!(?:and |but )?[A-Z])))*?"
    r"(?=[.!?;\n\ue000-\ue03f](?!\w)|,? and (?=[A-Z])|, (?=[A-Z])|$)"
)
_PART = re.compile(r"(?!(?:and|but)\b)[^\s,](?:[^,]|,(?=\S))*")
_LONGEST = 160
_SHORT = 3
_WORD = re.compile(r"[\w.+-]+@[\w.-]*\w|https?://\S+\w|[A-Za-z0-9]+(?:[-:./_'’][A-Za-z0-9]+)*")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an the in on at of for to from by with into is are was were be been am do does did has have "
        "had it its he she they him her his their this that these those what which who whom whose where "
        "when how and or but then there as name please tell me give answer say not now many much old "
        "can will would us you your my our",
    )
)
# Verbs that say no more than that one thing has to do with another.
_VERBS = frozenset(
    re.findall(
        r"\w+",
        "hold contain keep live work write call stand sit lie sell cost weigh open start begin end "
        "close leave arrive meet take go come stay belong carry store use run play like eat drink own "
        "see ask send ship move find found grow make teach speak study drive wear read visit",
    )
)
_GAIN_OR_LOSS = re.compile(
    r"\b(?:more|buys?|gives?|gave|eats?|ate|loses?|lost|sells?|sold|left|now|total|altogether|together|each)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    stem: str
    start: int


def told(ask: Ask) -> list[Piece] | None:
    """Answer a question with what a statement in the turn says."""
    if ask.chinese:
        return None
    wh = _WH.search(ask.text)
    if not wh or (wh.group().lower() in {"how many", "how much"} and _is_story(ask)):
        return None
    spans = _statements(ask)
    return _told_in(ask, spans) or _told_in(ask, _cut_at_commas(ask.reading.text, spans))


def _told_in(ask: Ask, spans: list[Span]) -> list[Piece] | None:
    """Return what the only statement says that has all the question tells."""
    asked, kind = _asked(ask.text)
    statements = [words for span in spans if len(words := _words(ask.reading.text, span)) > 1]
    vocabulary = {word.stem for words in statements for word in words}
    known_here = asked & vocabulary
    if not known_here or 2 * len(known_here) < len(asked):
        return None
    fitting = [words for words in statements if known_here <= {word.stem for word in words}]
    if len(fitting) != 1 or len(statements) == 1:
        return None
    return _rest(ask, fitting[0], known_here, kind)


def _cut_at_commas(text: str, spans: list[Span]) -> list[Span]:
    return [
        Span(start=part.start(), end=part.end())
        for span in spans
        for part in _PART.finditer(text, span.start, span.end)
    ]


def _is_story(ask: Ask) -> bool:
    return bool(_GAIN_OR_LOSS.search(ask.reading.text, ask.turn.start, ask.clause.end))


def _asked(question: str) -> tuple[set[str], str]:
    """Return what a question tells (as stems), and the kind of thing it asks for."""
    found = _TYPE.search(question)
    kind = _stem(found.group(1)) if found and found.group(1).lower() not in _STOP else ""
    stems = {_stem(word) for word in _WORD.findall(question) if word.lower() not in _STOP}
    return stems - {kind}, kind


def _stem(word: str) -> str:
    low = word.lower()
    low = re.sub(r"['’]s$", "", low)
    for ending in ("ing", "ed", "es", "s"):
        if low.endswith(ending) and len(low) - len(ending) >= _SHORT and not low.endswith("ss"):
            low = low.removesuffix(ending)
            break
    # live, lives and living have one stem.
    return low.removesuffix("e") if len(low) > _SHORT else low


_VERB_STEMS = frozenset(_stem(verb) for verb in _VERBS)


def _statements(ask: Ask) -> list[Span]:
    scopes = (ask.before, Span(start=ask.clause.end, end=ask.turn.end))
    return [
        Span(start=found.start(), end=found.end())
        for scope in scopes
        for found in _SENTENCE.finditer(ask.reading.text, scope.start, scope.end)
        if found.end() - found.start() <= _LONGEST
    ]


def _words(text: str, span: Span) -> list[_Word]:
    return [
        _Word(found.group(), _stem(found.group()), found.start())
        for found in _WORD.finditer(text, span.start, span.end)
    ]


def _rest(ask: Ask, words: list[_Word], asked: set[str], kind: str) -> list[Piece] | None:
    runs = _runs(words, asked, kind)
    if not runs:
        return None
    typed = _typed(ask, words, asked, kind)
    if typed:
        return [copied(*typed)]
    chosen = _beside(words, runs, kind) or (
        runs[0] if re.search(r"\bwho\b|\bwhich\b", ask.text.lower()) else runs[-1]
    )
    end = chosen[-1].start + len(chosen[-1].text)
    return [copied(ask.reading.text[chosen[0].start : end], chosen[0].start)]


def _runs(words: list[_Word], asked: set[str], kind: str) -> list[list[_Word]]:
    """Return the stretches of a statement that the question does not say."""
    runs: list[list[_Word]] = [[]]
    idle = asked | {kind} | _VERB_STEMS
    for word in words:
        if word.stem in idle or word.text.lower() in _STOP:
            runs.append([])
        else:
            runs[-1].append(word)
    return [run for run in runs if run]


def _typed(ask: Ask, words: list[_Word], asked: set[str], kind: str) -> tuple[str, int] | None:
    """Return the part that looks as what is asked for looks: a time, an address, a colour."""
    cue = "when" if re.search(r"\bwhen\b", ask.text.lower()) else kind
    cue = {"addres": "mail address", "tim": "time", "dat": "date", "pric": "price"}.get(cue, cue)
    if not cue:
        return None
    end = words[-1].start + len(words[-1].text)
    for pattern in [p for name, patterns in FIELDS if re.search(name, cue) for p in patterns]:
        found = re.compile(pattern).search(ask.reading.text, words[0].start, end)
        if found:
            group = 1 if found.re.groups and found.group(1) else 0
            if _stem(found.group(group)) not in asked:
                return found.group(group), found.start(group)
    return None


def _beside(words: list[_Word], runs: list[list[_Word]], kind: str) -> list[_Word] | None:
    """Return the stretch beside the word asked for: "order 7340", "the blue box"."""
    place = next((n for n, word in enumerate(words) if word.stem == kind), None)
    if place is None:
        return None
    after = [run for run in runs if place + 1 < len(words) and run[0] is words[place + 1]]
    before = [run for run in runs if place and run[-1] is words[place - 1]]
    numbered = [run for run in after if re.search(r"\d|^[A-Z]", run[0].text)]
    return next(iter(numbered or before or after), None)


_ZH_WH = re.compile(
    r"请问|告诉我|哪一?[座个位家本种条只辆间栋天些年月类]|哪里|哪儿|哪(?=\w)|什么地方|什么|谁|几点钟?|多少|几[个只元]?|何时"
)
_ZH_PIECE = re.compile(
    r"[^。！？；，,;!?\n\s\ue000-\ue03f](?:[^。！？；，,;!?\n\ue000-\ue03f]){1,59}"
)
_ZH_PARTICLES = "的在是了于为叫有和：:，, "
_ZH_TYPES = (
    (r"几点|时间|何时|什么时候", r"\d{1,2}[:：]\d{2}|\d{1,2}点(?:\d{1,2}分?|半)?"),
    (r"颜色", r"[红橙黄绿蓝紫黑白灰粉棕]色?|[\u4e00-\u9fff]{1,2}色"),
    (r"号码|电话|数字|编号", r"[\d-]{2,}"),
)


def told_zh(ask: Ask) -> list[Piece] | None:
    """Answer a Chinese question with what a statement in the turn says."""
    base = ask.clause.start
    parts = list(_ZH_PIECE.finditer(ask.text)) if ask.chinese else []
    place = next((n for n, part in enumerate(parts) if _ZH_WH.search(part.group())), None)
    if place is None:
        return None
    question = parts[place].group()
    left = _ZH_WH.sub("", question).rstrip("呢吗啊")
    spans = [
        found.span()
        for found in _ZH_PIECE.finditer(ask.reading.text, ask.before.start, ask.before.end)
    ]
    spans += [(base + part.start(), base + part.end()) for part in parts[:place]]
    scored = [(_struck(ask.reading.text[a:b], left), a, b) for a, b in spans]
    best = max((len(struck) for struck, _, _ in scored), default=0)
    fitting = [one for one in scored if len(one[0]) == best]
    if len(fitting) != 1 or len(scored) == 1 or 2 * best < len(left):
        return None
    struck, start, end = fitting[0]
    return _left_over(question, ask.reading.text[start:end], struck, start)


def _struck(statement: str, question: str) -> set[int]:
    """Return the places of a statement that the question says too, in stretches of two or more."""
    struck: set[int] = set()
    for size in range(min(len(statement), len(question)), 1, -1):
        for start in range(len(statement) - size + 1):
            places = set(range(start, start + size))
            if not places & struck and statement[start : start + size] in question:
                struck |= places
    return struck


def _left_over(question: str, statement: str, struck: set[int], start: int) -> list[Piece] | None:
    shown = "".join(" " if n in struck else letter for n, letter in enumerate(statement))
    for cue, pattern in _ZH_TYPES:
        found = re.search(pattern, shown) if re.search(cue, question) else None
        if found:
            return [copied(found.group(), start + found.start())]
    runs = [found for found in re.finditer(r"[^ ]+", shown) if found.group().strip(_ZH_PARTICLES)]
    if not runs:
        return None
    run = runs[0] if re.search(r"谁|哪", question) else runs[-1]
    text = run.group().strip(_ZH_PARTICLES)
    return [copied(text, start + run.start() + run.group().find(text))]
