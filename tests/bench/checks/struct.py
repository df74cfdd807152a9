"""STRUCT on functions of packages, tool calls, lists and documents, and on mutations of them.

A mutation of code counts as faulty only where Python itself refuses it: some are right by chance.
"""

from __future__ import annotations

import ast
import json
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.checks.struct import CHECK
from monitor.history import History
from monitor.model import Exchange, Expectation, Status, Tool, ToolCall
from monitor.prompts import AnyOf, GoldenPrompt, ListHas
from tests.bench.checks.packaged import documents, sources
from tests.bench.checks.table import Row

ANSWERS = 1_000
CODE = "bafot-gitiz-lusab-dunor"
_SCENE = Scene(Random(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An exchange, the variant it must fail with (none: healthy), and what the naive way says."""

    exchange: Exchange
    faulty: str
    naive_fails: bool
    prompt: GoldenPrompt | None = None

    def fails(self) -> bool:
        """Return whether STRUCT fails it, with that variant if it is faulty."""
        golden = {self.prompt.name: self.prompt} if self.prompt else {}
        history = History(registry=_SCENE.registry, golden=golden)
        signals = CHECK.judge(a_trial(self.exchange), self.exchange, history)
        failed = {signal.variant for signal in signals if signal.status is Status.FAIL}
        return self.faulty in failed if self.faulty else bool(failed)


def rows() -> list[Row]:
    """Return the counts of every set."""
    return [
        _row("functions of packages as answers; damaged", code(Random(1)), "contains a fence"),
        _row("tool calls of random schemas; damaged or misfit", calls(Random(2)), "json.loads"),
        _row("one call asked for; twice, or another beside it", surplus(Random(5)), "none called"),
        _row("lists of 3 to 12 in ten marks; one item lost", lists(Random(3)), "lines counted"),
        _row("documents of packages; one fence lost", fences(Random(4)), "odd number of ```"),
    ]


def _row(input_set: str, cases: Iterable[Case], naive_name: str) -> Row:
    made = list(cases)
    faulty = [case for case in made if case.faulty]
    healthy = [case for case in made if not case.faulty]
    return Row(
        check="STRUCT",
        input_set=input_set,
        positives=len(faulty),
        true_positives=sum(case.fails() for case in faulty),
        negatives=len(healthy),
        false_positives=sum(case.fails() for case in healthy),
        naive_name=naive_name,
        naive_true_positives=sum(case.naive_fails for case in faulty),
        naive_false_positives=sum(case.naive_fails for case in healthy),
    )


# --- Code

_PYTHON = GoldenPrompt(
    suite="bench",
    id="code",
    language="en",
    prompt="?",
    expectations=(AnyOf(strings=("def",)),),
    max_output_tokens=256,
    structure="code",
    code_language="python",
)
_WRAPPED = (
    "```python\n{}\n```",
    "```\n{}\n```",
    "{}",
    CODE + "\n{}",
    "1. " + CODE + "\n2. ```python\n{}\n```",
    "Here is the function:\n\n```python\n{}\n```\n\nIt does what was asked.",
    "Sure! Here you are:\n\n{}",
)


def functions() -> list[str]:
    """Return functions of installed packages, of at most 40 lines and 1,500 characters."""
    found = []
    for source in filter(_is_python, sources()):  # long ones were cut
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        lines = source.split("\n")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
                if len(text) <= 1_500 and text.count("\n") <= 40 and _is_python(text):
                    found.append(text)
    return found


def code(rng: Random) -> Iterator[Case]:
    """Yield functions as answers, and the same ones damaged as broken caches damage text."""
    known = functions()
    for text in rng.sample(known, ANSWERS):
        yield _code(rng.choice(_WRAPPED).format(text), "")
        damaged = rng.choice(_DAMAGES)(text, rng)
        if not _is_python(damaged):
            yield _code(rng.choice(_WRAPPED).format(damaged), "code_does_not_parse")


def _code(answer: str, faulty: str) -> Case:
    expects = Expectation(golden=_PYTHON.name)
    exchange = an_exchange(answer, expects=expects)
    naive_fails = "```" not in answer
    return Case(exchange=exchange, faulty=faulty, naive_fails=naive_fails, prompt=_PYTHON)


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _without_a(signs: str) -> Callable[[str, Random], str]:
    def damage(text: str, rng: Random) -> str:
        places = [place for place, sign in enumerate(text) if sign in signs]
        place = rng.choice(places or [0])
        return text[:place] + text[place + 1 :]

    return damage


def _cut(text: str, rng: Random) -> str:
    return text[: rng.randrange(len(text) // 2, len(text))]


def _spliced(text: str, rng: Random) -> str:
    place, other = rng.randrange(len(text)), rng.randrange(len(text))
    return text[:place] + text[other : other + 30] + text[place:]


def _dedented(text: str, rng: Random) -> str:
    lines = text.split("\n")
    place = rng.randrange(1, len(lines)) if len(lines) > 1 else 0
    return "\n".join([*lines[:place], lines[place].lstrip(), *lines[place + 1 :]])


_DAMAGES = (_without_a("()[]{}"), _without_a(":"), _without_a("'\""), _cut, _spliced, _dedented)


# --- Tool calls

_KINDS: dict[str, Callable[[Random], object]] = {
    "string": lambda rng: rng.choice(("Lyon", "", 'a "quoted" name', "北京")),
    "integer": lambda rng: rng.randrange(1_000),
    "number": lambda rng: rng.random() * 100,
    "boolean": lambda rng: rng.random() < 0.5,
    "array": lambda rng: [rng.randrange(9) for _ in range(3)],
}


def calls(rng: Random) -> Iterator[Case]:
    """Yield arguments that fit a random schema, and damaged ones."""
    for _ in range(ANSWERS):
        kinds = {f"field_{n}": rng.choice(list(_KINDS)) for n in range(rng.randint(1, 5))}
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in kinds.items()},
            "required": list(kinds),
            "additionalProperties": False,
        }
        value = {name: _KINDS[kind](rng) for name, kind in kinds.items()}
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 2)))
        yield _call(schema, text, "")
        yield _call(schema, *_broken(text, value, rng))


def surplus(rng: Random) -> Iterator[Case]:
    """Yield one call, the same one again in other spaces and order, and another one beside it."""
    for _ in range(ANSWERS):
        value = {f"field_{n}": rng.randrange(1_000) for n in range(rng.randint(1, 4))}
        turned = dict(reversed(value.items()))
        once, again = json.dumps(value), json.dumps(turned, indent=rng.choice((None, 2)))
        yield _called([once], "")
        yield _called([once, again], "called_twice")
        yield _called([once, json.dumps(value | {"field_0": -1})], "called_more")


def _called(arguments: list[str], faulty: str) -> Case:
    tool = Tool(name="act", description="Act.", parameters='{"type": "object"}')
    calls = tuple(ToolCall(name="act", arguments=each) for each in arguments)
    said = {"tool_calls": calls, "finish_reason": "tool_calls"}
    expects = Expectation(tool="act")
    exchange = an_exchange("", expects=expects, request={"tools": (tool,)}, response=said)
    return Case(exchange=exchange, faulty=faulty, naive_fails=not calls)


def _broken(text: str, value: dict[str, object], rng: Random) -> tuple[str, str]:
    name = rng.choice(list(value))
    other = {key: each for key, each in value.items() if key != name}
    return rng.choice(
        [
            (text[: rng.randrange(1, len(text))], "arguments_not_json"),
            (text[:-1] + ",}", "arguments_not_json"),
            (text[:-1] + f', "{name}": 1}}', "arguments_not_json"),
            (str(value), "arguments_not_json"),
            (json.dumps(other), "arguments_misfit"),
            (json.dumps(value | {"more": 1}), "arguments_misfit"),
            (json.dumps(value | {name: None}), "arguments_misfit"),
        ]
    )


def _call(schema: dict[str, Any], text: str, faulty: str) -> Case:
    tool = Tool(name="act", description="Act.", parameters=json.dumps(schema))
    said = {"tool_calls": (ToolCall(name="act", arguments=text),), "finish_reason": "tool_calls"}
    exchange = an_exchange("", request={"tools": (tool,)}, response=said)
    return Case(exchange=exchange, faulty=faulty, naive_fails=not _loads(text))


def _loads(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


# --- Lists

_MARKS: tuple[Callable[[int], str], ...] = (
    lambda n: f"{n}. ",
    lambda n: f"{n}) ",
    lambda n: f"({n}) ",
    lambda n: f"{n}、",
    lambda n: f"**{n}.** ",
    lambda n: chr(0x245F + n),
    lambda _: "- ",
    lambda _: "* ",
    lambda _: "\u2022 ",
    lambda _: "",
)
_ITEMS = ("red", "green apples", "三月", "the house", "4.5 km", "x = 3", "Monday", "H2O", "“so”")


def lists(rng: Random) -> Iterator[Case]:
    """Yield lists between words and beside the code, and the same with an item less."""
    for _ in range(ANSWERS):
        count, mark = rng.randint(3, 12), rng.choice(_MARKS)
        lines = [mark(n) + rng.choice(_ITEMS) for n in range(1, count + 1)]
        head = rng.choice(("", f"{CODE}\n", f"1. {CODE}\n2. The list:\n", "Here is the list:\n\n"))
        lost = rng.randrange(count)
        fewer = [line for place, line in enumerate(lines) if place != lost]
        yield _list(head, lines, count, "")
        yield _list(head, fewer, count, "list_incomplete")


def _list(head: str, lines: list[str], count: int, faulty: str) -> Case:
    answer = head + "\n".join(lines)
    prompt = GoldenPrompt(
        suite="bench",
        id="list",
        language="en",
        prompt="?",
        expectations=(ListHas(items=count),),
        max_output_tokens=128,
    )
    exchange = an_exchange(answer, expects=Expectation(golden=prompt.name))
    naive_fails = len(answer.strip().splitlines()) != count
    return Case(exchange=exchange, faulty=faulty, naive_fails=naive_fails, prompt=prompt)


# --- Fences


def fences(rng: Random) -> Iterator[Case]:
    """Yield documents, and those with fences with one of them taken out."""
    for text in documents():
        yield _fenced(text, "")
        lines = text.splitlines()
        places = [place for place, line in enumerate(lines) if line.strip().startswith("```")]
        if places and len(places) % 2 == 0:
            lost = rng.choice(places)
            yield _fenced("\n".join(lines[:lost] + lines[lost + 1 :]), "fence_open")


def _fenced(text: str, faulty: str) -> Case:
    return Case(exchange=an_exchange(text), faulty=faulty, naive_fails=bool(text.count("```") % 2))
