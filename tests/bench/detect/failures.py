"""Simulated streams, as the places of their failures alone: what is right is never drawn.

A rare failure makes a stream of a million scores a list of a thousand numbers. All streams of a
simulation lie on one line, so that one call of numpy draws them and one counts windows in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Between two streams on the line: more than any window that is counted.
GAP = 50_000


@dataclass(frozen=True)
class Failures:
    """Which of ``length`` scores (from 1) of so many streams failed, in order, stream by stream."""

    stream: Ints
    place: Ints
    streams: int
    length: int

    @property
    def scores(self) -> int:
        """All scores of all streams."""
        return self.streams * self.length

    @property
    def line(self) -> Ints:
        """The places on one line, with gaps in between that no window bridges."""
        return self.stream * (self.length + GAP) + self.place

    def in_last(self, window: int) -> Ints:
        """Return, at each failure, how many of the last so many scores failed, itself included."""
        line = self.line
        return np.arange(1, len(line) + 1) - np.searchsorted(line, line - window, side="right")

    def so_far(self) -> Ints:
        """Return, at each failure, how many of its stream failed up to it."""
        return np.arange(1, len(self.stream) + 1) - np.searchsorted(self.stream, self.stream)


def drawn(
    rate: float | Callable[[Ints], Floats],
    streams: int,
    length: int,
    rng: np.random.Generator,
    *,
    most: float | None = None,
) -> Failures:
    """Draw streams that fail at a rate, or at one that depends on the place (at ``most`` so)."""
    top = most if callable(rate) and most is not None else float(rate)  # type: ignore[arg-type]
    total = streams * length
    line = np.empty(0, dtype=np.int64)
    at = -1
    parts = []
    while at < total:
        many = int((total - at) * top * 1.05) + 50
        gaps = rng.geometric(top, many)
        part = at + np.cumsum(gaps)
        parts.append(part)
        at = int(part[-1])
    line = np.concatenate(parts)
    line = line[line < total]
    if callable(rate):
        line = line[rng.random(len(line)) < rate(line % length + 1) / top]
    return Failures(line // length, line % length + 1, streams, length)


def then(first: Failures, second: Failures) -> Failures:
    """Return streams that go on, each with one of the second."""
    stream = np.concatenate([first.stream, second.stream])
    place = np.concatenate([first.place, second.place + first.length])
    order = np.lexsort((place, stream))
    return Failures(stream[order], place[order], first.streams, first.length + second.length)


def in_bursts(
    rate: float, burst: float, streams: int, length: int, rng: np.random.Generator
) -> Failures:
    """Draw streams that fail at a rate in the long run, in runs of so many on average."""
    starts = drawn(rate / burst, streams, length, rng)
    lengths = rng.geometric(1 / burst, len(starts.place))
    stream = np.repeat(starts.stream, lengths)
    within = np.arange(len(stream)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.repeat(starts.place, lengths) + within
    kept = place <= length
    line = np.unique(stream[kept] * (length + 1) + place[kept])
    return Failures(line // (length + 1), line % (length + 1), streams, length)
