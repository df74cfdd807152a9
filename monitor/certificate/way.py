"""The way back through the audit chain, from a head to the links that are to be shown."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.chain import jump_of
from monitor.errors import UnsureError
from monitor.store import Store
from monitor.store.links import jump_in, link_hash
from monitor.store.rows import AuditRow


def way_back(store: Store, head: AuditRow, numbers: Iterable[int]) -> tuple[AuditRow, ...]:
    """Return the links by which a head leads to those of these numbers, the newest first.

    Raises ``UnsureError`` where the chain is broken, or if one is newer than the head.
    """
    way = _Way(store, head)
    for number in sorted(numbers, reverse=True):
        way.follow(number)
    return way.links()


class _Way:
    """The links that are known to follow from a head."""

    def __init__(self, store: Store, head: AuditRow) -> None:
        self._reader = store.reader
        self._head = head
        self._shown = {head.seq: _unchanged(head.seq, head)}
        self._read: dict[int, tuple[AuditRow, ...]] = {}

    def links(self) -> tuple[AuditRow, ...]:
        return tuple(self._shown[number] for number in sorted(self._shown, reverse=True))

    def follow(self, number: int) -> None:
        """Go from the head to a link, as far back at each step as does not lead beyond it."""
        link = self._head
        if number > link.seq:
            msg = (
                f"a marker stands in link {number} of the audit chain, after the head you gave "
                f"(link {link.seq}): give a newer one"
            )
            raise UnsureError(msg)
        self._read_ahead(link.seq, number)
        while link.seq > number:
            jump = jump_in(link)
            if jump is not None and number <= jump.seq < link.seq:
                link = self._linked(jump.seq, jump.hash)
            else:
                link = self._linked(link.seq - 1, link.previous)

    def _linked(self, number: int, hashed: str) -> AuditRow:
        if number not in self._shown:
            found = self._read.get(number) or self._reader.audit_links_at((number,))
            link = next((each for each in found if each.hash == hashed), None)
            self._shown[number] = _unchanged(number, link)
        return self._shown[number]

    def _read_ahead(self, later: int, earlier: int) -> None:
        """Read in one go what is met if all links on the way are of minting."""
        numbers = []
        while later > earlier:
            jump = jump_of(later)
            later = jump if jump and jump >= earlier else later - 1
            numbers.append(later)
        wanted = [number for number in numbers if number not in self._shown]
        for link in self._reader.audit_links_at(wanted):
            self._read[link.seq] = (*self._read.get(link.seq, ()), link)


def _unchanged(number: int, link: AuditRow | None) -> AuditRow:
    if link is None or link_hash(link) != link.hash:
        msg = f"link {number} of the audit chain is missing or was changed: see db audit"
        raise UnsureError(msg)
    return link
