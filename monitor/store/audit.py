"""Who did what: a chain of links, each with the hash of the one before.

A link tells what was done by whom in codes, our own names and numbers; a person's reasons are there
as keyed hashes only. Whoever has seen a hash of the chain (it is logged and printed) can tell later
whether anything before it was changed. What was taken off the end shows in no other way.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Protocol

from monitor.canaries import InstallationKey
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.rows import AnyRow, AuditRow

log = logging.getLogger(__name__)

# Stands in what is hashed, so that a chain of another form cannot be taken for this one.
FORM = "davylamp-audit-1"
ACTOR_CHARACTERS = 200
OBJECT_CHARACTERS = 300
# Links are read in windows of their numbers; a window that holds many more rows is broken anyway.
_WINDOW, _MOST_ROWS = 2_000, 8_000
_MOST_FLAWS = 100
_LAST_NUMBER = 2**64 - 1

# How an erasure of everything before a time is called.
BEFORE = "before "

Detail = str | int | float | bool | None | tuple[str, ...] | Mapping[str, int]


class Action(StrEnum):
    """What a link tells of."""

    BEGIN = "begin"
    CONFIRM = "confirm"
    DISMISS = "dismiss"
    RESOLVE = "resolve"
    CALIBRATE = "calibrate"
    MIGRATE = "migrate"
    RETENTION = "retention"
    OPEN_BODIES = "open_bodies"
    FORGET = "forget"
    FORGOTTEN = "forgotten"
    BACKUP = "backup"
    RESTORE = "restore"


_ERASURES = frozenset({Action.FORGET, Action.FORGOTTEN})


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
    at = link.at.astimezone(UTC)
    said = [
        *(FORM, link.seq, f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z", link.actor),
        *(link.action, link.object, link.details, link.previous),
    ]
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Keeper(Protocol):
    """Keeps links: they are not lost once ``put`` returns, and can be read after ``flush``."""

    def put(self, rows: Sequence[AnyRow], /) -> object:
        """Keep rows, all or none."""

    def flush(self) -> None:
        """Return once all that was put can be read."""


class AuditLog:
    """Appends links, each durable before the next, and verifies what is there.

    One process appends at a time: the lock of the store's folder sees to that. Two folders that
    share a server would fork the chain, which ``verify`` names.
    """

    def __init__(self, key: InstallationKey, writer: Keeper, reader: Reader) -> None:
        self._installation = key.fingerprint
        self._hasher = EvidenceHasher(key)
        self._writer = writer
        self._reader = reader
        self._lock = threading.Lock()
        self._head: Head | None = None
        self._is_known = False

    def reread(self) -> None:
        """Read the head back from the store, once everything acknowledged is in it."""
        with self._lock:
            self._reread()

    def _reread(self) -> None:
        self._writer.flush()
        found = self._reader.audit_head()
        self._head = None if found is None else Head(seq=found[0], hash=found[1])
        self._is_known = True

    @property
    def count(self) -> int:
        """How many links there are, as far as is known without asking the store."""
        head = self._head
        return head.seq if head else 0

    @property
    def head(self) -> Head | None:
        """The last link, ``None`` before the first."""
        with self._lock:
            if not self._is_known:
                self._reread()
            return self._head

    def append(
        self,
        action: Action,
        subject: str,
        *,
        actor: str,
        at: datetime,
        details: Mapping[str, Detail] | None = None,
        rows: Sequence[AnyRow] = (),
    ) -> Head:
        """Append a link and return it; once this returns it is not lost.

        ``subject`` and ``details`` are codes, names of ours and numbers; other text goes through
        ``private``. ``rows`` are kept together with the link: all of them or none. Raises
        ``StoreError`` if nothing was kept.
        """
        with self._lock:
            if not self._is_known:
                self._reread()
            first = [] if self._head else [self._begin(at)]
            before = first[0].hash if first else self._head.hash if self._head else ""
            link = _hashed(
                AuditRow(
                    seq=(self._head.seq if self._head else 1) + 1,
                    at=_as_stored(at),
                    actor=_valid(actor)[:ACTOR_CHARACTERS],
                    action=action.value,
                    object=_valid(subject)[:OBJECT_CHARACTERS],
                    details=_canonical(details or {}),
                    previous=before,
                    hash="",
                )
            )
            # If this fails, only the store can say what it has.
            self._is_known = False
            self._writer.put([*rows, *first, link])
            self._head, self._is_known = Head(seq=link.seq, hash=link.hash), True
            log.info("audit chain: link %d is %s", link.seq, link.hash)
            return self._head

    def _begin(self, at: datetime) -> AuditRow:
        details = _canonical({"installation": self._installation})
        return _hashed(
            AuditRow(
                seq=1,
                at=_as_stored(at),
                actor="davylamp",
                action=Action.BEGIN.value,
                object="audit",
                details=details,
                previous="",
                hash="",
            )
        )

    def private(self, text: str) -> str:
        """Return the keyed hash under which a person's words stand in a link."""
        return self._hasher(text)

    def links(self, last: int) -> tuple[AuditRow, ...]:
        """Return the newest links, oldest of them first."""
        self._writer.flush()
        return self._reader.last_audit_links(last)

    def unended(self) -> tuple[str, ...]:
        """Return what is being erased, or was when that broke off."""
        self._writer.flush()
        left: list[str] = []
        for link in self._reader.audit_links_of(sorted(_ERASURES)):
            left = _still_unended(left, link)
        return tuple(left)

    def verify(self, published: str | None = None) -> Verified:
        """Walk over the whole chain, in constant memory.

        ``published`` is a hash that was seen outside: the chain must hold it.
        """
        head = self.head
        self._writer.flush()
        return verified(self._walk(), known=head, published=published)

    def _walk(self) -> Iterator[AuditRow]:
        number = self._reader.audit_number_from(0)
        while number is not None:
            below = number + _WINDOW
            yield from self._reader.audit_links(number, below, _MOST_ROWS)
            number = self._reader.audit_number_from(below) if below <= _LAST_NUMBER else None


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
            elif follows and link.previous not in self._hashes:
                self.note(FlawKind.UNLINKED, number)
            self._remember(link)
        self._number, self._hashes = number, frozenset(link.hash for link in links)
        self.head = Head(seq=number, hash=links[-1].hash)
        return links

    def _remember(self, link: AuditRow) -> None:
        if link.seq == 1:
            self.began_at, self.installation = link.at, _installation(link)
        if link.action in _ERASURES:
            self.unended = _still_unended(self.unended, link)


def _still_unended(unended: list[str], link: AuditRow) -> list[str]:
    """Return which erasures have no end after a link that begins or ends one."""
    left = [each for each in unended if not ends(link.object, each)]
    return [*left, link.object][-_MOST_FLAWS:] if link.action == Action.FORGET else left


def ends(ended: str, begun: str) -> bool:
    """True if the end of one erasure is that of another too: the same, or one before a later time.

    Instants are written so that they sort as they come.
    """
    return ended == begun or (ended.startswith(BEFORE) and BEFORE <= begun <= ended)


def _installation(link: AuditRow) -> str:
    try:
        said = json.loads(link.details)
    except ValueError:
        return ""
    return str(said.get("installation", "")) if isinstance(said, dict) else ""


def _hashed(link: AuditRow) -> AuditRow:
    return replace(link, hash=link_hash(link))


def _canonical(details: Mapping[str, Detail]) -> str:
    """Return JSON: keys sorted, no spaces, ASCII, so that equal details are equal bytes."""
    return json.dumps(
        {key: dict(each) if isinstance(each, Mapping) else each for key, each in details.items()},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        allow_nan=False,
    )


def _as_stored(instant: datetime) -> datetime:
    """Return an instant as the store gives it back: UTC, in whole milliseconds."""
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
