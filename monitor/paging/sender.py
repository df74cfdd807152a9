"""Sending what the outbox holds to one receiver: in order within an incident, until it is taken."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from monitor.clock import Clock
from monitor.conventions.pages import PageOutcome
from monitor.errors import StoreError
from monitor.paging.outbox import Event, Outbox
from monitor.paging.receivers import TOO_MANY, Answer, Receiver
from monitor.store.rows import AnyRow, PageRow

log = logging.getLogger(__name__)

# After the n-th attempt. The first is soon: most endpoints that fail once do not fail twice.
BACKOFF_SECONDS = (5.0, 30.0, 60.0, 120.0, 300.0)
# A receiver that asks for more is asked again after this: a leak must not wait for a day.
LONGEST_WAIT_SECONDS = 900.0
AT_ONCE = 8


class Ledger(Protocol):
    """Where every attempt is entered."""

    def put(self, rows: Sequence[AnyRow], *, wait: bool = True) -> object:
        """Keep rows; raises ``StoreError`` if it takes none."""


Counted = Callable[[str, Event, PageOutcome], None]


def backoff_seconds(attempt: int, asked: float | None = None) -> float:
    """Return how long to wait after the n-th attempt (from 1): what is asked for, if sensible."""
    own = BACKOFF_SECONDS[min(attempt, len(BACKOFF_SECONDS)) - 1]
    return own if asked is None else min(max(asked, BACKOFF_SECONDS[0]), LONGEST_WAIT_SECONDS)


class Sender:
    """Delivers events to one receiver, and enters every attempt in the ledger."""

    def __init__(
        self,
        receiver: Receiver,
        outbox: Outbox,
        ledger: Ledger,
        clock: Clock,
        count: Counted,
    ) -> None:
        self._receiver = receiver
        self._outbox = outbox
        self._ledger = ledger
        self._clock = clock
        self._count = count
        self._left_alone_until: datetime | None = None

    async def deliver(self) -> float | None:
        """Send everything that is due; return the seconds until more is, ``None`` if none waits.

        Raises ``StoreError`` if the outbox cannot be used.
        """
        while True:
            heads = await asyncio.to_thread(self._outbox.heads, self._receiver.name)
            if not heads:
                return None
            waits = {head.id: self._wait_seconds(head) for head in heads}
            due = [head for head in heads if not waits[head.id]][:AT_ONCE]
            if not due:
                return min(waits.values())
            ended = await asyncio.gather(*map(self._send, due), return_exceptions=True)
            for error in ended:
                if error is not None:
                    raise error

    def _wait_seconds(self, head: Event) -> float:
        """Return how long an event waits yet; never long because the clock jumped back."""
        untils = [each for each in (head.not_before, self._left_alone_until) if each is not None]
        now = self._clock.now()
        waits = [(until - now).total_seconds() for until in untils]
        return max([0.0, *(wait for wait in waits if wait <= LONGEST_WAIT_SECONDS)])

    async def _send(self, event: Event) -> None:
        attempt = await asyncio.to_thread(self._outbox.begin, event)
        answer = await self._receiver.send(event.body)
        await asyncio.to_thread(self._settle, event, attempt, answer)

    def _settle(self, event: Event, attempt: int, answer: Answer) -> None:
        now = self._clock.now()
        enter(self._ledger, event, attempt, now, answer.outcome, answer.status)
        self._count(self._receiver.name, event, answer.outcome)
        what = f"{event.action} of {event.finding} ({event.severity}) for {event.receiver}"
        if answer.outcome is PageOutcome.FAILED:
            wait = backoff_seconds(attempt, answer.wait_seconds)
            until = now + timedelta(seconds=wait)
            log.warning(
                "page not delivered: %s: %s; attempt %d, the next in %.0f s",
                *(what, answer.problem, attempt, wait),
            )
            if answer.status == TOO_MANY:
                self._left_alone_until = until
            self._outbox.put_off(event, until)
            return
        if answer.outcome is PageOutcome.REJECTED:
            log.error(
                "page rejected, and never sent again: %s: %s (mend key or receiver, try `davylamp "
                "pages test`, restart: then it is said anew)",
                *(what, answer.problem),
            )
        else:
            log.info("page delivered: %s", what)
        self._outbox.done(event, rejected=answer.outcome is PageOutcome.REJECTED)


def enter(
    ledger: Ledger,
    event: Event,
    attempt: int,
    at: datetime,
    outcome: PageOutcome,
    status: int | None = None,
) -> None:
    """Enter an attempt in the ledger. A ledger that takes none keeps no page back."""
    row = PageRow(
        id=event.id,
        attempt=attempt,
        at=at,
        finding=event.finding,
        target=event.target,
        dedup_key=event.dedup_key,
        route=event.receiver,
        action=event.action.value,
        severity=event.severity.value,
        outcome=outcome.value,
        http_status=status,
    )
    try:
        ledger.put([row], wait=False)
    except StoreError as error:
        log.error("an attempt is missing in pages_sent: %s", error)  # noqa: TRY400 - our own words
