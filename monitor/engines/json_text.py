"""JSON from a hostile server: what it can cost is bounded, what is odd in it is noted."""

from __future__ import annotations

import json
import math

from monitor.engines.faults import Fault, FaultList

MAX_VALUES = 500_000
_INT_DIGITS = 20


class NotJsonError(Exception):
    """The text is no JSON we are willing to read; ``reason`` is our own word for why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_json(data: bytes | str, faults: FaultList, *, max_values: int = MAX_VALUES) -> object:
    """Return the value of ``data``, or raise ``NotJsonError``.

    Invalid UTF-8 is replaced; of a key given twice the last counts; a number that is none, or
    has over 20 digits, becomes a float no counter accepts. Each is noted in ``faults``.
    """
    text = data if isinstance(data, str) else decode_utf8(data, faults)
    if not text.strip():
        raise NotJsonError("empty")
    if sum(text.count(mark) for mark in ",[{") > max_values:
        raise NotJsonError("too many values")
    try:
        return _decoder(faults).decode(text)
    except RecursionError:
        raise NotJsonError("nested too deeply") from None
    except ValueError:
        raise NotJsonError("not JSON") from None


def decode_utf8(data: bytes, faults: FaultList) -> str:
    """Return ``data`` as text without a byte order mark; bytes that are no UTF-8 are replaced."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        faults.add(Fault.INVALID_UTF8)
        return data.decode("utf-8-sig", errors="replace")


def _decoder(faults: FaultList) -> json.JSONDecoder:
    def constant(_: str) -> float:
        faults.add(Fault.INVALID_NUMBER)
        return math.nan

    def integer(digits: str) -> int | float:
        if len(digits) <= _INT_DIGITS:
            return int(digits)
        faults.add(Fault.INVALID_NUMBER)
        return math.nan

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        unique = dict(items)
        if len(unique) != len(items):
            faults.add(Fault.DUPLICATE_KEYS)
        return unique

    return json.JSONDecoder(
        parse_constant=constant, parse_int=integer, object_pairs_hook=pairs, strict=False
    )
