"""JSON asked for in prose: which keys, of which type, and the values that are given outright."""

# ruff: noqa: E501, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from monitor.lab.responder.asking import Ask
from monitor.lab.responder.knowledge import rows
from monitor.lab.responder.wordplay import items, meanings

Schema = Mapping[str, Any]
_KEY = re.compile(r"[\"'“`‘]([A-Za-z_][\w-]*)[\"'”`’]")
_ASKED = re.compile(
    r"\bkeys?\b|\bfields?\b|\bproperties\b|\battributes\b|字段|键|属性", re.IGNORECASE
)
_GIVES = r"(?:\b(?:equal to|equals|set to|is|as|being|value|holds?|holding|with)\b|=|值为|等于|设为|为|是|:|：)"
_STRING = re.compile(
    _GIVES + r"\s*(?:the\s+)?(?:string|text|word|字符串|文本)?\s*[\"“'「]([^\"”'」\n]*)[\"”'」]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    _GIVES + r"\s*(?:the\s+)?(?:number|integer|数字|整数)?\s*(-?\d+(?:\.\d+)?)(?![\w.]*\w)",
    re.IGNORECASE,
)
_TRUTH = re.compile(
    _GIVES + r"\s*(?:the\s+)?(?:boolean|布尔值)?\s*(true|false|null)\b(?!\s*(?:or|或|/))",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\b(?:an|another|a nested|nested|the) object\b|对象", re.IGNORECASE)
_LIST = re.compile(r"\b(?:list|array)\b|列表|数组", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.。!?！？](?=\s|$|[\u4e00-\u9fff])|\n")
# What a description says of the type: the first that fits.
_TYPES = (
    (r"\bnull\b(?!\s+(?:or|if))|\b(?:为空|空值)", "null"),
    (r"\btrue\s*(?:or|/|and)\s*false|\bboolean\b|true\s*或\s*(?:者)?\s*false|布尔", "boolean"),
    (r"\b(?:list|array)\b|列表|数组", "array"),
    (r"\binteger\b|整数", "integer"),
    (r"\bnumber\b|\bnumeric\b|数字|数值", "number"),
    (r"\bstring\b|\btext\b|字符串|文本", "string"),
)
_NO = re.compile(
    r"\b(?:not|no|never|isn't|aren't|wasn't|un)\s*$|n['’]t\s+(?:\w+\s+)?$|(?:没有?|未|不)[被在]?$",
    re.IGNORECASE,
)


def keys_in_prose(text: str) -> dict[str, Schema]:
    """Return the quoted keys of a request in order, each with a schema made of what is said of it.

    A schema may hold ``const``, the value itself, and ``properties`` of an object within.
    """
    start = _ASKED.search(text)
    found = [key for key in _KEY.finditer(text) if not _is_value(text, key)]
    if not start or not found:
        return {}
    properties: dict[str, Schema] = {}
    number = 0
    while number < len(found):
        said = _description(text, found, number)
        inside = 0
        if _OBJECT.search(said):
            end = _sentence_end(text, found[number].end())
            inside = sum(key.start() < end for key in found[number + 1 :])
        if inside:
            last = found[number + inside + 1] if number + inside + 1 < len(found) else None
            within = text[found[number + 1].start() : last.start() if last else len(text)]
            inner = keys_in_prose("keys " + within)
            properties[found[number][1]] = {"type": "object", "properties": inner}
        else:
            properties[found[number][1]] = _schema(said)
        number += 1 + inside
    return properties


def _is_value(text: str, key: re.Match[str]) -> bool:
    before = text[max(0, key.start() - 24) : key.start()]
    return bool(re.search(r"(?:\b(?:equal to|equals|set to|is|string|text|word|value)|=|:|等于|字符串|为)\s*$", before, re.IGNORECASE)
                and not re.search(r"(?:keys?|fields?|字段|键|属性)\W*(?:is|are|[:：]|为|是)?\s*$", before, re.IGNORECASE))  # fmt: skip


def _description(text: str, keys: list[re.Match[str]], number: int) -> str:
    after = keys[number].end()
    end = keys[number + 1].start() if number + 1 < len(keys) else len(text)
    return text[after : min(end, _sentence_end(text, after))]


def _sentence_end(text: str, start: int) -> int:
    found = _SENTENCE_END.search(text, start)
    return found.start() if found else len(text)


def _schema(said: str) -> Schema:
    kind = next((kind for cue, kind in _TYPES if re.search(cue, said, re.IGNORECASE)), "")
    given = _given(said, kind)
    schema: dict[str, Any] = {"type": kind} if kind else {"guess": True}
    return schema | ({"const": given[0]} if given else {})


def _given(said: str, kind: str) -> tuple[Any] | None:
    """Return the value that a description gives outright, in a tuple of one."""
    if kind == "null":
        return (None,)
    truth = _TRUTH.search(said)
    if truth:
        return ({"true": True, "false": False, "null": None}[truth.group(1).lower()],)
    if kind == "array":
        members = _members(said)
        return (members,) if members else None
    string = _STRING.search(said)
    if string:
        return (string.group(1),)
    number = _NUMBER.search(said)
    if number and kind != "string":
        return (_plain_number(number.group(1)),)
    return None


def _members(said: str) -> list[Any]:
    _, colon, listed = (
        re.split(r"([:：])", said, maxsplit=1) if re.search("[:：]", said) else ("", "", "")
    )
    if not colon:
        cue = list(_LIST.finditer(said))[-1]
        listed = re.sub(
            r"^\s*(?:of|with|holding|containing)?\s*(?:the)?\s*(?:strings|numbers|words)?\s*",
            "",
            said[cue.end() :],
        )
    names = (
        [re.sub(r"^and\s+", "", name).strip("\"'“”。. []") for name in items(listed)]
        if listed.strip()
        else []
    )
    numeric = names and all(re.fullmatch(r"-?\d+(?:\.\d+)?", name) for name in names)
    strings = re.search(r"\bstrings?\b|字符串", said, re.IGNORECASE)
    return [_plain_number(name) for name in names] if numeric and not strings else list(names)


def _plain_number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def truth_of(ask: Ask, key: str) -> bool | None:
    """Return whether the statements of a turn say that something is as a key says."""
    text = _KEY.sub(" ", ask.turn_text)
    words = re.sub(r"^(?:is|has|was)_", "", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()).split(
        "_"
    )
    name = words[-1]
    for said, holds in ((_names(name), True), (_opposites(name), False)):
        for spelling in said:
            found = re.search(_spelled(spelling), text, re.IGNORECASE)
            if found:
                return holds != bool(_NO.search(text[max(0, found.start() - 14) : found.start()]))
    return None


def _spelled(word: str) -> str:
    if not word.isascii():
        return re.escape(word)
    return rf"\b{re.escape(word)}(?:d|ed|s)?\b"


def _names(name: str) -> list[str]:
    return [name, *(re.sub("[着的了上]+$", "", word) for word in meanings(name))]


def _opposites(name: str) -> list[str]:
    words = [f"un{name}", f"in{name}"]
    for row in rows():
        if row.relation == "opposite":
            words += row.value if name in row.entity else row.entity if name in row.value else ()
    return words
