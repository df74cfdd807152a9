"""Who did what: a chain of links, each with the hash of the one before.

A link tells what was done by whom in codes, our own names and numbers; a person's reasons are there
as keyed hashes only. Whoever has seen a hash of the chain (it is logged and printed) can tell later
whether anything before it was changed. What was taken off the end shows in no other way.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from monitor.canaries import InstallationKey
from monitor.chain import Jumps, jump_of, leads_to
from monitor.store.links import (
    ERASURES,
    Action,
    Head,
    Verified,
    link_hash,
    still_unended,
    verified,
)
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.rows import AnyRow, AuditRow
from monitor.store.spool import FullError

log = logging.getLogger(__name__)

ACTOR_CHARACTERS = 200
OBJECT_CHARACTERS = 300
# Who does what nobody asked for.
OURSELVES = "davylamp"
# Links are read in windows of their numbers; a window that holds many more rows is broken anyway.
_WINDOW, _MOST_ROWS = 2_000, 8_000
_FIRST, _LAST_NUMBER = 1, 2**64 - 1
# Heads are logged to be seen elsewhere: of the many links of minting one in so long is enough.
_HEAD_EVERY = timedelta(minutes=1)
_NEVER = datetime.min.replace(tzinfo=UTC)

Detail = str | int | float | bool | None | tuple[str, ...] | Mapping[str, int]


class Keeper(Protocol):
    """Keeps links: they are not lost once ``put`` returns, and can be read after ``flush``."""

    def put(self, rows: Sequence[AnyRow], /, *, wait: bool = True) -> object:
        """Keep rows, all or none; raise ``FullError`` where there is no room for them."""

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
        self._jumps: Jumps[str] = Jumps()
        self._last_told = _NEVER

    def reread(self) -> None:
        """Read the head back from the store, once everything acknowledged is in it."""
        with self._lock:
            self._reread()

    def _reread(self) -> None:
        self._writer.flush()
        found = self._reader.audit_head()
        self._head = None if found is None else Head(seq=found[0], hash=found[1])
        self._jumps = Jumps()
        for link in self._reader.audit_links_at(leads_to(self._head.seq) if self._head else ()):
            self._jumps.put(link.seq, link.hash)
        self._is_known = True

    def _known_head(self) -> Head | None:
        if not self._is_known:
            self._reread()
        return self._head

    @property
    def count(self) -> int:
        """How many links there are, as far as is known without asking the store."""
        head = self._head
        return head.seq if head else 0

    @property
    def head(self) -> Head | None:
        """The last link, ``None`` before the first."""
        with self._lock:
            return self._known_head()

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
        said = _link(action, subject, actor=actor, at=at, details=details or {})
        with self._lock:
            return self._append(said, rows)

    def mint(self, commitments: Sequence[str], *, at: datetime, rows: Sequence[AnyRow]) -> Head:
        """Append the link of what was minted: the commitment of each, kept together with its row.

        Raises ``StoreError`` if nothing was kept, at once where there is no room.
        """
        with self._lock:
            before = self._known_head()
            jump = jump_of(before.seq + 1 if before else _FIRST + 1)
            details: dict[str, Detail] = {"markers": tuple(commitments)}
            if hashed := self._jumps.get(jump):
                details |= {"jump": jump, "jump_hash": hashed}
            minted = f"{len(commitments)} markers"
            said = _link(Action.MINT, minted, actor=OURSELVES, at=at, details=details)
            return self._append(said, rows, wait=False)

    def _append(self, said: AuditRow, rows: Sequence[AnyRow], *, wait: bool = True) -> Head:
        before = self._known_head()
        first = [] if before else [self._begin(said.at)]
        seq, previous = (before.seq, before.hash) if before else (_FIRST, first[0].hash)
        link = _hashed(replace(said, seq=seq + 1, previous=previous))
        # If this fails for any other reason than want of room, only the store can say what it has.
        self._is_known = False
        try:
            self._writer.put([*rows, *first, link], wait=wait)
        except FullError:
            self._is_known = True
            raise
        for each in (*first, link):
            self._jumps.put(each.seq, each.hash)
        self._head, self._is_known = Head(seq=link.seq, hash=link.hash), True
        self._tell(link)
        return self._head

    def _begin(self, at: datetime) -> AuditRow:
        details = {"installation": self._installation}
        said = _link(Action.BEGIN, "audit", actor=OURSELVES, at=at, details=details)
        return _hashed(replace(said, seq=_FIRST))

    def _tell(self, link: AuditRow) -> None:
        if link.action != Action.MINT or link.at - self._last_told >= _HEAD_EVERY:
            log.info("audit chain: link %d is %s", link.seq, link.hash)
            self._last_told = link.at

    def private(self, text: str) -> str:
        """Return the keyed hash under which a person's words stand in a link."""
        return self._hasher(text)

    def links(self, last: int) -> tuple[AuditRow, ...]:
        """Return the newest links but those of minting, oldest of them first."""
        self._writer.flush()
        return self._reader.last_audit_links(last, leaving_out=(Action.MINT.value,))

    def unended(self) -> tuple[str, ...]:
        """Return what is being erased, or was when that broke off."""
        self._writer.flush()
        left: list[str] = []
        for link in self._reader.audit_links_of(sorted(ERASURES)):
            left = still_unended(left, link)
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


def _link(
    action: Action, subject: str, *, actor: str, at: datetime, details: Mapping[str, Detail]
) -> AuditRow:
    """Return a link that has no place in the chain yet."""
    return AuditRow(
        seq=0,
        at=_as_stored(at),
        actor=_valid(actor)[:ACTOR_CHARACTERS],
        action=action.value,
        object=_valid(subject)[:OBJECT_CHARACTERS],
        details=_canonical(details),
        previous="",
        hash="",
    )


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
