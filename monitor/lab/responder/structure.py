"""Answers that are JSON: objects after a schema or keys named in prose, and tool calls."""

# ruff: noqa: E501, PLR0911, PLR2004 (one way out for each type; patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from monitor.lab.responder.arithmetic import evaluate
from monitor.lab.responder.asking import Ask, words
from monitor.lab.responder.draft import Draft, Piece, copied, joined, known
from monitor.lab.responder.mending import mend
from monitor.lab.responder.prose import keys_in_prose, truth_of
from monitor.lab.responder.values import Answers, Found, key_words, members, value_for
from monitor.lab.tokenizer import Special

_JSON = re.compile(r"(?<![a-z])json(?![a-z])", re.IGNORECASE)
_BROKEN = re.compile(r"[{\[].*[}\]]", re.DOTALL)
_MEND = re.compile(
    r"\b(?:mend|fix|repair|correct|make|turn|valid)\b|修复|修正|改正|改成|合法|有效", re.IGNORECASE
)
_KEYS = re.compile(
    r"\b(?:keys?|fields?|properties|attributes|members)\b|字段|键|属性", re.IGNORECASE
)
_NAME = re.compile(r"[\"'“`]([A-Za-z_][\w]*)[\"'”`]|\b([A-Za-z_]\w*)\b")
_STOP_NAMES = {"and", "the", "with", "are", "is", "a", "an", "named", "called", "exactly", "of",
               "these", "two", "three", "four", "following", "only", "for", "key", "keys"}  # fmt: skip
_NUMERIC_NAMES = {
    "sum",
    "total",
    "count",
    "number",
    "age",
    "quantity",
    "difference",
    "product",
    "year",
}
# Whatever else is said, a tool that the turn names is the one meant.
NAMED = 100
Schema = Mapping[str, Any]


def fill(whole: Ask, answer: Answers) -> Draft | None:
    """Return a JSON object if the format block or the turn asks for one."""
    schema = _block_schema(whole)
    if schema is None and not _JSON.search(whole.turn_text):
        return None
    mended = _mended(whole) if schema is None else None
    if mended:
        return mended
    properties = _properties(schema or {}) or _named_in_prose(whole.turn_text)
    answers = answer(whole)
    if not properties:
        if schema is None and not answers:
            return None
        properties = {"answer": {"type": "string"}}
        answers = [joined(answers, "; ", whole.turn.start)] if answers else []
    return Draft(pieces=tuple(_object(whole, properties, answers)), plain=False)


def has_format(whole: Ask) -> bool:
    """Return whether the request itself, not the prose, wants an object."""
    return whole.reading.block(Special.FORMAT, Special.END_FORMAT) is not None


def _mended(whole: Ask) -> Draft | None:
    """Return the JSON that almost-JSON in the turn means, if it is to be mended."""
    broken = _BROKEN.search(whole.turn_text)
    if not broken or not _MEND.search(whole.turn_text):
        return None
    meant = mend(broken.group())
    if meant is None:
        return None
    at = whole.turn.start + broken.start()
    return Draft(pieces=(known(json.dumps(meant, ensure_ascii=False), at),), plain=False)


def _block_schema(whole: Ask) -> Schema | None:
    bounds = whole.reading.block(Special.FORMAT, Special.END_FORMAT)
    if bounds is None:
        return None
    loaded = _loads(whole.reading.text[bounds[0] : bounds[1]])
    return loaded if isinstance(loaded, dict) else {}


def _loads(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _properties(schema: Schema) -> dict[str, Schema]:
    given = schema.get("properties")
    return dict(given) if isinstance(given, dict) else {}


def _named_in_prose(text: str) -> dict[str, Schema]:
    """Return the keys of "with the keys a and b", or of an example object."""
    described = keys_in_prose(text)
    if described:
        return {
            name: {**_guessed(name), **schema} if "guess" in schema else schema
            for name, schema in described.items()
        }
    example = re.search(r"\{[^{}]*[\"']\w+[\"']\s*:[^{}]*\}", text)
    if example:
        names = re.findall(r"[\"'](\w+)[\"']\s*:", example.group())
    else:
        cue = _KEYS.search(text)
        names = (
            _listed_names(re.split(r"[.;\n]|\bfrom\b|\bfor\b", text[cue.end() :])[0]) if cue else []
        )
    return {name: _guessed(name) for name in names}


def _listed_names(text: str) -> list[str]:
    quoted = re.findall(r"[\"'“`](\w+)[\"'”`]", text)
    if quoted:
        return quoted
    plain = [a or b for a, b in _NAME.findall(re.sub(r"\([^)]*\)", "", text))]
    return [name for name in plain if name.lower() not in _STOP_NAMES][:8]


def _guessed(name: str) -> Schema:
    return {"type": "number" if key_words(name) & _NUMERIC_NAMES else "string", "guess": True}


def _object(ask: Ask, properties: Mapping[str, Schema], answers: list[list[Piece]]) -> list[Piece]:
    at = ask.turn.start
    pieces = [known("{", at)]
    for number, (key, schema) in enumerate(properties.items()):
        pieces.append(known((", " if number else "") + json.dumps(key) + ": ", at))
        pieces += _value(ask, key, schema, answers)
    return [*pieces, known("}", at)]


def _value(ask: Ask, key: str, schema: Schema, answers: list[list[Piece]]) -> list[Piece]:
    inner = _properties(schema)
    if inner:
        return _object(ask, inner, answers)
    if "const" in schema:
        return [known(json.dumps(schema["const"], ensure_ascii=False), ask.turn.start)]
    found = value_for(ask, key, schema, answers)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        return _array(ask, schema, found)
    if kind in {"integer", "number"}:
        return _numeric(ask, schema, found)
    if kind == "boolean":
        said = truth_of(ask, key)
        truth = not found or found[0].lower() not in {"no", "false", "0"}
        return [known(json.dumps(truth if said is None else said), ask.turn.start)]
    if schema.get("guess") and found and re.fullmatch(r"-?\d+(?:\.\d+)?", found[0]):
        return [known(found[0], found[1])]
    return _string(ask, found)


def _string(ask: Ask, found: Found | None) -> list[Piece]:
    if found is None:
        return [known('""', ask.turn.start)]
    text, at = found
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    same = ask.reading.text.startswith(escaped, at)
    value = copied(escaped, at) if same else known(escaped, at)
    return [known('"', at), value, known('"', at)]


def _numeric(ask: Ask, schema: Schema, found: Found | None) -> list[Piece]:
    reckoned = evaluate(found[0]) if found else None
    if found and reckoned:
        return [known(reckoned, found[1])]
    number = re.search(r"-?\d[\d,]*(?:\.\d+)?", found[0]) if found else None
    if number is None:
        return (
            _string(ask, found) if schema.get("guess") and found else [known("0", ask.turn.start)]
        )
    text = number.group().replace(",", "")
    if schema.get("type") == "integer":
        text = text.split(".")[0]
    return [known(text.lstrip("0") or "0" if "." not in text else text, found[1] if found else 0)]


def _array(ask: Ask, schema: Schema, found: Found | None) -> list[Piece]:
    parts = members(found[0]) if found else []
    inner = schema.get("items")
    numeric = isinstance(inner, dict) and inner.get("type") in {"integer", "number"}
    shown = [part if numeric else json.dumps(part, ensure_ascii=False) for part in parts]
    return [known("[" + ", ".join(shown) + "]", found[1] if found else ask.turn.start)]


def call_tool(whole: Ask, answer: Answers) -> Draft | None:
    """Return a tool call if tools are offered and the turn is about one of them."""
    bounds = whole.reading.block(Special.TOOLS, Special.END_TOOLS)
    if bounds is None:
        return None
    tools = list(_tools(whole.reading.text[bounds[0] : bounds[1]]))
    scored = [(_about(tool, whole.turn_text), -place, tool) for place, tool in enumerate(tools)]
    if not scored:
        return None
    score, _, tool = max(scored, key=lambda one: one[:2])
    forced = bool(tool.get("required_call"))
    if not forced and (score < 2 or (score < NAMED and _answerable(whole, tool, answer))):
        return None
    name = str(tool.get("name", ""))
    parameters = tool.get("parameters")
    properties = _properties(parameters) if isinstance(parameters, dict) else {}
    wanted = _needed(properties, parameters, whole)
    pieces = [known('{"name": ' + json.dumps(name) + ', "arguments": ', whole.turn.start)]
    pieces += _object(whole, wanted, answer(whole))
    return Draft(pieces=(*pieces, known("}", whole.turn.start)), plain=False, call=True)


def _answerable(whole: Ask, tool: Mapping[str, Any], answer: Answers) -> bool:
    """Return whether a question needs no tool: nothing calls for one, and the text answers it."""
    verbs = re.split(r"(?<=[a-z])(?=[A-Z])|_", str(tool.get("name", "")))[:1]
    called = re.search(r"\b(?:tools?|functions?|call)\b", whole.turn_text, re.IGNORECASE)
    return (
        not called and not words(" ".join(verbs)) & words(whole.turn_text) and bool(answer(whole))
    )


def _needed(properties: Mapping[str, Schema], parameters: object, whole: Ask) -> dict[str, Schema]:
    """Return the required parameters and those that the turn gives a value for."""
    required = parameters.get("required", ()) if isinstance(parameters, dict) else ()
    return {
        key: schema
        for key, schema in properties.items()
        if key in required or not required or value_for(whole, key, schema, [])
    }


def _tools(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        loaded = _loads(line)
        if isinstance(loaded, dict):
            yield loaded


def _about(tool: Mapping[str, Any], turn: str) -> int:
    """Return how much a turn speaks of a tool: its name counts most."""
    name = str(tool.get("name", ""))
    said = words(turn)
    if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", turn):
        return NAMED
    described = words(str(tool.get("description", ""))) - {
        "the",
        "a",
        "of",
        "for",
        "to",
        "in",
        "and",
        "get",
    }
    return 2 * len((key_words(name) - {"get"}) & said) + len(described & said)
