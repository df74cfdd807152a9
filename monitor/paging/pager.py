"""The pager: after every change of a finding, what its incidents should say is kept and sent.

``reconcile`` compares what should be said with what was, for every open finding and every incident;
it needs to know nothing of what changed, so it runs at the start, after each change, and now and
then: a maintenance may have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from monitor.clock import Clock, new_id
from monitor.config import Config
from monitor.conventions.pages import PageAction, PageOutcome
from monitor.errors import StoreError
from monitor.findings import Finding, Findings
from monitor.paging.evidence import Evidence
from monitor.paging.message import Message, message_of
from monitor.paging.outbox import Event, Incident, Outbox
from monitor.paging.policy import PagePolicy, severity_of
from monitor.paging.receivers import Receiver
from monitor.paging.reconcile import decision_of, due, told_of
from monitor.paging.sender import Counted, Ledger, Sender, enter

log = logging.getLogger(__name__)

RECONCILE_SECONDS = 30.0
# A verdict's rows are kept a moment after its finding; changes of one moment are said at once.
SETTLE_SECONDS = 0.2
# Whoever cannot be told now is told at the next start; stopping waits no longer.
FINISH_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the pager looks at, and whom it tells.

    ``closed`` returns a finding that was closed before the start, or raises ``StoreError``;
    ``evidence`` what is known of trials, and must not raise. Neither waits long: what is said
    meanwhile waits for them.
    """

    config: Config
    policy: PagePolicy
    findings: Findings
    closed: Callable[[str], Finding | None]
    evidence: Callable[[Sequence[str]], Evidence]
    ledger: Ledger
    outbox: Outbox
    receivers: Sequence[Receiver]


class Pager:
    """Tells receivers of findings. Give ``notice`` to ``Findings.listen``, then ``run``."""

    def __init__(self, told: Told, clock: Clock, count: Counted) -> None:
        self._told = told
        self._clock = clock
        self._count = count
        self._senders = [
            Sender(each, told.outbox, told.ledger, clock, count) for each in told.receivers
        ]
        self._changed = asyncio.Event()
        self._kept = {sender: asyncio.Event() for sender in self._senders}
        self._wake: Callable[[], None] = self._changed.set
        self._wake_senders: Callable[[], None] = lambda: None
        self._missing: set[str] = set()
        # A look that was cancelled may still be under way in its thread when the last one begins.
        self._looking = threading.Lock()

    def notice(self) -> None:
        """Look soon at what findings ask for; from any thread."""
        self._wake()

    async def run(self) -> None:
        """Reconcile and send until cancelled; what cannot be done now is tried again."""
        loop = asyncio.get_running_loop()
        self._wake = partial(_set_in, loop, self._changed)
        self._wake_senders = partial(_set_in, loop, *self._kept.values())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reconciling())
            for sender in self._senders:
                tasks.create_task(self._delivering(sender))

    async def finish(self) -> None:
        """Say what the last trials asked for, if that can be done at once."""
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(FINISH_SECONDS):
                await self._look()
                await self.deliver()

    async def aclose(self) -> None:
        """Close connections and outbox."""
        for receiver in self._told.receivers:
            await receiver.aclose()
        self._told.outbox.close()

    async def deliver(self) -> list[float | None]:
        """Send to every receiver what is due; return the seconds until more is."""
        return await asyncio.gather(*(sender.deliver() for sender in self._senders))

    async def _reconciling(self) -> None:
        while True:
            self._changed.clear()
            await self._look()
            await self._until(self._changed, RECONCILE_SECONDS)
            await self._clock.sleep(SETTLE_SECONDS)

    async def _look(self) -> None:
        """Reconcile; what was kept before that failed is there to be sent."""
        try:
            await asyncio.to_thread(self.reconcile)
        except StoreError as error:
            log.error("findings cannot be reconciled with pages: %s", error)  # noqa: TRY400

    async def _delivering(self, sender: Sender) -> None:
        kept = self._kept[sender]
        while True:
            kept.clear()
            try:
                wait = await sender.deliver()
            except StoreError as error:
                log.error("pages cannot be sent: %s", error)  # noqa: TRY400 - words of ours
                wait = RECONCILE_SECONDS
            await self._until(kept, RECONCILE_SECONDS if wait is None else wait)

    async def _until(self, event: asyncio.Event, seconds: float) -> None:
        """Return once an event is set, or so much later."""
        waits = [
            asyncio.ensure_future(event.wait()),
            asyncio.ensure_future(self._clock.sleep(seconds)),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    def reconcile(self) -> int:
        """Keep an event for whatever should be said and was not; return how many.

        Each is sent while the next is looked for. A closed finding that the store does not tell
        of now is looked up again the next time. Raises ``StoreError`` if the outbox cannot be used.
        """
        with self._looking:
            return self._reconcile()

    def _reconcile(self) -> int:
        said = self._told.outbox.incidents()
        now = self._clock.now()
        open_findings = {finding.id: finding for finding in self._told.findings.list_open()}
        kept = sum(self._say(finding, said, now) for finding in open_findings.values())
        closed = {each.finding for each in said.values()} - open_findings.keys()
        return kept + sum(self._say(finding, said, now) for finding in self._closed(sorted(closed)))

    def _closed(self, finding_ids: Iterable[str]) -> Iterator[Finding]:
        """Yield those findings that can be looked up now; which cannot is said at the end."""
        refused: list[StoreError] = []
        for finding_id in finding_ids:
            try:
                found = self._look_up(finding_id)
            except StoreError as error:
                refused.append(error)
                continue
            if found is not None:
                yield found
        if refused:
            log.error("%d closed findings are looked up later: %s", len(refused), refused[0])

    def _look_up(self, finding_id: str) -> Finding | None:
        """Return a finding that is not open; none, loudly and asking but once, if it is unknown."""
        found = self._told.findings.find(finding_id)
        if found is not None or finding_id in self._missing:
            return found
        found = self._told.closed(finding_id)
        if found is None:
            self._missing.add(finding_id)
            log.warning("the store no longer knows %s: resolve its incident by hand", finding_id)
        return found

    def _say(
        self, finding: Finding, said: Mapping[tuple[str, str], Incident], now: datetime
    ) -> int:
        direct, held = self._told.policy.is_direct(finding), self._told.policy.holds(finding, now)
        message: Message | None = None
        kept = 0
        for receiver in self._told.receivers:
            before = said.get((receiver.name, finding.id))
            for action in due(finding, before, direct=direct, held=held):
                message = message or self._message(finding)
                self._keep(receiver, action, finding, message, before)
                kept += 1
        return kept

    def _message(self, finding: Finding) -> Message:
        return message_of(finding, self._told.evidence(finding.trials), self._told.config)

    def _keep(
        self,
        receiver: Receiver,
        action: PageAction,
        finding: Finding,
        message: Message,
        before: Incident | None,
    ) -> None:
        event_id, now = new_id("page"), self._clock.now()
        # An incident keeps the key it was opened under, whatever the environment is called by now.
        key = message.dedup_key if before is None else before.dedup_key
        incident = Incident(
            receiver=receiver.name,
            finding=finding.id,
            target=finding.target,
            dedup_key=key,
            told=told_of(finding),
            decision=decision_of(finding),
        )
        event = Event(
            id=event_id,
            receiver=receiver.name,
            finding=finding.id,
            target=finding.target,
            dedup_key=key,
            action=action,
            severity=severity_of(finding),
            body=receiver.body(action, message, event_id, now),
            made_at=now,
        )
        over = action is PageAction.RESOLVE
        self._told.outbox.enqueue(event, None if over else incident)
        self._wake_senders()

    def start(self) -> None:
        """Let go of what belongs to receivers that are told no more; say anew what was rejected.

        Raises ``StoreError`` if the outbox cannot be used.
        """
        outbox, names = self._told.outbox, {each.name for each in self._told.receivers}
        for gone in sorted(outbox.receivers() - names):
            while heads := outbox.heads(gone):
                for event in heads:
                    self._drop(event)
            outbox.forget_incidents_of(gone)
        anew = outbox.forget_rejected()
        if anew:
            log.warning("%d incidents were rejected before: they are said anew", anew)

    def _drop(self, event: Event) -> None:
        log.error(
            "page dropped: %s of %s was for %s, who is not configured any more",
            *(event.action.value, event.finding, event.receiver),
        )
        ledger, outcome = self._told.ledger, PageOutcome.DROPPED
        enter(ledger, event, event.attempts + 1, self._clock.now(), outcome)
        self._count(event.receiver, event, outcome)
        self._told.outbox.done(event)


def _set_in(loop: asyncio.AbstractEventLoop, *events: asyncio.Event) -> None:
    """Set events from any thread; nobody waits for them once the loop is closed."""
    with contextlib.suppress(RuntimeError):
        for event in events:
            loop.call_soon_threadsafe(event.set)
