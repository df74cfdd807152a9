"""How parent and worker talk: JSON in frames over a socket pair.

JSON, not pickle: the worker reads hostile text with large libraries, and what it sends back must
not be able to do anything.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from monitor.model import Entity, Measurement
from monitor.scoring.base import Asked

_LENGTH = struct.Struct(">I")
# A batch of the largest answers takes a few megabytes.
MOST_BYTES = 256 << 20


class Line:
    """One end of the talk. Raises ``EOFError`` if the other end is gone, ``TimeoutError``."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, content: Mapping[str, Any], *, seconds: float | None = None) -> None:
        """Send one object, within so many seconds."""
        frame = json.dumps(content).encode("ascii")
        try:
            self._end.settimeout(seconds)
            self._end.sendall(_LENGTH.pack(len(frame)) + frame)
        except TimeoutError:
            raise
        except OSError as error:  # the other end is gone, or ours was closed meanwhile
            raise EOFError from error

    def receive(self, *, seconds: float | None = None) -> Any:
        """Return the next object, if it comes within so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        [length] = _LENGTH.unpack(self._read(_LENGTH.size, until))
        if length > MOST_BYTES:
            raise EOFError
        return json.loads(self._read(length, until))

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def _read(self, length: int, until: float | None) -> bytes:
        read = bytearray()
        while len(read) < length:
            try:
                if until is not None:
                    self._end.settimeout(max(until - time.monotonic(), 1e-3))
                piece = self._end.recv(min(length - len(read), 1 << 20))
            except TimeoutError:
                raise
            except OSError as error:  # the other end is gone, or ours was closed meanwhile
                raise EOFError from error
            if not piece:
                raise EOFError
            read += piece
        return bytes(read)


def asked_as_json(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return the answers to measure as plain data."""
    return [asdict(each) | {"wants": sorted(each.wants)} for each in asked]


def asked_from_json(content: Sequence[Mapping[str, Any]]) -> list[Asked]:
    """Return what ``asked_as_json`` was given."""
    return [
        Asked(
            **{
                **each,
                "wants": frozenset(each["wants"]),
                "references": tuple(each["references"]),
            }
        )
        for each in content
    ]


def measured_as_json(measured: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return measurements as plain data."""
    return [asdict(each) for each in measured]


def measured_from_json(content: Sequence[Mapping[str, Any]]) -> list[Measurement]:
    """Return what ``measured_as_json`` was given. Raises ``TypeError`` for anything else."""
    return [Measurement(**{**each, "entities": _entities(each["entities"])}) for each in content]


def _entities(found: Sequence[Mapping[str, Any]] | None) -> tuple[Entity, ...] | None:
    return None if found is None else tuple(Entity(**each) for each in found)
