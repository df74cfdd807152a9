"""Whether a JSON value fits a JSON Schema (Draft 2020-12), by the library ``jsonschema``.

The schema is ours, the value is anybody's. Nothing is fetched: a reference to another document is
an error. ``format`` asserts nothing, as the draft has it by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# A value beyond these fits nothing: tools and forms of probes are flat, answers are short.
MAX_DEPTH = 64
MAX_VALUES = 10_000


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """True if ``value`` fits the schema and is neither too deep nor too large to be looked at.

    Raises what the library raises for a schema that is none (our own mistake).
    """
    from jsonschema import Draft202012Validator
    from referencing import Registry

    if not _is_bounded(value):
        return False
    try:
        return bool(Draft202012Validator(schema, registry=Registry()).is_valid(value))
    except RecursionError:  # a schema that refers to itself
        return False


def _is_bounded(value: object) -> bool:
    level: list[object] = [value]
    seen = 0
    for _ in range(MAX_DEPTH):
        seen += len(level)
        if not level or seen > MAX_VALUES:
            break
        level = [member for each in level for member in _members(each)]
    return not level and seen <= MAX_VALUES


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
