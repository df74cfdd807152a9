"""What the model knows without being told: the fact file, its names, and what asks for what."""

# ruff: noqa: E501 (a table reads best one row a line; Chinese signs are meant)
from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import resources

from monitor.lab.responder.asking import stem

CHINESE = re.compile("[\u4e00-\u9fff]")
# What a question must say to be about a relation. "" means: naming the entity is enough.
CUES = {
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
    "date": r"\bdate\b|\b(?:which|what|exact) day\b|\bday,? (?:the )?month\b|日期|哪一?天|哪一?日|几月几日|年月日",
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
    "kind": r"\bkind|\btype\b|\bsort of\b|\bcategory\b|种类|类别",
    "nature": r"\bmade (?:of|from)\b|\bconsists? of\b|什么做|用什么|是什么变",
    "reason phrase": r"\bhttp\b|\breason phrase\b|\bstatus\b|状态码|状态",
    "process": r"\bprocess\b|\bcalled\b|\bterm\b|\bname\b|过程|作用|叫",
    "unit": r"(?!)",
}  # fmt: skip
# Relations whose values also lead back to the entity, and what asks for the way back.
BACK = {
    "capital": r"\bcountry\b|\bnation\b|哪个国家|哪国",
    "symbol": r"\belement\b|\bstand|元素",
    "atomic number": r"\belement\b|元素",
    "planet order": r"\bplanet\b|行星",
    "month number": r"\bmonth\b|月份|哪个月",
    "author": r"\b(?:book|novel|play|work)\b|哪部|哪本",
    "reason phrase": r"\bcode\b|\bnumber\b|状态码",
}
# Relations whose values may stand in a yes-or-no question without any cue: "Is ice frozen water?"
OF_NATURE = ("kind", "group", "colour", "nature")


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


@cache
def index() -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """Return the rows by the names of their entities, and by those of their values."""
    forward: dict[str, list[Row]] = defaultdict(list)
    backward: dict[str, list[Row]] = defaultdict(list)
    for row in rows():
        for name in row.entity:
            forward[plain(name)].append(row)
        if row.relation in BACK or row.relation in {"next day", "next month"}:
            for name in row.value:
                backward[exact(name) if row.relation == "symbol" else plain(name)].append(row)
    return dict(forward), dict(backward)


def plain(text: str) -> str:
    """Return a name in lower case without articles and signs."""
    text = re.sub(r"[^\w\u4e00-\u9fff]+", " ", text.lower())
    return re.sub(r"\b(?:the|a|an|there|of) ", "", text + " ").strip()


def exact(text: str) -> str:
    """Return a key for a name whose case counts, such as a chemical symbol."""
    return "=" + text


def mentions(text: str, names_index: dict[str, list[Row]]) -> list[tuple[str, Row]]:
    """Return the rows whose names occur in a text, the longest name first."""
    squashed = plain(text)
    said = squashed.split()
    grams = {" ".join(said[i : i + n]) for n in range(1, 9) for i in range(len(said) - n + 1)}
    names = [name for name in grams if name in names_index]
    if CHINESE.search(text):
        squeezed = squashed.replace(" ", "")
        names += [name for name in names_index if not name.isascii() and name in squeezed]
    names.sort(key=lambda name: (-len(name), squashed.find(name)))
    return [(name, row) for name in names for row in names_index[name]]


def in_language(names: tuple[str, ...], *, chinese: bool) -> str:
    """Return the first of some names that is in the language wanted, or the first of all."""
    fitting = [name for name in names if bool(CHINESE.search(name)) is chinese]
    return (fitting or names)[0]


def kinds_of(name: str) -> set[str]:
    """Return all names of the kinds that a thing is of."""
    whole = plain(name)
    singular = " ".join(stem(word) for word in whole.split())
    found = index()[0].get(whole, []) + (index()[0].get(singular, []) if singular != whole else [])
    return {value for row in found if row.relation in OF_NATURE for value in row.value}


def kinds_named(text: str) -> list[str]:
    """Return the kinds a text speaks of, the longest name first."""
    said = f" {' '.join(stem(word) for word in plain(text).split())} "
    return [
        kind for kind in _kinds() if (kind in text if CHINESE.search(kind) else f" {kind} " in said)
    ]


@cache
def _kinds() -> tuple[str, ...]:
    names = {name for row in rows() if row.relation in OF_NATURE for name in row.value}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def names_of(answer: str) -> set[str]:
    """Return all names of a thing, in lower case; the text itself if it has no other."""
    found = {answer.lower()}
    for row in rows():
        for names in (row.value, row.entity):
            if answer.lower() in (name.lower() for name in names):
                found |= {name.lower() for name in names}
    return found
