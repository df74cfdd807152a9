"""Asking the store what only it knows, without waiting for one that is away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from monitor.clock import Clock
from monitor.errors import StoreError
from monitor.store import Reader, Store

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
# One look asks about many findings: a database that is away keeps it waiting once.
LEFT_ALONE_SECONDS = 10.0


class BriefReader:
    """Asks the store, and waits no longer than a page may. For one thread at a time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.hasher = store.hasher
        self._writer = store.writer
        self._clock = clock
        self._left_alone_until = clock.monotonic()

    def ask(self, question: Callable[[Reader], T]) -> T:
        """Return the answer, of all that was put so far.

        Raises ``StoreError`` if it does not come within ``PATIENCE_SECONDS``, and at once for
        ``LEFT_ALONE_SECONDS`` after that.
        """
        if self._clock.monotonic() < self._left_alone_until:
            msg = "the store did not answer a moment ago"
            raise StoreError(msg)
        try:
            # On the writer's thread: a reader waits for a server that hangs, however long.
            return self._writer.run(
                lambda client: question(Reader(client)), patience_seconds=PATIENCE_SECONDS
            )
        except StoreError:
            self._left_alone_until = self._clock.monotonic() + LEFT_ALONE_SECONDS
            raise
