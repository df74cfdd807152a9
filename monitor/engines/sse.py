"""Server-sent events, parsed as they arrive; the same events whatever the chunks' boundaries."""

from __future__ import annotations

import re
from dataclasses import dataclass

_END_OF_LINE = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event: its name (``message`` if it has none) and its data lines, still bytes."""

    name: str
    data: bytes


class SseParser:
    """Feed it bytes, get events. ``overflowed`` tells that a line or an event was too long.

    After an overflow it gives no further events, and holds no more than the limit.
    """

    def __init__(self, *, line_bytes: int) -> None:
        self._line_bytes = line_bytes
        self._buffer = bytearray()
        self._scanned = 0
        self._skip_line_feed = False
        self._at_start = True
        self._name = ""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self.overflowed = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take ``chunk`` and return the events that it completes."""
        if self.overflowed or not chunk:
            return []
        self._buffer += chunk
        events = [event for line in self._lines() if (event := self._take_line(line))]
        if len(self._buffer) > self._line_bytes:
            self._overflow()
        return events

    def finish(self) -> list[SseEvent]:
        """Return the event that the end of the body completes: one without its blank line."""
        if self.overflowed:
            return []
        line, self._buffer = bytes(self._buffer), bytearray()
        self._scanned = 0
        if self._skip_line_feed:
            line = line.removeprefix(b"\n")
        events = [self._take_line(line) if line else None, self._dispatch()]
        return [event for event in events if event]

    def _lines(self) -> list[bytes]:
        """Cut the complete lines off the buffer. A final CR ends a line at once, for its time."""
        if self._skip_line_feed and self._buffer:
            self._skip_line_feed = False
            if self._buffer.startswith(b"\n"):
                del self._buffer[:1]
        lines = []
        start = 0
        position = self._scanned
        while match := _END_OF_LINE.search(self._buffer, position):
            lines.append(bytes(self._buffer[start : match.start()]))
            start = position = match.end()
            self._skip_line_feed = match.group() == b"\r" and start == len(self._buffer)
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        return lines

    def _take_line(self, line: bytes) -> SseEvent | None:
        if self.overflowed or len(line) > self._line_bytes:
            self._overflow()
            return None
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"error":
            self._name = "error"  # no field of the standard, but llama.cpp's for a long time
        if field in (b"data", b"error"):
            self._data.append(value)
            self._data_bytes += len(value) + 1
            if self._data_bytes > self._line_bytes + 1:
                self._overflow()
        elif field == b"event":
            self._name = value[:64].decode("utf-8", errors="replace")
        return None

    def _dispatch(self) -> SseEvent | None:
        name, data = self._name or "message", self._data
        self._name, self._data, self._data_bytes = "", [], 0
        payload = b"\n".join(data)
        return SseEvent(name=name, data=payload) if payload else None

    def _overflow(self) -> None:
        self.overflowed = True
        self._buffer.clear()
        self._data.clear()
