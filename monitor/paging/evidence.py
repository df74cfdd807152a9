"""What HTTP said, and who answered, in the trials a finding rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.errors import StoreError
from monitor.store import Store

# A page does not wait for a database that is away: it goes without what only that knows.
_PATIENCE_SECONDS = 1.0
_MOST_TRIALS = 50
_MOST_ROUTES = 5
_MOST_STATUSES = 6
_LONGEST_ROUTE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How many exchanges ended with which HTTP status (``None``: no status came), and routes."""

    http: tuple[tuple[int | None, int], ...] = ()
    routes: tuple[str, ...] = ()

    def http_words(self) -> tuple[str, ...]:
        """Return the statuses in words, the commonest first."""
        return tuple(f"{'nothing' if code is None else code} ({n} times)" for code, n in self.http)


def evidence_in(store: Store, trials: Sequence[str]) -> Evidence:
    """Return what the store knows of the last of these trials; nothing if it does not answer."""
    if not trials:
        return Evidence()
    try:
        store.writer.run(lambda _: None, patience_seconds=_PATIENCE_SECONDS)
        answers = store.reader.answers_of(trials[-_MOST_TRIALS:])
    except StoreError:
        return Evidence()
    statuses: Counter[int | None] = Counter()
    routes: Counter[str] = Counter()
    for status, route, exchanges in answers:
        statuses[status] += exchanges
        if route:
            routes[route[:_LONGEST_ROUTE]] += exchanges
    return Evidence(
        http=tuple(statuses.most_common(_MOST_STATUSES)),
        routes=tuple(name for name, _ in routes.most_common(_MOST_ROUTES)),
    )
