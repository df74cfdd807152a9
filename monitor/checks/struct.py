"""STRUCT: tool calls and JSON answers parse, name what was offered, and fit their schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import SAID_CHARACTERS, Exchange, Response, Signal, Tool, ToolCall, Trial

CODE = "STRUCT"
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class _NotJson:
    """What text that is no JSON becomes; JSON itself can be ``None``."""


_NOT_JSON = _NotJson()


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated on what a weak model does too: one signal for each kind of failure.

    An answer that ended for length was cut by the allowed tokens: FINISH judges that.
    """
    response, request = exchange.response, exchange.request
    expected = exchange.expectation.tool
    if response is None or response.finish_reason == "length":
        return [skipped(CODE, exchange, "no answer that came to its end")]
    if not (response.tool_calls or request.tools or request.json_schema):
        return [skipped(CODE, exchange, "neither a tool nor a form was offered")]
    faults = {
        variant: words for call in response.tool_calls for variant, words in _call(call, exchange)
    }
    if expected and all(call.name != expected for call in response.tool_calls):
        count = len(response.tool_calls)
        faults["not_called"] = f"the tool asked for is not among {count} calls"
    if request.json_schema and not response.tool_calls:
        faults |= _answer(response, request.json_schema)
    if faults:
        return [failed(CODE, exchange, variant, words) for variant, words in faults.items()]
    return [passed(CODE, exchange, "every call and form fits")]


def _call(call: ToolCall, exchange: Exchange) -> list[tuple[str, str]]:
    offered = {tool.name: tool.parameters for tool in exchange.request.tools}
    faults = []
    if call.name not in offered:
        faults.append(("not_offered", f"a call of none of the {len(offered)} tools offered"))
    arguments = parse(call.arguments)
    if arguments is _NOT_JSON:
        faults.append(("arguments_not_json", f"{len(call.arguments)} characters are no JSON"))
    elif call.name in offered and not fits(arguments, _schema(offered[call.name])):
        faults.append(("arguments_misfit", "the arguments do not fit the tool's schema"))
    return faults


def _answer(response: Response, schema: str) -> dict[str, str]:
    answer = parse(response.text)
    if answer is _NOT_JSON:
        return {"answer_not_json": f"{len(response.text)} characters are no JSON"}
    if not fits(answer, _schema(schema)):
        return {"answer_misfit": "the answer does not fit the schema"}
    return {}


def _schema(text: str) -> Mapping[str, Any]:
    """Return a schema of our own, which is an object."""
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def parse(text: str) -> object:
    """Return what JSON text means, or a mark of its own if it is none, or far too long."""
    if len(text) > SAID_CHARACTERS:
        return _NOT_JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def is_json(text: str) -> bool:
    """True if the text is JSON of a bearable length."""
    return parse(text) is not _NOT_JSON


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """True if ``value`` fits the schema; only the keywords that probes write are looked at.

    These are ``type``, ``enum``, ``properties``, ``required``, ``additionalProperties`` (false)
    and ``items``. The depth is that of the schema, which is ours.
    """
    kind = schema.get("type")
    if kind is not None and not _is(value, kind):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        return _object_fits(value, schema)
    if isinstance(value, list) and "items" in schema:
        return all(fits(member, schema["items"]) for member in value)
    return True


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _object_fits(value: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    properties: Mapping[str, Any] = schema.get("properties", {})
    if any(name not in value for name in schema.get("required", ())):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= properties.keys():
        return False
    return all(fits(value[name], inner) for name, inner in properties.items() if name in value)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    number = rng.randint(1, 999)
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    tool = Tool(name="count", description="Count.", parameters=schema)

    def called(name: str, arguments: str) -> Exchange:
        calls = (ToolCall(name=name, arguments=arguments),)
        said = {"tool_calls": calls, "finish_reason": "tool_calls"}
        return an_exchange("", request={"tools": (tool,)}, response=said)

    good = f'{{"n": {number}}}'
    return [
        scene.specimen(called("count", good[:-1]), fails="arguments_not_json"),
        scene.specimen(called("county", good), fails="not_offered"),
        scene.specimen(called("count", f'{{"m": {number}}}'), fails="arguments_misfit"),
        scene.specimen(called("count", good)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
