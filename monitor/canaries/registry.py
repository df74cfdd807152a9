"""The registry of markers and planted values: who owns what.

Both are found by their parts in time independent of their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations, pairwise

from monitor.canaries.keys import InstallationKey, PartHasher
from monitor.canaries.parts import PartsHasher, split
from monitor.canaries.proquint import GROUPS_PER_MARKER, encode, substitutions
from monitor.canaries.values import VALUE_KINDS, Form
from monitor.model import Marker, Owner, ValueKind

MIN_EDITS_WITHIN_OWNER = 4
POSITION_PAIRS = tuple(combinations(range(GROUPS_PER_MARKER), 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A registered marker or planted value; expired ones keep only hashes.

    ``groups`` are a live marker's groups; a live value's whole text is its only one.
    """

    id: str
    owner: Owner
    kind: str
    minted_at: datetime
    expires_at: datetime
    part_hashes: tuple[int, ...]
    groups: tuple[str, ...] | None


class MarkerRegistry:
    """Every marker of this installation, live and expired.

    Looking up a part or a pair is one hash look-up each, so scanning an answer costs the same
    with ten markers as with ten million.
    """

    def __init__(self, key: InstallationKey) -> None:
        self._key = key
        self._hash = PartHasher(key)
        self._parts_of = PartsHasher(key)
        self._values: dict[int, str] = {}
        self._entries: dict[str, Entry] = {}
        self._pairs: dict[tuple[int, int, int, int], tuple[str, ...]] = {}
        self._parts: dict[int, tuple[str, ...]] = {}
        self._by_trial: dict[tuple[str, str], list[str]] = {}
        self._unsaved: deque[Marker] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def values(self) -> int:
        """How many forms of planted values can be recognised; 0 if nothing was planted."""
        return len(self._values)

    def hash_part(self, position: int, letters: str) -> int:
        """Return the keyed hash of a group at a position of its marker."""
        return self._hash(position, letters)

    def add(self, marker: Marker) -> None:
        """Register a live marker; ``take_unsaved`` hands it to the store later."""
        self.restore(self._entry(marker))
        self._unsaved.append(marker)

    def _entry(self, marker: Marker) -> Entry:
        return Entry(
            id=marker.id,
            owner=marker.owner,
            kind=marker.kind,
            minted_at=marker.minted_at,
            expires_at=marker.expires_at,
            part_hashes=self._parts_of(marker.kind, marker.text),
            groups=split(marker.kind, marker.text),
        )

    def restore(self, entry: Entry) -> None:
        """Index an entry, new or read back from the store."""
        self._entries[entry.id] = entry
        if entry.kind in VALUE_KINDS:
            self._values.update(dict.fromkeys(entry.part_hashes, entry.id))
            return
        for i, j in POSITION_PAIRS:
            key = (i, j, entry.part_hashes[i], entry.part_hashes[j])
            self._pairs[key] = (*self._pairs.get(key, ()), entry.id)
        for part in entry.part_hashes:
            self._parts[part] = (*self._parts.get(part, ()), entry.id)
        self._by_trial.setdefault((entry.owner.tenant, entry.owner.trial), []).append(entry.id)

    def expire(self, now: datetime) -> tuple[str, ...]:
        """Forget the text of markers past their expiry; their hashes stay. Return their ids."""
        gone = [e for e in self._entries.values() if e.groups is not None and e.expires_at <= now]
        for entry in gone:
            self._entries[entry.id] = replace(entry, groups=None)
        return tuple(entry.id for entry in gone)

    def forget(self, which: Callable[[Entry], bool]) -> int:
        """Forget the text of some live markers; their hashes stay. Return how many they were."""
        gone = [e for e in self._entries.values() if e.groups is not None and which(e)]
        for entry in gone:
            self._entries[entry.id] = replace(entry, groups=None)
        return len(gone)

    def take_unsaved(self) -> tuple[Marker, ...]:
        """Return the markers minted since the last call, once.

        Another thread may mint meanwhile: what it adds is left for the next call.
        """
        return tuple(self._unsaved.popleft() for _ in range(len(self._unsaved)))

    def put_back(self, markers: Sequence[Marker]) -> None:
        """Give markers back that were taken and could not be saved: the next call returns them."""
        self._unsaved.extendleft(reversed(markers))

    def entry(self, marker_id: str) -> Entry:
        """Return the entry of a registered marker. Raises ``KeyError`` for another id."""
        return self._entries[marker_id]

    def with_part(self, position: int, letters: str) -> Iterator[Entry]:
        """Yield the markers that hold this group at this position."""
        for marker_id in self._parts.get(self._hash(position, letters), ()):
            yield self._entries[marker_id]

    def with_pair(self, i: int, j: int, part_i: int, part_j: int) -> Iterable[Entry]:
        """Yield the markers whose parts ``i`` and ``j`` have these hashes."""
        return [self._entries[m] for m in self._pairs.get((i, j, part_i, part_j), ())]

    def with_value(self, kind: ValueKind, form: Form, key: str) -> Entry | None:
        """Return the planted value that one of its forms shows, if there is one."""
        found = self._values.get(self._parts_of.of_value(kind, form, key))
        return None if found is None else self._entries[found]

    def is_new_value(self, kind: ValueKind, text: str) -> bool:
        """True if no form of this value could be taken for another's."""
        return self._values.keys().isdisjoint(self._parts_of(kind, text))

    def has_valid_tag(self, groups: tuple[str, ...]) -> bool:
        """True if four groups are a marker this installation could have minted."""
        return groups[-1] == encode(self._key.tag(groups[:-1]))

    def is_free(self, groups: tuple[str, ...], owner: Owner) -> bool:
        """True if a new marker of these groups keeps its distance from every live one."""
        if any(self._has_neighbours(one, two) for one, two in pairwise(groups)):
            return False
        siblings = (self._entries[m] for m in self._by_trial.get((owner.tenant, owner.trial), ()))
        return all(_edits(groups, s.groups) >= MIN_EDITS_WITHIN_OWNER for s in siblings if s.groups)

    def _has_neighbours(self, one: str, two: str) -> bool:
        return any(
            (i, i + 1, self._hash(i, one), self._hash(i + 1, two)) in self._pairs
            for i in range(GROUPS_PER_MARKER - 1)
        )


def _edits(groups: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(substitutions(a, b) for a, b in zip(groups, other, strict=True))
