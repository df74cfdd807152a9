"""Readers' turns at the engine's connections: each for so long, and no longer waited for.

The engine looks at its clock between blocks of rows, and nothing ends a single call of a function.
So each statement runs in a thread of its own. Whoever waits for one is answered in time; the thread
is left to itself until the engine gives it back, and its connection is out of use meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from monitor.leaving import Leavable
from monitor.sqlhttp.failures import SqlError, failed_unexpectedly, stopping, too_long, too_many

log = logging.getLogger(__name__)

_STOP_ROUNDS = 20
_ROUND_SECONDS = 0.1


class Closable(Protocol):
    """What an outcome or a connection is."""

    def close(self) -> None:
        """Let go of it."""


T = TypeVar("T", bound=Closable)


class Turn:
    """What one thread does with one connection. The first to say how it ends decides."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.is_left = False
        self._lock = threading.Lock()
        self._said = threading.Event()
        self._outcome: Any = None

    def end(self, outcome: Closable | SqlError) -> bool:
        """Say what came of it; false if that is settled already."""
        with self._lock:
            if self._said.is_set():
                return False
            self._outcome = outcome
            self._said.set()
            return True

    def wait(self, seconds: float) -> Any:
        """Return what came of it. Raises ``SqlError``: code 159 if nothing did for so long."""
        if not self._said.wait(seconds) and self.end(too_long(seconds)):
            self.is_left = True
        if isinstance(self._outcome, SqlError):
            raise self._outcome
        return self._outcome

    @property
    def is_settled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._said.is_set()


class Turns:
    """Hands connections to those who ask, one statement each."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle: list[Any] = []
        self._under_way: set[Turn] = set()
        self.is_stopping = False
        self._is_over = False

    def add(self, connection: Any) -> None:
        """Let a further connection be used."""
        with self._changed:
            self._idle.append(connection)
            self._changed.notify_all()

    def run(self, work: Callable[[Turn], T], *, patience: float, seconds: float) -> T:
        """Return what ``work`` makes of a turn.

        Raises ``SqlError``: what ``work`` raises, 202 if no connection is free within ``patience``,
        all are with statements that do not end, or the machine gives no thread, 159 after
        ``seconds``, 394 once it stops.
        """
        turn = self._next(patience)
        self._begin(turn, work)
        try:
            outcome: T = turn.wait(seconds)
        finally:
            if turn.is_left:
                self._tell()
        return outcome

    def stop(self, end_running: Callable[[], None]) -> bool:
        """Tell everybody that it stops, end what runs and close what is given back.

        Returns whether that was all, after a few seconds at most. What comes back later is closed
        by its own thread.
        """
        if self._is_over:
            return not self._under_way
        with self._changed:
            self.is_stopping = True
            self._changed.notify_all()
            for turn in self._under_way:
                turn.end(stopping())
        for _ in range(_STOP_ROUNDS):
            if not self._under_way:
                break
            end_running()
            with self._changed:
                self._changed.wait_for(lambda: not self._under_way, _ROUND_SECONDS)
        with self._changed:
            self._is_over = True
            idle, self._idle = self._idle, []
            left = len(self._under_way)
        for connection in idle:
            connection.close()
        if left:
            log.warning("%d statements of readers do not end, and are left behind", left)
        return not left

    def _next(self, patience: float) -> Turn:
        with self._changed:
            if self._all_left() or not self._changed.wait_for(self._ready, patience):
                raise too_many()
            if self.is_stopping:
                raise stopping()
            turn = Turn(self._idle.pop())
            self._under_way.add(turn)
            return turn

    def _ready(self) -> bool:
        return self.is_stopping or bool(self._idle)

    def _all_left(self) -> bool:
        left = [turn for turn in self._under_way if turn.is_left]
        return bool(left) and not self._idle and len(left) == len(self._under_way)

    def _begin(self, turn: Turn, work: Callable[[Turn], Closable]) -> None:
        try:
            Leavable(partial(self._carry_out, turn, work), name="sql-reader").start()
        except RuntimeError as error:
            self._give_back(turn)
            log.warning("no thread for a statement of a reader: %s", error)
            raise too_many() from error

    def _carry_out(self, turn: Turn, work: Callable[[Turn], Closable]) -> None:
        outcome: Closable | SqlError = failed_unexpectedly()
        try:
            outcome = work(turn)
        except SqlError as error:
            outcome = error
        finally:
            # Free before whoever waits is told, so that the next one finds it free.
            self._give_back(turn)
            if not turn.end(outcome) and not isinstance(outcome, SqlError):
                outcome.close()

    def _give_back(self, turn: Turn) -> None:
        with self._changed:
            self._under_way.remove(turn)
            # Read once: what is put back before the end is closed by whoever ends it.
            is_over = self._is_over
            if not is_over:
                self._idle.append(turn.connection)
            self._changed.notify_all()
        if is_over:
            turn.connection.close()

    def _tell(self) -> None:
        with self._changed:
            left = sum(turn.is_left for turn in self._under_way)
            served = len(self._under_way) + len(self._idle)
        if left:
            said = "%d of %d connections of readers are with statements past their time"
            log.warning(said, left, served)
