"""Which expectations an answer leaves unmet: a pure function."""

import json
from dataclasses import dataclass
from decimal import Decimal

from monitor.prompts.answers import MAX_ANSWER, bodies, without_code
from monitor.prompts.numbers import holds_number
from monitor.prompts.pattern import fits
from monitor.prompts.record import (
    AnyOf,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    NoneOf,
    NumberIs,
    PatternFits,
)
from monitor.prompts.structured import holds_values, json_objects
from monitor.prompts.text import contains, normalise


def missing_facts(prompt: GoldenPrompt, answer: str) -> tuple[str, ...]:
    """Describe each expectation that the answer does not meet; empty if it is right.

    The answer comes as the model gave it, with the reference code the probe asked for.
    Only its first 20,000 characters are judged. A description is made of positions and
    counts, never of the model's text or the right answer.
    """
    read = _Answer.of(answer)
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

    @classmethod
    def of(cls, answer: str) -> "_Answer":
        return cls(
            raw=answer[:MAX_ANSWER], text=normalise(without_code(answer)), bodies=bodies(answer)
        )


def _problem(fact: Expectation, answer: _Answer) -> str:
    """Say why the expectation is not met, or nothing."""
    match fact:
        case AnyOf(strings=strings):
            met = any(contains(answer.text, normalise(one)) for one in strings)
            return "" if met else f"(any of {_counted(strings)}) not found"
        case NoneOf(strings=strings):
            found = sum(contains(answer.text, normalise(one)) for one in strings)
            return f"(none of {_counted(strings)}) broken by {found}" if found else ""
        case NumberIs():
            unit = " with its unit" if fact.units else ""
            return "" if holds_number(answer.text, fact) else f"(a number{unit}) not found"
        case PatternFits(regex=regex):
            met = any(fits(body, regex) for body in answer.bodies)
            return "" if met else "(a pattern) does not fit"
        case JsonHolds(values=values):
            return _json_problem(answer.raw, json.loads(values, parse_float=Decimal))


def _json_problem(answer: str, wanted: dict[str, object]) -> str:
    objects = list(json_objects(answer))
    if any(holds_values(found, wanted) for found in objects):
        return ""
    noun = "value" if len(wanted) == 1 else "values"
    why = "differ" if objects else "not found: no JSON object"
    return f"(JSON with {len(wanted)} {noun}) {why}"


def _counted(strings: tuple[str, ...]) -> str:
    return f"{len(strings)} string" if len(strings) == 1 else f"{len(strings)} strings"
