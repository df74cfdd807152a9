"""What changed about a target, told or noticed; each change raises its rates for 24 hours.

Faults come with deploys, and not every deploy is announced. An announced one is told by a command
or a webhook; others show in a version, in the fingerprint or model name of answers, or in how long
the first token takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from monitor.conventions import ChangeKind

RAISED = timedelta(hours=24)
# Replicas are replaced one by one: what changes again this soon is the same change.
SAME_CHANGE = timedelta(hours=1)
# So many answers must have come before a new value can be called a change.
WARM_ANSWERS = 20
# A target that shows more values than this has one for each answer: they tell nothing.
MOST_VALUES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one target; ``probed`` if the limits were asked because of it already."""

    target: str
    kind: ChangeKind
    at: datetime
    probed: bool = False


class ChangeLog(Protocol):
    """Where changes survive a restart."""

    def changes(self, since: datetime) -> Iterable[Change]:
        """Return the changes noted since then."""

    def keep(self, change: Change) -> None:
        """Keep one."""


class Changes:
    """The changes of all targets, and whose rates are raised because of them."""

    def __init__(self, record: ChangeLog, now: datetime) -> None:
        self._log = record
        self._last: dict[tuple[str, ChangeKind], datetime] = {}
        self._listeners: list[Callable[[Change], None]] = []
        for change in record.changes(now - RAISED):
            self._last[change.target, change.kind] = change.at

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Tell ``listener`` of every change from now on."""
        self._listeners.append(listener)

    def note(self, target: str, kind: ChangeKind, now: datetime, *, probed: bool = False) -> bool:
        """Note a change; false if it is the one noted a short while ago."""
        last = self._last.get((target, kind))
        self._last[target, kind] = now
        if last is not None and now - last < SAME_CHANGE:
            return False
        change = Change(target=target, kind=kind, at=now, probed=probed)
        self._log.keep(change)
        for listener in self._listeners:
            listener(change)
        return True

    def raised(self, target: str, now: datetime) -> bool:
        """Return true for 24 hours after a change of the target."""
        return any(
            (last := self._last.get((target, kind))) is not None and now - last < RAISED
            for kind in ChangeKind
        )


class Seen:
    """The values a target has shown of something that changes with a deploy only.

    Several replicas may show several. Values are kept as hashes: they are a target's own text.
    """

    __slots__ = ("_answers", "_known")

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._answers = 0

    def note(self, value: str | None) -> bool:
        """Take what an answer shows; true if it is new after long having been something else."""
        if not value or self.useless:
            return False
        self._answers += 1
        known = hash(value) in self._known
        self._known.add(hash(value))
        return not known and self._answers > WARM_ANSWERS and not self.useless

    @property
    def useless(self) -> bool:
        """True if it shows so many values that a new one means nothing."""
        return len(self._known) > MOST_VALUES
