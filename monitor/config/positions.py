"""Read YAML into plain values and remember the line of every path.

Stricter than YAML: one document, text keys, no duplicate keys, no anchors, aliases, tags or merge
keys, and only ``null``, ``true``, ``false``, numbers and text as scalars (``no`` is text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from monitor.config.secrets import quoted
from monitor.errors import ConfigError

Loc = tuple[str | int, ...]

MAX_DEPTH = 24
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LAST_STEP = re.compile(r"(?:\.?[A-Za-z_][A-Za-z0-9_-]*|\[[^\]]*\])\Z")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,29})")
_FLOAT = re.compile(r"[-+]?[0-9][0-9_]{0,29}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def path_of(loc: Loc, base: str = "") -> str:
    """Return ``targets[0].name`` for ``("targets", 0, "name")``, below ``base`` if given."""
    path = base
    for step in loc:
        if isinstance(step, int):
            path += f"[{step}]"
        elif not _PLAIN_KEY.fullmatch(step) or quoted(step) != f"'{step}'":
            path += f"[{quoted(step)}]"
        else:
            path += f".{step}" if path else step
    return path


@dataclass(frozen=True, slots=True)
class Positions:
    """The line of every path of one file. Made for error messages only."""

    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, path: str) -> int | None:
        """Return the line of ``path``, or of the nearest thing that holds it."""
        while path and path not in self.lines:
            shorter = _LAST_STEP.sub("", path)
            path = "" if shorter == path else shorter
        return self.lines.get(path)


@dataclass(frozen=True, slots=True)
class Document:
    """What one YAML file says: plain values, where they stand, and what was wrong with it."""

    data: object
    positions: Positions
    problems: tuple[ConfigError, ...]


def read_yaml(text: str, file: Path) -> Document:
    """Return the file's values; a syntax error raises, anything less is in ``problems``."""
    try:
        reader = _Reader(yaml.parse(text, Loader=yaml.SafeLoader), file)
        data = reader.document()
    except yaml.YAMLError as error:
        raise _syntax(error, file) from None
    return Document(data, Positions(reader.lines), tuple(reader.problems))


def _syntax(error: yaml.YAMLError, file: Path) -> ConfigError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "a character that YAML does not allow"
    if "\\t" in problem:
        return _at_mark("a tab where YAML wants spaces", mark, file, "indent with spaces")
    if "mapping values are not allowed" in problem:
        return _at_mark(
            "a colon that YAML cannot place", mark, file, "mend the indentation, or quote it"
        )
    if "'@'" in problem or "'`'" in problem or "'%'" in problem:
        return _at_mark("a value may not begin with this character", mark, file, "quote the value")
    return _at_mark(
        "not valid YAML here or just above", mark, file, "check indentation, quotes and brackets"
    )


def _at_mark(problem: str, mark: yaml.Mark | None, file: Path, remedy: str) -> ConfigError:
    line = None if mark is None else mark.line + 1
    return ConfigError(problem, file=file, line=line, remedy=remedy)


class _Reader:
    """Walks the parser's events once; ``lines`` and ``problems`` fill as it goes."""

    def __init__(self, events: Iterator[yaml.Event], file: Path) -> None:
        self._events = events
        self._file = file
        self.lines: dict[str, int] = {}
        self.problems: list[ConfigError] = []

    def document(self) -> object:
        """Return the values of the only document."""
        data: object = None
        seen = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                seen += 1
                if seen > 1:
                    problem, remedy = "a second document", "one file holds one: drop '---'"
                    raise ConfigError(problem, file=self._file, line=_line(event), remedy=remedy)
            elif isinstance(event, yaml.NodeEvent):
                data = self._node(event, "", 0)
        return data

    def _problem(self, problem: str, event: yaml.Event, path: str, remedy: str) -> None:
        line = _line(event)
        self.problems.append(
            ConfigError(problem, file=self._file, line=line, path=path or None, remedy=remedy)
        )

    def _node(self, event: yaml.Event, path: str, depth: int) -> object:
        self.lines.setdefault(path, _line(event))
        if depth > MAX_DEPTH:
            line = _line(event)
            raise ConfigError("nested too deeply", file=self._file, line=line, remedy="flatten it")
        if isinstance(event, yaml.AliasEvent):
            self._problem("aliases (*name) are not read", event, path, "write the value out")
            return None
        if getattr(event, "anchor", None):
            self._problem("anchors (&name) are not read", event, path, "write the value out")
        if getattr(event, "tag", None):
            self._problem(
                "tags (!name) are not read", event, path, "remove the tag; quote text instead"
            )
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the only node event left
        return _scalar(event)

    def _sequence(self, path: str, depth: int) -> list[object]:
        items: list[object] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, f"{path}[{len(items)}]", depth + 1))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, object]:
        items: dict[str, object] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, path, depth)
            below = path_of((key,), path)
            if key in items:
                before = f"it already stands on line {self.lines[below]}; keep one of them"
                self._problem("the same key twice", event, below, before)
            self.lines.setdefault(below, _line(event))
            items[key] = self._node(next(self._events), below, depth + 1)
        return items

    def _key(self, event: yaml.Event, path: str, depth: int) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self._problem(
                "a key must be plain text", event, path, "use one word followed by a colon"
            )
            self._node(event, f"{path}[key]", depth + 1)
            return f"line {_line(event)}"
        key = str(event.value)
        below = path_of((key,), path)
        if event.style is None and key == "<<":
            self._problem("merge keys (<<) are not read", event, below, "write the values out")
        elif not isinstance(_scalar(event), str):
            self._problem(f"the key {quoted(key)} is not text", event, below, "put it in quotes")
        return key


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else int(event.start_mark.line) + 1


def _scalar(event: yaml.ScalarEvent) -> object:
    text = str(event.value)
    if event.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text) and not (text.lstrip("+-").isdigit() and text.lstrip("+-")[0] == "0"):
        bare = text.replace("_", "")
        return int(bare) if bare.lstrip("+-").isdigit() else float(bare)
    return text
