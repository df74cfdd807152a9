"""What a judge last said of each of its items, kept over restarts in one small file."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from monitor.judge.items import Item
from monitor.judge.question import WORDING
from monitor.judge.trust import Agreement, Said, agreement, tally

log = logging.getLogger(__name__)

FILE = "judge.json"
_SAID = {each.value: each for each in Said}


def subject_of(model: str, endpoint: str, items: Sequence[Item]) -> str:
    """Return a digest of what a record holds for: the judge, its items and the wording."""
    texts = [WORDING, model, endpoint, *sorted(item.id for item in items)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


class Record:
    """The last word on each item, longest ago first. Of another subject nothing is known."""

    def __init__(self, file: Path, subject: str, items: Sequence[Item]) -> None:
        self._file = file
        self._subject = subject
        self._items = {item.id: item for item in items}
        self._said: dict[str, Said] = self._read()

    def agreement(self) -> Agreement:
        """Return how the judge stands."""
        return agreement(tally((self._items[i].right, said) for i, said in self._said.items()))

    def due(self, count: int) -> tuple[Item, ...]:
        """Return the items to ask next: those never asked, then those asked longest ago."""
        new = [item for item in self._items if item not in self._said]
        return tuple(self._items[each] for each in [*new, *self._said][:count])

    @property
    def untried(self) -> int:
        """How many items the judge was never asked."""
        return len(self._items) - len(self._said)

    def note(self, item: Item, said: Said) -> None:
        """Take the judge's latest word on an item."""
        self._said.pop(item.id, None)
        self._said[item.id] = said

    def save(self) -> None:
        """Write what is noted, whole or not at all; a folder that refuses it costs a restart."""
        kept = {"subject": self._subject, "said": self._said}
        beside = self._file.with_suffix(".new")
        try:
            beside.write_text(json.dumps(kept), encoding="ascii")
            beside.replace(self._file)
        except OSError as error:
            log.warning("what the judge said of its items is not kept (%s)", error.strerror)

    def _read(self) -> dict[str, Said]:
        try:
            kept = json.loads(self._file.read_text("ascii"))
            if kept["subject"] != self._subject:
                return {}
            return {i: _SAID[said] for i, said in kept["said"].items() if i in self._items}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            log.warning("%s is not readable: the judge is asked its items anew", self._file.name)
            return {}
