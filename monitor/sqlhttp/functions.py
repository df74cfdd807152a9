"""Which functions a reader may call: a list, so that what is not on it is refused.

Functions that read files, connect to other servers, look into the process, wait, or write to its
log are as easy to call as ``lower``, and ``readonly`` stops only some of them.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

# What makes another aggregate function of one; the shortest do not hide a longer one.
_COMBINATORS = (
    *("if", "array", "map", "state", "merge", "foreach", "distinct", "resample", "ordefault"),
    *("ornull", "argmin", "argmax", "simplestate", "null", "tuple"),
)
# In place of a table. Everything else that can stand there reads from outside, or from memory.
TABLE_FUNCTIONS = frozenset(
    {
        *("numbers", "numbers_mt", "generateSeries", "generate_series", "view"),
        *("values", "SQLStandardValues"),
    }
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@cache
def functions() -> frozenset[str]:
    """Return the ordinary functions that may be called, in lower case."""
    return _listed("functions.txt")


@cache
def aggregates() -> frozenset[str]:
    """Return the aggregate and window functions that may be called, in lower case."""
    return _listed("aggregates.txt")


def may_call(name: str) -> bool:
    """Tell whether a reader may call this function, combinators and all."""
    return name.lower() in functions() or may_aggregate(name)


def may_aggregate(name: str) -> bool:
    """Tell whether it is an aggregate function that may be called, or one made of it."""
    small = name.lower()
    return small in aggregates() or any(
        small.endswith(each) and may_aggregate(small.removesuffix(each)) for each in _COMBINATORS
    )


def named_aggregate(text: str) -> bool:
    """Tell whether ``quantile(0.9)`` and its like names an aggregate that may be called."""
    found = _WORD.match(text.strip())
    return found is not None and may_aggregate(found[0])


def _listed(file: str) -> frozenset[str]:
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(name.lower() for name in " ".join(lines).split())
