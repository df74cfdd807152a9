"""Prometheus text, read from a server that may say anything.

Only the lines of metrics that somebody asked for are read, each by itself: a damaged line spoils
its own metric and no other, and the time that a page takes grows with its length alone. The
library's parser gives up a whole page at its first bad line, and its time grows with the square of
a label's length.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

MAX_LINE_CHARS = 32_768
MAX_LABELS = 64
MAX_LABEL_CHARS = 256
MAX_SERIES = 4_096
MAX_LINES = 200_000

_NAME = re.compile(
    r'[ \t]*+(?:([a-zA-Z_:][\w:]*+)[ \t]*+(\{)?|\{[ \t]*+"([^"\\]*+)"[ \t]*+,?)', re.ASCII
)
_LABEL = re.compile(
    r'[ \t]*+(?:([a-zA-Z_]\w*+)|"((?:[^"\\]|\\.)*+)")[ \t]*+=[ \t]*+"((?:[^"\\]|\\.)*+)"'
    r"[ \t]*+(?:,|(?=\}))",
    re.ASCII,
)
_CLOSED = re.compile(r"[ \t]*+\}")
_VALUE = re.compile(r"[ \t]*+([^\s{}#_]++)(?:[ \t]++[-+.\deE]++)?[ \t]*+(?:#.*)?\r?$", re.ASCII)
_ESCAPE = re.compile(r"\\(.)")
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9_]")
_BARE = 2
_UNESCAPED = {"n": "\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line: its labels and its value, which may be no number."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """The metrics that were asked for.

    ``spoilt`` are those with a line that could not be read, that say two things of one series, or
    that have too many: nothing may be concluded from them. ``prefixed`` says that the prefix of the
    engine was seen.
    """

    series: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)
    spoilt: frozenset[str] = frozenset()
    prefixed: bool = False


def parse_exposition(body: bytes, *, wanted: Collection[str], prefix: str = "") -> Exposition:
    """Return the metrics ``wanted`` of ``body``, by their names without ``prefix``.

    The prefix may be followed by a colon or, from a relay, by an underscore, may have another
    name before it, or may be gone. Where one metric comes in several of these ways, only the first
    of them counts. Of a page of more than ``MAX_LINES`` lines every metric is spoilt.
    """
    if body.count(b"\n") > MAX_LINES:
        return Exposition(spoilt=frozenset(wanted))
    found: dict[str, _Metric] = {}
    names = _Names(wanted, prefix)
    for line in body.decode("utf-8", errors="replace").split("\n"):
        head = _NAME.match(line)
        known = names.find(head[1] or head[3]) if head else None
        if head is None or known is None:
            continue
        name, rank = known
        metric = found.setdefault(name, _Metric(rank))
        if rank < metric.rank:
            metric = found[name] = _Metric(rank)
        if rank == metric.rank and not metric.spoilt:
            metric.add(_series(line, head))
    return Exposition(
        series={name: tuple(metric.series()) for name, metric in found.items()},
        spoilt=frozenset(name for name, metric in found.items() if metric.spoilt),
        prefixed=any(metric.rank < _BARE for metric in found.values()),
    )


class _Names:
    """Knows a wanted metric whatever a relay made of its name."""

    def __init__(self, wanted: Collection[str], prefix: str) -> None:
        self._wanted = frozenset(wanted)
        self._prefix = f"{prefix}_" if prefix else ""
        self._known: dict[str, tuple[str, int] | None] = {}

    def find(self, raw: str) -> tuple[str, int] | None:
        """Return the name without prefix, and how far from the engine's own it was."""
        if raw not in self._known:
            self._known[raw] = self._look(raw)
        return self._known[raw]

    def _look(self, raw: str) -> tuple[str, int] | None:
        plain = _NOT_PLAIN.sub("_", raw)
        before, prefix, rest = plain.partition(self._prefix) if self._prefix else ("", "", plain)
        if prefix and rest in self._wanted and (not before or before.endswith("_")):
            return rest, 1 if before else 0
        return (plain, _BARE) if plain in self._wanted else None


class _Metric:
    """The series of one metric as they come."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.spoilt = False
        self._values: dict[tuple[tuple[str, str], ...], float] = {}

    def add(self, series: Series | None) -> None:
        """Take one line, ``None`` for one that cannot be read."""
        if series is None or len(self._values) >= MAX_SERIES:
            self.spoilt = True
            return
        key = tuple(sorted(series.labels.items()))
        value = self._values.setdefault(key, series.value)
        if value != series.value and not (math.isnan(value) and math.isnan(series.value)):
            self.spoilt = True

    def series(self) -> Iterator[Series]:
        """Yield what was taken, each series once."""
        for labels, value in self._values.items():
            yield Series(labels=dict(labels), value=value)


def _series(line: str, head: re.Match[str]) -> Series | None:
    if len(line) > MAX_LINE_CHARS:
        return None
    labels: dict[str, str] = {}
    at = head.end()
    if head[1] is None or head[2]:
        while label := _LABEL.match(line, at):
            at = label.end()
            name = label[1] or label[2]
            if name in labels or len(labels) >= MAX_LABELS:
                return None
            labels[name] = _ESCAPE.sub(lambda found: _UNESCAPED.get(found[1], found[1]), label[3])
        closed = _CLOSED.match(line, at)
        if closed is None:
            return None
        at = closed.end()
    elif not line[at - 1].isspace():
        return None
    value = _number(_VALUE.match(line, at))
    if value is None:
        return None
    short = {name: text for name, text in labels.items() if len(text) <= MAX_LABEL_CHARS}
    return Series(labels=short, value=value)


def _number(found: re.Match[str] | None) -> float | None:
    if found is None or not found[1].isascii():
        return None
    try:
        return float(found[1])
    except ValueError:
        return None
