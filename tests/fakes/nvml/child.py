"""``python -m tests.fakes.nvml.child``: read GPUs step by step, and print what was read as JSON."""

from __future__ import annotations

import dataclasses
import json
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Any

from monitor.gpu import NvmlSource
from tests.fakes.nvml import say


class _Clock:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 12, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing sleeps here")


class _After(Event):
    """Is set after so many looks at it; nobody waits for it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {each.name: _plain(getattr(value, each.name)) for each in fields}
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, StrEnum) else value


def _key(key: Any) -> str:
    return "/".join(map(str, key)) if isinstance(key, tuple) else str(key)


def main() -> None:
    """Do as standard input says."""
    asked = json.load(sys.stdin)
    told = Path(asked["told"])
    shown = asked["shown"]
    source = NvmlSource(_Clock(), expected=asked["expected"], hardware=lambda: shown)
    found = []
    for step in asked["steps"]:
        say(told, **step)
        source.wait(1.0, _After(asked["listens"]))
        found.append(_plain(source.read()))
    source.close()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
