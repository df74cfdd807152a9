"""Which expectations an answer leaves unmet: a pure function."""

import json
from dataclasses import dataclass
from decimal import Decimal

from monitor.prompts.answers import MAX_ANSWER, bodies, without_code
from monitor.prompts.dates import holds_date
from monitor.prompts.numbers import holds_number
from monitor.prompts.pattern import fits
from monitor.prompts.record import (
    AllOf,
    AnyOf,
    DateIs,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    ListHas,
    NoneOf,
    NumberIs,
    PatternFits,
)
from monitor.prompts.snippets import snippets
from monitor.prompts.structured import holds_values, json_objects
from monitor.prompts.text import affirms, normalise, plain_signs


def missing_facts(prompt: GoldenPrompt, answer: str) -> tuple[str, ...]:
    """Describe each fact expected that the answer does not hold; empty if it is right.

    The answer comes as the model gave it, with the reference code the probe asked for.
    Only its first 20,000 characters are judged; where code was asked for, only the code, if there
    is any. How long a list is, is no fact (`broken_forms`). A description is made of positions
    and counts, never of the model's text or the right answer.
    """
    read = _Answer.of(prompt, answer)
    facts = prompt.expectations
    return tuple(
        f"fact {place} of {len(facts)} {problem}"
        for place, fact in enumerate(facts, start=1)
        if (problem := _problem(fact, read))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    raw: str
    text: str
    bodies: frozenset[str]
    language: str

    @classmethod
    def of(cls, prompt: GoldenPrompt, answer: str) -> "_Answer":
        code = snippets(answer, prompt.code_language) if prompt.structure == "code" else ()
        return cls(
            raw=answer[:MAX_ANSWER],
            text=normalise("\n".join(code) or without_code(answer)),
            bodies=bodies(answer),
            language=prompt.language,
        )


def _problem(fact: Expectation, answer: _Answer) -> str:
    """Say why the expectation is not met, or nothing."""
    lost, problem = True, ""
    match fact:
        case AnyOf(strings=strings):
            lost = not any(affirms(answer.text, normalise(one)) for one in strings)
            problem = f"(any of {_counted(strings)}) not found"
        case AllOf(fragments=fragments):
            absent = sum(not affirms(answer.text, normalise(one)) for one in fragments)
            lost, problem = absent > 0, f"(all of {_counted(fragments)}) lacks {absent}"
        case NoneOf(strings=strings):
            found = sum(affirms(answer.text, normalise(one)) for one in strings)
            lost, problem = found > 0, f"(none of {_counted(strings)}) broken by {found}"
        case NumberIs():
            lost = not holds_number(answer.text, fact, answer.language)
            problem = f"(a number{' with its unit' if fact.units else ''}) not found"
        case DateIs(day=day):
            lost = not holds_date(answer.text, day, answer.language)
            problem = "(a date) not found"
        case PatternFits(regex=regex):
            read = answer.bodies | {plain_signs(body) for body in answer.bodies}
            lost = not any(fits(body, regex) for body in read)
            problem = "(a pattern) does not fit"
        case JsonHolds(values=values):
            problem = _json_problem(answer.raw, json.loads(values, parse_float=Decimal))
        case ListHas():
            lost = False
    return problem if lost else ""


def _json_problem(answer: str, wanted: dict[str, object]) -> str:
    objects = list(json_objects(answer))
    if any(holds_values(found, wanted) for found in objects):
        return ""
    noun = "value" if len(wanted) == 1 else "values"
    why = "differ" if objects else "not found: no JSON object"
    return f"(JSON with {len(wanted)} {noun}) {why}"


def _counted(strings: tuple[str, ...]) -> str:
    return f"{len(strings)} string" if len(strings) == 1 else f"{len(strings)} strings"
