"""The rule that names members of a kind: "Name three planets"."""

# ruff: noqa: E501, RUF001 (a table reads best one row a line; Chinese signs are meant)
from __future__ import annotations

import re

from monitor.lab.responder.arithmetic import NUMBER_WORDS
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, known
from monitor.lab.responder.forms import separator
from monitor.lab.responder.knowledge import Row, in_language, rows

_KINDS = {
    r"\bplanets?\b|行星": "planet order",
    r"\bmonths?\b|月份": "month number",
    r"\bdays? of the week\b|\bweekdays?\b|星期|一周": "next day",
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
    r"\bcolou?rs of the rainbow\b|彩虹": ("red|红", "orange|橙", "yellow|黄", "green|绿", "blue|蓝", "indigo|靛", "violet|紫"),
    r"生肖": ("rat|鼠", "ox|牛", "tiger|虎", "rabbit|兔", "dragon|龙", "snake|蛇", "horse|马", "goat|羊", "monkey|猴", "rooster|鸡", "dog|狗", "pig|猪"),
    r"\bprimary colou?rs?\b|三原色": ("red|红色", "blue|蓝色", "yellow|黄色"),
}  # fmt: skip
_ALL_ZH = re.compile(
    r"(?:列出|说出|写出|举出|给出)[^，。？]{0,12}?"
    r"(?:(?P<n>[一二两三四五六七八九十]{1,3}|\d+)(?:个|种|天|大|颗|生肖|季)|全部|所有)"
)


def enumerate_in_chinese(ask: Ask) -> list[Piece] | None:
    """Answer 写出一周的七天 and 列出八大行星: a kind that is named behind its number."""
    wanted = _ALL_ZH.search(ask.text) if ask.chinese else None
    members = _members(ask.text) if wanted else []
    if not wanted or not members:
        return None
    count = _how_many(wanted["n"] or "", len(members))
    names = [in_language(names, chinese=True) for names in members[:count]]
    return [known(separator(ask.turn_text, "\n").join(names), ask.clause.start)]


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
    if not wanted or "json" in low:
        return None
    members = _members(low)
    if not members:
        return None
    count = _how_many(wanted["n"] or wanted["z"] or "", len(members))
    names = [in_language(names, chinese=ask.chinese) for names in members[:count]]
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
