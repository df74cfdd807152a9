"""Mend what the death of a process can leave in the embedded database, before it is opened.

The engine notes the token of a block before the block is there for good. A process killed between
the two leaves a token without a block, and the block that is then written again from the spool
would be taken for known: its rows would be lost. Here such a token is struck out, in the way in
which the engine itself does it when it drops a block. What is not written as expected is left
alone.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from monitor.errors import StoreError

log = logging.getLogger(__name__)

_LOGS = "store/*/*/deduplication_logs"
_ADDED, _DROPPED = "1", "2"
_RECORD = re.compile(r"(?P<operation>[123])\t(?P<part>[^\t\n]+)\t(?P<block>[^\t\n]+)")
_PART = re.compile(r"(?P<partition>[^_]+)_(?P<first>\d+)_(?P<last>\d+)_\d+(?:_\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    partition: str
    first: int
    last: int

    def covers(self, other: _Part) -> bool:
        """Say whether this one holds what ``other`` held: merged, or itself."""
        return (
            self.partition == other.partition
            and self.first <= other.first
            and other.last <= self.last
        )


def strike_out_lost_blocks(data: Path) -> int:
    """Strike out the tokens of blocks that are not there, and return how many those are.

    The database at ``data`` must not be open. Raises ``StoreError`` if its files cannot be changed.
    """
    try:
        return sum(_mended(folder) for folder in sorted(data.glob(_LOGS)))
    except OSError as error:
        msg = f"{data}: the store cannot be looked through: {error.strerror}"
        raise StoreError(msg) from error


def _mended(folder: Path) -> int:
    found = folder.glob("deduplication_log_*.txt")
    files = sorted(found, key=lambda file: (len(file.name), file.name))
    known: dict[str, str] = {}
    for file in files:
        for line in _whole_lines(file):
            record = _RECORD.fullmatch(line)
            if record is None:
                log.warning("%s: not written as expected, left alone", file)
                return 0
            if record["operation"] == _ADDED:
                known[record["block"]] = record["part"]
            else:
                known.pop(record["block"], None)
    there = [part for entry in folder.parent.iterdir() if (part := _part_of(entry.name))]
    lost = [
        (name, block)
        for block, name in known.items()
        if (part := _part_of(name)) and not any(each.covers(part) for each in there)
    ]
    if lost:
        log.warning("%s: %d blocks were noted and never came to be", folder, len(lost))
        _append(files[-1], [f"{_DROPPED}\t{name}\t{block}\n" for name, block in lost])
    return len(lost)


def _whole_lines(file: Path) -> Iterator[str]:
    """Return the lines of a log; one that was never finished is cut off."""
    text = file.read_text("utf-8", "replace")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        os.truncate(file, len(whole.encode()))
    yield from whole.splitlines()


def _append(file: Path, lines: list[str]) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.writelines(lines)
        stream.flush()
        os.fsync(stream.fileno())


def _part_of(name: str) -> _Part | None:
    found = _PART.fullmatch(name)
    if found is None:
        return None
    return _Part(partition=found["partition"], first=int(found["first"]), last=int(found["last"]))
