"""Looking for JSON in an answer: fenced, bare, or behind a reference code."""

import json
from collections.abc import Iterator
from decimal import Decimal

from monitor.prompts.strict_json import once_each, refuse
from monitor.prompts.text import normalise

_MAX_TRIES = 64


def json_objects(answer: str) -> Iterator[dict[str, object]]:
    """Yield each outermost JSON object that the answer holds, its names all different."""
    decoder = json.JSONDecoder(
        parse_float=Decimal, parse_constant=refuse, object_pairs_hook=once_each
    )
    start = answer.find("{")
    for _ in range(_MAX_TRIES):
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(answer, start)
        except (ValueError, ArithmeticError, RecursionError):
            start = answer.find("{", start + 1)
            continue
        yield found
        start = answer.find("{", end)


def holds_values(found: object, wanted: object) -> bool:
    """Whether the found value is the wanted one; objects may hold more keys.

    Numbers compare by value, strings as facts do (case and width aside), and a number in
    quotes is not a number.
    """
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and holds_values(found[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(map(holds_values, found, wanted))
        )
    if isinstance(wanted, str):
        return isinstance(found, str) and normalise(found) == normalise(wanted)
    if isinstance(wanted, bool) or wanted is None:
        return found is wanted
    return not isinstance(found, bool) and found == wanted
