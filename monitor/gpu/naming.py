"""Names that drivers and exporters give, made fit to be labels: short, plain and few."""

from __future__ import annotations

import re

from monitor.config.secrets import key_likeness
from monitor.conventions.gpu import MAX_PROCESS_NAMES, MOST_XID, OTHER

MOST_XID_SERIES = 1024
"""The most kinds of Xid that a source counts in its life, over all its GPUs."""
_MOST_CHARS = 64
_MOST_PROCESS_CHARS = 32
_UNCLEAN = re.compile(r"[^A-Za-z0-9 ._/:-]+", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)


def cleaned(text: str) -> str:
    """Return a name of a GPU, profile or driver with plain characters only, at most 64."""
    return _UNCLEAN.sub("", text[: 4 * _MOST_CHARS]).strip()[:_MOST_CHARS]


def process_name(told: str) -> str:
    """Return the bare name of what a driver calls a process, or ``other``.

    Drivers give a path, a title or a whole command line: only the first word counts, without its
    folders, up to the first character that is not plain. What looks like a key is never kept.
    """
    [first, *_] = told[:1024].split(maxsplit=1) or [""]
    match = _PLAIN.match(first.rpartition("/")[2])
    name = match[0] if match else ""
    if not name or len(name) > _MOST_PROCESS_CHARS or key_likeness(name) is not None:
        return OTHER
    return name


def xid_code(xid: int) -> str:
    """Return the label of an Xid."""
    return str(xid) if 0 < xid <= MOST_XID else OTHER


class ProcessNames:
    """Lets through so many names in its life, and calls the rest ``other``: labels stay few."""

    def __init__(self, most: int = MAX_PROCESS_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()

    def bounded(self, told: str) -> str:
        """Return the name to show for what a driver calls a process."""
        name = process_name(told)
        if name in self._known:
            return name
        if name == OTHER or len(self._known) >= self._most:
            return OTHER
        self._known.add(name)
        return name
