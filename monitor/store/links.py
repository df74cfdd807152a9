"""What links of the audit chain tell of, and a walk over them that finds what was changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from monitor.chain import Jumps, hash_of, instant_text
from monitor.store.rows import AuditRow

_MOST_FLAWS = 100

# How an erasure of everything before a time is called.
BEFORE = "before "


class Action(StrEnum):
    """What a link tells of."""

    BEGIN = "begin"
    CONFIRM = "confirm"
    DISMISS = "dismiss"
    RESOLVE = "resolve"
    REOPEN = "reopen"
    DRAINED = "drained"
    RETURNED = "returned"
    CALIBRATE = "calibrate"
    MIGRATE = "migrate"
    RETENTION = "retention"
    OPEN_BODIES = "open_bodies"
    FORGET = "forget"
    FORGOTTEN = "forgotten"
    BACKUP = "backup"
    RESTORE = "restore"
    MINT = "mint"
    EXPORT_EVIDENCE = "export_evidence"
    END_ALARM = "end_alarm"


ERASURES = frozenset({Action.FORGET, Action.FORGOTTEN})


class FlawKind(StrEnum):
    """What can be wrong with a chain."""

    MISSING = "missing"
    CHANGED = "changed"
    UNLINKED = "unlinked"
    FORKED = "forked"
    DOUBLED = "doubled"
    HEAD = "head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One thing that is wrong, from the link numbered ``seq`` to ``until``."""

    kind: FlawKind
    seq: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The last link: how many there are, and the hash to publish."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a walk over the whole chain found.

    ``flaws`` are the first hundred, ``flaw_count`` is of all. ``published`` is the number of the
    link whose hash was given, ``None`` if none was or if it is not there. ``installation`` is the
    fingerprint of the key the chain was begun under. ``unended`` are the objects of erasures that
    were begun and have no end.
    """

    head: Head | None
    began_at: datetime | None
    installation: str
    published: int | None
    flaws: tuple[Flaw, ...]
    flaw_count: int
    unended: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """True if nothing is wrong."""
        return not self.flaw_count


def link_hash(link: AuditRow) -> str:
    """Return the SHA-256 of everything in a link but its hash, as hex digits."""
    return hash_of(link, instant_text(link.at))


def verified(
    links: Iterable[AuditRow], *, known: Head | None = None, published: str | None = None
) -> Verified:
    """Verify links that come in the order of their numbers.

    ``known`` is the head this process left; ``published`` a hash seen elsewhere. Both must be
    there.
    """
    walk = _Walk()
    seen: dict[str, int] = {}
    looked_for = {each for each in (published, known.hash if known else None) if each}
    for number, same in groupby(links, key=lambda link: link.seq):
        for link in walk.take(number, same):
            if link.hash in looked_for:
                seen[link.hash] = number
    for each in sorted(looked_for - seen.keys()):
        after = walk.head.seq + 1 if walk.head else 1
        until = known.seq if known and each == known.hash else after
        walk.note(FlawKind.HEAD, after, max(after, until))
    return Verified(
        head=walk.head,
        began_at=walk.began_at,
        installation=walk.installation,
        published=seen.get(published) if published else None,
        flaws=tuple(walk.flaws),
        flaw_count=walk.flaw_count,
        unended=tuple(walk.unended),
    )


class _Walk:
    """Where a walk over the chain stands: nothing of it grows with the chain."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.began_at: datetime | None = None
        self.installation = ""
        self.flaws: list[Flaw] = []
        self.flaw_count = 0
        self.unended: list[str] = []
        self._number = 0
        self._hashes: frozenset[str] = frozenset({""})
        self._jumps: Jumps[frozenset[str]] = Jumps()

    def note(self, kind: FlawKind, seq: int, until: int | None = None) -> None:
        """Note what is wrong."""
        self.flaw_count += 1
        if len(self.flaws) < _MOST_FLAWS:
            self.flaws.append(Flaw(kind=kind, seq=seq, until=seq if until is None else until))

    def take(self, number: int, same: Iterable[AuditRow]) -> list[AuditRow]:
        """Take all links of one number, and return them without doubles."""
        rows = list(same)
        links = list(dict.fromkeys(rows))
        if len(links) < len(rows):
            self.note(FlawKind.DOUBLED, number)
        if len(links) > 1:
            self.note(FlawKind.FORKED, number)
        if number > self._number + 1:
            self.note(FlawKind.MISSING, self._number + 1, number - 1)
        follows = number == self._number + 1
        for link in links:
            if link_hash(link) != link.hash:
                self.note(FlawKind.CHANGED, number)
            elif (follows and link.previous not in self._hashes) or self._strays(link):
                self.note(FlawKind.UNLINKED, number)
            self._remember(link)
        self._number, self._hashes = number, frozenset(link.hash for link in links)
        self._jumps.put(number, self._hashes)
        self.head = Head(seq=number, hash=links[-1].hash)
        return links

    def _strays(self, link: AuditRow) -> bool:
        """Tell whether it points over others to a link that is not there."""
        jump = jump_in(link)
        known = self._jumps.get(jump.seq) if jump else None
        return jump is not None and known is not None and jump.hash not in known

    def _remember(self, link: AuditRow) -> None:
        if link.seq == 1:
            self.began_at, self.installation = link.at, _installation(link)
        if link.action in ERASURES:
            self.unended = still_unended(self.unended, link)


def still_unended(unended: list[str], link: AuditRow) -> list[str]:
    """Return which erasures have no end after a link that begins or ends one."""
    left = [each for each in unended if not ends(link.object, each)]
    return [*left, link.object][-_MOST_FLAWS:] if link.action == Action.FORGET else left


def ends(ended: str, begun: str) -> bool:
    """True if the end of one erasure is that of another too: the same, or one before a later time.

    Instants are written so that they sort as they come.
    """
    return ended == begun or (ended.startswith(BEFORE) and BEFORE <= begun <= ended)


def jump_in(link: AuditRow) -> Head | None:
    """Return the earlier link that one of minting points to over those between."""
    said = _said(link) if link.action == Action.MINT else {}
    number, jump = said.get("jump"), said.get("jump_hash")
    return (
        Head(seq=number, hash=jump) if isinstance(number, int) and isinstance(jump, str) else None
    )


def _installation(link: AuditRow) -> str:
    return str(_said(link).get("installation", ""))


def _said(link: AuditRow) -> dict[str, object]:
    try:
        said = json.loads(link.details)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
