"""Mint markers (three random groups and a keyed tag, never a dictionary word), plant values."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from monitor.canaries.keys import InstallationKey
from monitor.canaries.proquint import GROUP_BITS, GROUPS_PER_MARKER, dictionary_words, encode
from monitor.canaries.registry import MarkerRegistry
from monitor.canaries.values import VALUE_KINDS, draw
from monitor.model import Marker, Owner, ValueKind

DEFAULT_LIFE = timedelta(days=30)
NONCE = "nonce"
PLANTED = "planted"


class Minter:
    """Makes markers and registers each with its owner before anyone can send it."""

    def __init__(
        self,
        key: InstallationKey,
        registry: MarkerRegistry,
        *,
        random_bits: Callable[[int], int] = secrets.randbits,
        life: timedelta = DEFAULT_LIFE,
    ) -> None:
        self._key = key
        self._registry = registry
        self._random_bits = random_bits
        self._life = life

    def mint(self, owner: Owner, now: datetime, *, kind: str = NONCE) -> Marker:
        """Return a new registered marker of ``owner``: a code, or a value if ``kind`` says so.

        Promises of a code: no group is a dictionary word, no adjacent pair is shared with another
        live marker, and at least four edits from the owner's other markers. Of a value: no part by
        which it is recognised belongs to another.
        """
        text = self._value(ValueKind(kind)) if kind in VALUE_KINDS else self._code(owner)
        marker = Marker(
            id=f"marker-{self._random_bits(96):024x}",
            text=text,
            owner=owner,
            kind=str(kind),
            minted_at=now,
            expires_at=now + self._life,
        )
        self._registry.add(marker)
        return marker

    def _value(self, kind: ValueKind) -> str:
        while True:
            text = draw(kind, self._random_bits)
            if self._registry.is_new_value(kind, text):
                return text

    def _code(self, owner: Owner) -> str:
        while True:
            groups = self._groups()
            if self._registry.is_free(groups, owner):
                return "-".join(groups)

    def _groups(self) -> tuple[str, ...]:
        words = dictionary_words()
        while True:
            head = tuple(
                encode(self._random_bits(GROUP_BITS)) for _ in range(GROUPS_PER_MARKER - 1)
            )
            groups = (*head, encode(self._key.tag(head)))
            if len(set(groups)) == GROUPS_PER_MARKER and not words.intersection(groups):
                return groups
