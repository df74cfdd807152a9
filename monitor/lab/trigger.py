"""Which requests a mechanism strikes: one rule for all mechanisms, and a count of what it did."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

Value = bool | int | float | str
# What every mechanism has: the share of requests that meet its condition which are struck, how
# many requests come before it begins, and the only tenant it strikes ("" is every tenant).
COMMON: Mapping[str, Value] = {"rate": 1.0, "onset": 0, "tenant": ""}


class Asker(Protocol):
    """Who asks: the number of the request, from 1, and the tenant of its key, "" if none."""

    @property
    def number(self) -> int:
        """Return the number of the request."""

    @property
    def tenant(self) -> str:
        """Return the tenant's name."""


@dataclass(slots=True, kw_only=True)
class Trigger:
    """Randomness and record of one mechanism.

    Whether a request is struck is a function of seed, mechanism and request number only, so
    asking again gives the same answer and counts once.
    """

    seed: int
    name: str
    null: bool = False
    params: Mapping[str, Value] = field(default_factory=dict)
    _exposed: set[int] = field(default_factory=set)
    _struck: set[int] = field(default_factory=set)

    @property
    def rate(self) -> float:
        """Return the share of the requests that meet the condition which are struck."""
        return float(self.params.get("rate", COMMON["rate"]))

    @property
    def exposed(self) -> int:
        """Return how many requests met the condition after the onset."""
        return len(self._exposed)

    @property
    def struck(self) -> int:
        """Return how many requests were hit."""
        return len(self._struck)

    def strikes(self, asker: Asker, group: int | None = None) -> bool:
        """Return whether this request is hit. Ask only when it meets the mechanism's condition.

        Requests of one ``group`` are hit together.
        """
        number = asker.number
        if number in self._struck:
            return True
        if number in self._exposed or not self._is_on(asker):
            return False
        self._exposed.add(number)
        if self.rng(number if group is None else group).random() >= self.rate:
            return False
        self._struck.add(number)
        return True

    def would_strike(self, asker: Asker) -> bool:
        """Return whether the request would be hit if it met the condition. Counts nothing."""
        return self._is_on(asker) and self.rng(asker.number).random() < self.rate

    def rng(self, number: int) -> Random:
        """Return the generator of one request."""
        text = f"{self.seed}/{self.name}/{number}".encode()
        return Random(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))

    def _is_on(self, asker: Asker) -> bool:
        onset, tenant = int(self.params.get("onset", 0)), self.params.get("tenant", "")
        return asker.number > onset and tenant in {"", asker.tenant}
