"""Reported answers as they come in: one text, or JSON lines, read in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from monitor.errors import UsageError
from monitor.prompts.strict_json import once_each
from monitor.scanning import MOST_CHARACTERS, Reported

MOST_BYTES = 4 * MOST_CHARACTERS
_KEYS = ("answer", "prompt", "tenant", "name")
_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that holds no answer, and why; nothing is known of it."""

    number: int
    why: str


Line = Reported | BadLine


def read_text(stream: BinaryIO, prompt: Path | None, tenant: str) -> Reported:
    """Return one answer. Raises ``UsageError`` if it is too long or not there."""
    answer = _decoded(stream, "the answer")
    if not answer.strip():
        raise UsageError("the answer is empty")
    return Reported(answer=answer, prompt=_prompt(prompt), tenant=tenant)


def _prompt(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        with file.open("rb") as stream:
            return _decoded(stream, str(file))
    except OSError as error:
        msg = f"{file} cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise UsageError(msg) from None


def _decoded(stream: BinaryIO, what: str) -> str:
    raw = stream.read(MOST_BYTES + 1)
    text = raw.decode("utf-8", "replace")
    if len(raw) > MOST_BYTES or len(text) > MOST_CHARACTERS:
        msg = f"{what} is longer than {MOST_CHARACTERS} characters: cut it, or send JSON lines"
        raise UsageError(msg)
    return text


def read_lines(stream: BinaryIO, tenants: Container[str]) -> Iterator[Line]:
    """Yield the answers of JSON lines; a line that is none is said, and the next is read.

    A tenant that is none of ``tenants`` is no answer either: each marker would be another's.
    """
    number = 0
    while raw := stream.readline(MOST_BYTES + 1):
        number += 1
        if len(raw) > MOST_BYTES:
            _skip_line(stream, raw)
            yield BadLine(number=number, why=f"longer than {MOST_BYTES} bytes")
        elif raw.strip():
            yield _line(number, raw, tenants)


def _skip_line(stream: BinaryIO, raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = stream.readline(MOST_BYTES)


def _line(number: int, raw: bytes, tenants: Container[str]) -> Line:
    try:
        said = json.loads(raw, object_pairs_hook=once_each)
    except (ValueError, RecursionError):
        return BadLine(number=number, why="is no JSON (one object a line, each key once)")
    if why := _wrong_with(said):
        return BadLine(number=number, why=why)
    if said.get("tenant") and said["tenant"] not in tenants:
        return BadLine(number=number, why="its tenant is none of the target's")
    # Half a character, as JSON can hold it, can be sent to nobody.
    values = {key: _whole(value) for key, value in said.items() if value is not None}
    name = values.get("name", f"line {number}")[:_NAME_CHARACTERS]
    return Reported(**(values | {"name": name}))


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _wrong_with(said: Any) -> str:
    """Return what is wrong with a line's value, in our own words, nothing if it is an answer."""
    if not isinstance(said, dict):
        return 'is no object (write {"answer": "…"})'
    if unknown := len(said.keys() - set(_KEYS)):
        return f"{unknown} unknown keys (use: {', '.join(_KEYS)})"
    if not all(value is None or isinstance(value, str) for value in said.values()):
        return "every value must be text"
    if not (said.get("answer") or "").strip():
        return "has no answer"
    if any(len(value or "") > MOST_CHARACTERS for value in said.values()):
        return f"longer than {MOST_CHARACTERS} characters"
    return ""
