"""What is asked of a run of ``rescore``, and how it says how far it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from monitor.store.bodies import Opener


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescore:
    """Which trials, by when they were judged; the key that opens their bodies; and by whom.

    No ``targets`` are all of them.
    """

    since: datetime
    until: datetime
    opener: Opener
    who: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreStep:
    """How far it came, for whoever shows progress."""

    words: str
    done: int
    total: int


OnRescoreStep = Callable[[RescoreStep], None]
