"""What the model knows without being told: the fact file, asked in many words, both ways."""

# ruff: noqa: E501 (a table reads best one row a line; Chinese signs are meant)
from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import resources

from monitor.lab.responder.arithmetic import NUMBER_WORDS
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, known

_CHINESE = re.compile("[\u4e00-\u9fff]")
# What a question must say to be about a relation. "" means: naming the entity is enough.
_CUES = {
    "capital": r"\bcapital\b|seat of (?:the )?government|首都",
    "continent": r"\bcontinent\b|\bpart of the world\b|哪个洲|大洲|大陆",
    "currency": r"\bcurrency\b|\bmoney\b|\bpay with\b|\bcoins?\b|货币|钱",
    "language": r"\blanguage\b|\bspeak|\bspoken\b|\btongue\b|语言|说什么话|语",
    "symbol": r"\bsymbols?\b|\babbreviat|符号",
    "atomic number": r"\batomic number\b|\bprotons\b|原子序数|质子",
    "author": r"\bwrote\b|\bauthor|\bwritten\b|\bwriter\b|\bnovelist\b|\bplaywright\b|作者|写的|谁写",
    "painter": r"\bpaint|\bartist\b|画",
    "composer": r"\bcompos|\bwrote the (?:music|opera|ballet)|\bwrote\b|作曲|谱写",
    "inventor": r"\binvent|\bcreat(?:ed|or)\b|\bdevelop|发明|创造",
    "discoverer": r"\bdiscover|\bformulat|\bpropos|\bdevelop|\bfound\b|\bcame up with\b|发现|提出",
    "planet order": r"\bplanet\b.*\b(?:from|position|order|number)|\b(?:position|order|place|number)\b.*\bplanet|第几",
    "superlative": "",
    "year": r"\byear\b|\bwhen\b|\bdate\b|年",
    "end year": r"\bend(?:ed)?\b|\bover\b|\bfinish|结束",
    "start year": r"\b(?:start|beg[iau]n|break out|broke out)|开始|爆发",
    "count": "",
    "days in month": r"\bdays\b|多少天|几天",
    "next day": r"\b(?:after|follows|following|next)\b|后一天|之后|第二天",
    "next month": r"\b(?:after|follows|following|next)\b|之后|下个月",
    "month number": r"\bnumber of\b|\bwhich number\b|\bwhat number\b|第几个月",
    "opposite": r"\bopposite\b|\bantonym\b|反义词|相反",
    "colour": r"\bcolou?r\b|颜色",
    "colour mix": r"\bmix|\bcombin|\bblend|混合|加",
    "young": r"\b(?:baby|young|offspring|child)\b|幼崽",
    "sound": r"\bsound\b|\bnoise\b|叫声",
    "group": r"\b(?:class|kind|type|group|sort) of (?:animal|creature)|\banimal (?:class|group)|"
             r"\b(?:mammal|reptile|bird|fish|insect|amphibian|arachnid)\b|哪类|什么动物|类动物",
    "what is it": r"\bformula\b|化学式|分子式",
    "answer": "",
}  # fmt: skip
# Relations whose values also lead back to the entity, and what asks for the way back.
_BACK = {
    "capital": r"\bcountry\b|\bnation\b|哪个国家|哪国",
    "symbol": r"\belement\b|\bstand|元素",
    "atomic number": r"\belement\b|元素",
    "planet order": r"\bplanet\b|行星",
    "month number": r"\bmonth\b|月份|哪个月",
    "author": r"\b(?:book|novel|play|work)\b|哪部|哪本",
}
_BEFORE = re.compile(r"\bbefore\b|\bprecedes?\b|前一天|之前")
_ABOUT_BEFORE = re.compile(
    r"\b(?:its|it|he|she|his|her|this|that|there)\b|它|他|她|该", re.IGNORECASE
)
_KINDS = {
    r"\bplanets?\b|行星": "planet order",
    r"\bmonths?\b|月份": "month number",
    r"\bdays? of the week\b|\bweekdays?\b|星期": "next day",
    r"\b(?:chemical )?elements?\b|元素": "symbol",
    r"\b(?:european )?(?:countries|country)\b|国家": "continent",
    r"\bcapitals?(?: cit(?:y|ies))?\b|首都": "capital",
}
_LISTS = {
    r"\bcolou?rs?\b|颜色": ("red|红色", "blue|蓝色", "green|绿色", "yellow|黄色", "orange|橙色", "purple|紫色", "black|黑色", "white|白色"),
    r"\bfruits?\b|水果": ("apple|苹果", "banana|香蕉", "orange|橙子", "pear|梨", "grape|葡萄", "cherry|樱桃", "peach|桃子", "lemon|柠檬"),
    r"\bvegetables?\b|蔬菜": ("carrot|胡萝卜", "potato|土豆", "onion|洋葱", "cabbage|卷心菜", "spinach|菠菜", "pea|豌豆"),
    r"\banimals?\b|动物": ("dog|狗", "cat|猫", "horse|马", "cow|牛", "sheep|羊", "lion|狮子", "tiger|老虎", "elephant|大象"),
    r"\bcontinents?\b|大洲": ("Asia|亚洲", "Africa|非洲", "Europe|欧洲", "North America|北美洲", "South America|南美洲", "Australia|大洋洲", "Antarctica|南极洲"),
    r"\boceans?\b|大洋": ("Pacific|太平洋", "Atlantic|大西洋", "Indian|印度洋", "Arctic|北冰洋", "Southern|南冰洋"),
    r"\bseasons?\b|季节": ("spring|春天", "summer|夏天", "autumn|秋天", "winter|冬天"),
    r"\bprogramming languages?\b|编程语言": ("Python", "Java", "C", "Rust", "Go", "JavaScript", "Ruby"),
    r"\bprimes?\b|\bprime numbers?\b|质数": ("2", "3", "5", "7", "11", "13", "17", "19", "23", "29"),
    r"\bprimary colou?rs?\b|三原色": ("red|红色", "blue|蓝色", "yellow|黄色"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One fact with all the names of its entity and of its value."""

    relation: str
    entity: tuple[str, ...]
    value: tuple[str, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return the fact file."""
    path = resources.files("monitor.lab") / "facts.tsv"
    found = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            relation, entity, value = line.split("\t")
            found.append(Row(relation, tuple(entity.split("|")), tuple(value.split("|"))))
    return tuple(found)


def load() -> None:
    """Read the fact file now, so that the first question need not wait for it."""
    _index()


@cache
def _index() -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    forward: dict[str, list[Row]] = defaultdict(list)
    backward: dict[str, list[Row]] = defaultdict(list)
    for row in rows():
        for name in row.entity:
            forward[_plain(name)].append(row)
        if row.relation in _BACK or row.relation in {"next day", "next month"}:
            for name in row.value:
                backward[_exact(name) if row.relation == "symbol" else _plain(name)].append(row)
    return dict(forward), dict(backward)


def _plain(text: str) -> str:
    text = re.sub(r"[^\w\u4e00-\u9fff]+", " ", text.lower())
    return re.sub(r"\b(?:the|a|an|there|of) ", "", text + " ").strip()


def _exact(text: str) -> str:
    return "=" + text


def recite(ask: Ask) -> list[Piece] | None:
    """Answer a question about a fact, in the language of the question."""
    confirmed = _confirm(ask)
    if confirmed:
        return confirmed
    match = _chosen(ask.text) or _best(ask.text)
    if match is None and _ABOUT_BEFORE.search(ask.text):
        before = ask.reading.text[max(ask.turn.start, ask.clause.start - 160) : ask.clause.start]
        match = _best(f"{before} {ask.text}")
    if match is None:
        return None
    return [known(_in_language(match, chinese=ask.chinese), ask.clause.start)]


def _chosen(text: str) -> tuple[str, ...] | None:
    """Return which of several named things has the property that the question names."""
    if not re.search(r"\bwhich (?:one )?of\b|\bwhich (?:is|animal)\b", text.lower()):
        return None
    plain = f" {_plain(text)} "
    found = [
        row.entity
        for _, row in _mentions(text, _index()[0])
        if _CUES[row.relation] and re.search(_CUES[row.relation], text.lower())
        if any(f" {_plain(value)} " in plain for value in row.value)
    ]
    return found[0] if len(set(found)) == 1 else None


def _best(text: str) -> tuple[str, ...] | None:
    """Return the names of the answer: forth or back, whichever goes by the longer name."""
    forth, back = _forward(text), _backward(text)
    if forth and back:
        return back[1] if back[0] > forth[0] else forth[1]
    best = forth or back
    return best[1] if best else None


def _in_language(names: tuple[str, ...], *, chinese: bool) -> str:
    fitting = [name for name in names if bool(_CHINESE.search(name)) is chinese]
    return (fitting or names)[0]


def _mentions(text: str, index: dict[str, list[Row]]) -> list[tuple[str, Row]]:
    """Return the rows whose names occur in a text, the longest name first."""
    plain = _plain(text)
    words = plain.split()
    grams = {" ".join(words[i : i + n]) for n in range(1, 9) for i in range(len(words) - n + 1)}
    names = [name for name in grams if name in index]
    if _CHINESE.search(text):
        squeezed = plain.replace(" ", "")
        names += [name for name in index if _CHINESE.search(name) and name in squeezed]
    names.sort(key=lambda name: (-len(name), plain.find(name)))
    return [(name, row) for name in names for row in index[name]]


def _forward(text: str) -> tuple[float, tuple[str, ...]] | None:
    low = text.lower()
    best: tuple[float, tuple[str, ...]] | None = None
    for name, row in _mentions(text, _index()[0]):
        cue = _CUES[row.relation]
        if (cue and not re.search(cue, low)) or _asks_back(row, low):
            continue
        # The longest name wins; of equals, the relation with the most particular cue.
        score = len(name) + (2 if row.relation in {"end year", "start year"} else 0)
        if best is None or score > best[0]:
            best = (score, row.value)
    return best


def _asks_back(row: Row, low: str) -> bool:
    return row.relation in {"next day", "next month"} and bool(_BEFORE.search(low))


def _backward(text: str) -> tuple[float, tuple[str, ...]] | None:
    low = text.lower()
    for name, row in _mentions(text, _index()[1]):
        if row.relation in {"next day", "next month"}:
            if _BEFORE.search(low):
                return len(name), row.entity
            continue
        cue = _CUES[row.relation]
        if not name or not re.search(_BACK[row.relation], low):
            continue
        if not cue or re.search(cue, low) or row.relation in {"planet order", "month number"}:
            return len(name), row.entity
    for row in rows():
        if row.relation != "symbol" or not re.search(_BACK["symbol"], low):
            continue
        if re.search(rf"(?<![\w]){re.escape(row.value[0])}(?![\w])", text):
            return 0, row.entity
    return None


def _confirm(ask: Ask) -> list[Piece] | None:
    """Answer "Is Paris the capital of France?" with yes or no."""
    low = ask.text.lower()
    if not re.match(
        r"\W*(?:.*[:,] )?(?:is|are|does|do|did|was|true or false)\b", low
    ) and not re.search(r"吗|是不是|是否|yes or no|true or false", low):
        return None
    if re.search(r"\b(?:what|which|who|when|where|how)\b|什么|哪|谁|多少", low):
        return None
    plain = f" {_plain(ask.text)} "
    for name, row in _mentions(ask.text, _index()[0]):
        cue = _CUES[row.relation]
        if cue and re.search(cue, low):
            rest = plain.replace(f" {name} ", " ", 1)
            said = any(
                f" {_plain(value)} " in rest or (_CHINESE.search(value) and value in ask.text)
                for value in row.value
            )
            return [known(_verdict(ask, said=said), ask.clause.start)]
    return None


def _verdict(ask: Ask, *, said: bool) -> str:
    if ask.chinese:
        return "是" if said else "不是"
    if re.search(r"true or false", ask.text.lower()):
        return "True" if said else "False"
    return "Yes" if said else "No"


def enumerate_kind(ask: Ask) -> list[Piece] | None:
    """Answer "name three planets", "list 4 fruits", "name a colour"."""
    low = ask.text.lower()
    wanted = re.search(
        r"\b(?:name|list|give|write|tell me|mention|output|print)\b(?: me)?(?: exactly| any| the| only)?\s+"
        r"(?P<n>\d+|"
        + "|".join(NUMBER_WORDS)
        + r"|an?|all)?\b|(?:列出|说出|写出|举出|给出)(?P<z>[一二两三四五六七八九十\d]+)[个种]",
        low,
    )
    if not wanted:
        return None
    members = _members(low)
    if not members:
        return None
    count = _how_many(wanted["n"] or wanted["z"] or "", len(members))
    names = [_in_language(names, chinese=ask.chinese) for names in members[:count]]
    separator = ", " if re.search(r"comma|separated|one line|逗号", ask.turn_text.lower()) else "\n"
    return [known(separator.join(names), ask.clause.start)]


def _members(low: str) -> list[tuple[str, ...]]:
    for pattern, names in reversed(_LISTS.items()):
        if re.search(pattern, low):
            return [tuple(name.split("|")) for name in names]
    for pattern, relation in _KINDS.items():
        if re.search(pattern, low):
            chosen = [row for row in rows() if row.relation == relation]
            if "europ" in low or "欧洲" in low:
                chosen = _european(chosen)
            return [row.value if relation == "capital" else row.entity for row in chosen]
    return []


def _european(chosen: list[Row]) -> list[Row]:
    there = {row.entity for row in rows() if row.relation == "continent" and "Europe" in row.value}
    return [row for row in chosen if row.entity in there]


def _how_many(text: str, longest: int) -> int:
    if text in {"a", "an"}:
        return 1
    if text.isdigit():
        return int(text)
    chinese = dict(zip("一二三四五六七八九十两", [*range(1, 11), 2], strict=True))
    count: int = NUMBER_WORDS.get(text) or chinese.get(text, longest)
    return count
