"""Who measures: a process of its own that loads the models once, and can be killed if it hangs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Protocol

from monitor.model import Measurement
from monitor.scoring.base import INSTRUMENTS, Asked, Kinds, ScoringSettings
from monitor.scoring.process import WorkerFailedError, WorkerProcess

log = logging.getLogger(__name__)

# A full batch takes seconds, on a machine that is busy otherwise perhaps half a minute.
DEADLINE_SECONDS = 60.0
# Loading both models takes ten seconds, on a busy machine a minute.
LOADING_SECONDS = 120.0
# What one call measures at most: 64 ordinary answers, or two of the largest.
BATCH_ANSWERS = 64
BATCH_CHARACTERS = 400_000
# A worker that has grown beyond this is replaced: with both models it holds less.
MOST_RESIDENT_BYTES = 1 << 30
# After so many failures one after the other the next worker waits, longer each time.
PATIENCE = 3
FIRST_REST_SECONDS = 5.0
LONGEST_REST_SECONDS = 300.0
_CLOSING_SECONDS = 10.0


class Scorer(Protocol):
    """Measures answers. Never raises: what cannot be measured is ``broken`` in the measurement."""

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order."""

    def close(self) -> None:
        """Stop whatever runs."""


class NoScorer:
    """No instrument is configured."""

    codes: frozenset[str] = frozenset()

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return empty measurements."""
        return [Measurement() for _ in asked]

    def close(self) -> None:
        """Nothing runs."""


@dataclass(frozen=True, slots=True)
class _Order:
    """The answers of one trial, and who waits for their measurements."""

    asked: tuple[Asked, ...]
    done: Future[list[Measurement]] = field(default_factory=Future)

    @property
    def characters(self) -> int:
        return sum(map(_characters, self.asked))


class WorkerScorer:
    """Measures in a process of its own, which starts with the first answer to measure.

    Orders of several trials that wait together are measured in one call. Where that call fails
    (the worker hung, died, was killed) each is tried alone, so that an answer that kills the worker
    costs no other trial its measurement; the next order gets a new worker.
    """

    def __init__(
        self,
        settings: ScoringSettings,
        *,
        kinds: Kinds = INSTRUMENTS,
        deadline_seconds: float = DEADLINE_SECONDS,
        loading_seconds: float = LOADING_SECONDS,
        most_resident_bytes: int = MOST_RESIDENT_BYTES,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._kinds = kinds
        self._deadline_seconds = deadline_seconds
        self._loading_seconds = loading_seconds
        self._most_resident_bytes = most_resident_bytes
        self._rest = _Rest(now)
        self._turn = Condition()
        self._waiting: deque[_Order] = deque()
        self._feeder: Thread | None = None
        self._process: WorkerProcess | None = None
        self._closed = False

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""
        return frozenset(self._settings.instruments)

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order; all broken if the worker fails."""
        if not any(each.wants & self.codes for each in asked):
            return [Measurement() for _ in asked]
        order = _Order(tuple(asked))
        with self._turn:
            if self._closed:
                return self._broken(order.asked, "the scoring worker is closed")
            if self._feeder is None:
                self._feeder = Thread(target=self._feed, name="scoring", daemon=True)
                self._feeder.start()
            self._waiting.append(order)
            self._turn.notify_all()
        return await asyncio.wrap_future(order.done)

    def close(self) -> None:
        """Stop the worker; whoever waits gets broken measurements. No process is left behind."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()
            if self._process is not None:
                self._process.kill()
        if self._feeder is not None:
            self._feeder.join(_CLOSING_SECONDS)

    def _feed(self) -> None:
        """Serve orders until closed. However this ends, nobody is left waiting."""
        under_way: Sequence[_Order] = ()
        try:
            while orders := self._next_orders():
                under_way = orders
                self._fill(orders)
        finally:
            with self._turn:
                self._closed = True
                left = [o for o in self._waiting if o.done.set_running_or_notify_cancel()]
                self._waiting.clear()
            for order in (*under_way, *left):
                if not order.done.done():
                    order.done.set_result(self._broken(order.asked, "the scoring worker is closed"))

    def _next_orders(self) -> list[_Order]:
        """Wait for orders; return those that go into one call, or a single larger one.

        None are returned only once closed.
        """
        with self._turn:
            orders: list[_Order] = []
            while not orders and not self._closed:
                self._turn.wait_for(lambda: self._waiting or self._closed)
                orders = self._taken()
            return orders

    def _taken(self) -> list[_Order]:
        """Take the orders that go into one call, without those that nobody waits for any more."""
        orders: list[_Order] = []
        answers = characters = 0
        while self._waiting and not self._closed:
            answers += len(self._waiting[0].asked)
            characters += self._waiting[0].characters
            if orders and (answers > BATCH_ANSWERS or characters > BATCH_CHARACTERS):
                break
            order = self._waiting.popleft()
            if order.done.set_running_or_notify_cancel():
                orders.append(order)
        return orders

    def _fill(self, orders: Sequence[_Order]) -> None:
        if len(orders) == 1:
            [order] = orders
            measured = [m for part in _parts(order.asked) for m in self._measured_or_broken(part)]
            order.done.set_result(measured)
            return
        try:
            measured = self._measured([each for order in orders for each in order.asked])
        except WorkerFailedError:
            for order in orders:
                self._fill([order])
            return
        for order in orders:
            order.done.set_result(measured[: len(order.asked)])
            del measured[: len(order.asked)]

    def _measured_or_broken(self, asked: Sequence[Asked]) -> list[Measurement]:
        try:
            return self._measured(asked)
        except WorkerFailedError as error:
            return self._broken(asked, f"the scoring worker {error}")

    def _measured(self, asked: Sequence[Asked]) -> list[Measurement]:
        self._rest.check()
        process = self._started()
        seconds = self._deadline_seconds + (0 if process.answered else self._loading_seconds)
        try:
            measured = process.measure(asked, seconds=seconds)
        except WorkerFailedError as error:
            self._rest.failed(str(error))
            self._stop()
            if not self._closed:
                log.error("the scoring worker %s", error)  # noqa: TRY400 - says it all
            raise
        self._rest.succeeded()
        if process.has_outgrown(self._most_resident_bytes):
            log.warning("the scoring worker holds %d bytes: replaced", process.resident_bytes)
            self._stop()
        return measured

    def _started(self) -> WorkerProcess:
        with self._turn:
            if self._closed:
                raise WorkerFailedError("is closed")
            if self._process is None:
                self._process = WorkerProcess(self._settings, self._kinds)
            return self._process

    def _stop(self) -> None:
        with self._turn:
            if self._process is not None:
                self._process.kill()
            self._process = None

    def _broken(self, asked: Sequence[Asked], why: str) -> list[Measurement]:
        return [
            Measurement(broken=dict.fromkeys(sorted(each.wants & self.codes), why))
            for each in asked
        ]


class _Rest:
    """Keeps workers that die one after the other from being started at full speed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failures = 0
        self._until = 0.0
        self._why = ""

    def check(self) -> None:
        if (wait := self._until - self._now()) > 0:
            raise WorkerFailedError(
                f"{self._why}, {self._failures} times in a row; tried again in {wait:.0f} s"
            )

    def failed(self, why: str) -> None:
        self._failures += 1
        self._why = why
        over = self._failures - PATIENCE
        if over >= 0:
            rest = FIRST_REST_SECONDS * 2.0 ** min(over, 16)
            self._until = self._now() + min(rest, LONGEST_REST_SECONDS)

    def succeeded(self) -> None:
        self._failures, self._until = 0, 0.0


def _parts(asked: Sequence[Asked]) -> Iterator[Sequence[Asked]]:
    """Cut the answers into what one call measures."""
    part: list[Asked] = []
    characters = 0
    for each in asked:
        characters += _characters(each)
        if part and (len(part) == BATCH_ANSWERS or characters > BATCH_CHARACTERS):
            yield part
            part, characters = [], _characters(each)
        part.append(each)
    yield part


def _characters(asked: Asked) -> int:
    return len(asked.written) + len(asked.answer)
