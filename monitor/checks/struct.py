"""STRUCT: what was asked for in a form has it: tool calls, JSON answers, code, lists and fences.

- Tool calls: the arguments are JSON, the name was offered, the arguments fit its schema: three
  failures, told apart. Where one call was asked for, the same call again (``called_twice``) and
  other calls beside it (``called_more``) are two more. JSON is strict
  (`monitor.prompts.strict_json`), schemas are Draft 2020-12.
- An answer to a schema is JSON and fits it.
- A golden prompt that asks for code gets code that parses (Python, JSON; other languages are not
  parsed, and not judged), one that asks for a list of so many items gets as many.
- Every code fence is closed, whatever was asked.

All are tolerated: a weak model does each of these too. False alarms measured on what packages
bring along (`tests/bench/checks/struct.py`, fresh seeds): 2 of 3,000 functions as answers, both
with fences of their own in a docstring, at most 0.24 % at 95 %; none of 3,000 tool calls, of 3,000
lists and of 332 documents, at most 0.13 %, 0.13 % and 1.1 %. Not judged: whether code is right,
code that another Python than this one would parse, what a list's items say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.fact import prompt_as_asked
from monitor.checks.schema import fits
from monitor.checks.specimen import Scene, a_golden_prompt, an_exchange
from monitor.history import History
from monitor.model import (
    SAID_CHARACTERS,
    Exchange,
    Expectation,
    Response,
    Signal,
    Tool,
    ToolCall,
    Trial,
)
from monitor.prompts import (
    NOT_JSON,
    AnyOf,
    Block,
    GoldenPrompt,
    ListHas,
    blocks,
    broken_forms,
    has_form,
    parse_json,
)

CODE = "STRUCT"
_FORMS = {"code": "code_does_not_parse", "list": "list_incomplete"}


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated on what a weak model does too: one signal for each kind of failure.

    An answer that ended for length was cut by the allowed tokens: FINISH judges that.
    """
    response, request = exchange.response, exchange.request
    if response is None or response.finish_reason == "length":
        return [skipped(CODE, exchange, "no answer that came to its end")]
    prompt = prompt_as_asked(exchange, history)
    fences = _fences(response, request.json_schema)
    form = prompt is not None and has_form(prompt)
    if not (response.tool_calls or request.tools or request.json_schema or fences or form):
        return [skipped(CODE, exchange, _nothing_to_judge(prompt))]
    faults = _calls(response, exchange)
    if request.json_schema and not response.tool_calls:
        faults |= _answer(response, request.json_schema)
    if prompt is not None:
        broken = broken_forms(prompt, response.text)
        faults |= {_FORMS[kind]: words for kind, words in broken.items()}
    if not all(block.closed for block in fences):
        faults["fence_open"] = f"{len(fences)} fenced blocks, the last not closed"
    if faults:
        return [failed(CODE, exchange, variant, words) for variant, words in faults.items()]
    return [passed(CODE, exchange, "every call, form and fence fits")]


def _fences(response: Response, schema: str | None) -> tuple[Block, ...]:
    """Return the fenced blocks of a text of bearable length that is not to be JSON."""
    if schema is not None or len(response.text) > SAID_CHARACTERS:
        return ()
    return blocks(response.text)


def _nothing_to_judge(prompt: GoldenPrompt | None) -> str:
    if prompt is not None and prompt.structure == "code":
        return "code of a language that is not parsed here"
    return "neither a tool nor a form was asked for"


def _calls(response: Response, exchange: Exchange) -> dict[str, str]:
    expected = exchange.expectation.tool
    faults = {
        variant: words for call in response.tool_calls for variant, words in _call(call, exchange)
    }
    if expected and all(call.name != expected for call in response.tool_calls):
        count = len(response.tool_calls)
        faults["not_called"] = f"the tool asked for is not among {count} calls"
    return faults | (_surplus(response.tool_calls) if expected else {})


def _surplus(calls: Sequence[ToolCall]) -> dict[str, str]:
    """Return what is wrong with the number of calls where one was asked for."""
    faults, different = {}, len({(call.name, _folded(call.arguments)) for call in calls})
    if different < len(calls):
        again = len(calls) - different
        faults["called_twice"] = f"{again} of {len(calls)} calls are the same as another"
    if different > 1:
        faults["called_more"] = f"{different} different calls where one was asked for"
    return faults


def _folded(arguments: str) -> str:
    """Return arguments as they compare: order of names, spaces and escapes say nothing."""
    value = parse_json(arguments)
    return arguments if value is NOT_JSON else json.dumps(value, sort_keys=True)


def _call(call: ToolCall, exchange: Exchange) -> list[tuple[str, str]]:
    offered = {tool.name: tool.parameters for tool in exchange.request.tools}
    faults = []
    if call.name not in offered:
        faults.append(("not_offered", f"a call of none of the {len(offered)} tools offered"))
    arguments = parse_json(call.arguments)
    if arguments is NOT_JSON:
        faults.append(("arguments_not_json", f"{len(call.arguments)} characters are no JSON"))
    elif call.name in offered and not fits(arguments, _schema(offered[call.name])):
        faults.append(("arguments_misfit", "the arguments do not fit the tool's schema"))
    return faults


def _answer(response: Response, schema: str) -> dict[str, str]:
    answer = parse_json(response.text)
    if answer is NOT_JSON:
        return {"answer_not_json": f"{len(response.text)} characters are no JSON"}
    if not fits(answer, _schema(schema)):
        return {"answer_misfit": "the answer does not fit the schema"}
    return {}


def _schema(text: str) -> Mapping[str, Any]:
    """Return a schema of our own, which is an object."""
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def is_json(text: str) -> bool:
    """True if the text reads as JSON to its end, strict or not, and is of a bearable length."""
    if len(text) > SAID_CHARACTERS:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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
        *_specimens_of_numbers(scene, tool, good),
        *_specimens_of_forms(scene, number),
    ]


def _specimens_of_numbers(scene: Scene, tool: Tool, good: str) -> Sequence[Specimen]:
    def called(*arguments: str) -> Exchange:
        calls = tuple(ToolCall(name=tool.name, arguments=each) for each in arguments)
        said = {"tool_calls": calls, "finish_reason": "tool_calls"}
        wants = Expectation(tool=tool.name)
        return an_exchange("", expects=wants, request={"tools": (tool,)}, response=said)

    return [
        scene.specimen(called(good, good), fails="called_twice"),
        scene.specimen(called(good, '{"n": 0}'), fails="called_more"),
        scene.specimen(called(good)),
    ]


def _specimens_of_forms(scene: Scene, number: int) -> Sequence[Specimen]:
    def golden(**fields: Any) -> tuple[Expectation, dict[str, GoldenPrompt]]:
        prompt = a_golden_prompt(**fields)
        return Expectation(golden=prompt.name), {prompt.name: prompt}

    expects, code = golden(
        expectations=(AnyOf(strings=(f"return {number}",)),),
        structure="code",
        code_language="python",
    )
    asked, lists = golden(expectations=(ListHas(items=3),))
    right = f"```python\ndef number():\n    return {number}\n```"
    three = f"1. {number}\n2. two\n3. three"
    return [
        scene.specimen(
            an_exchange(right.replace("():", "(:"), expects=expects),
            fails="code_does_not_parse",
            golden=code,
        ),
        scene.specimen(an_exchange(right[:-3], expects=expects), fails="fence_open", golden=code),
        scene.specimen(
            an_exchange(three[:-9], expects=asked), fails="list_incomplete", golden=lists
        ),
        scene.specimen(an_exchange(right, expects=expects), golden=code),
        scene.specimen(an_exchange(three, expects=asked), golden=lists),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
