"""A process that sends, to be killed: ``python -m tests.unit.paging.sending FOLDER URL [COUNT]``.

With COUNT it first keeps so many events of each of three incidents.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from monitor.clock import SystemClock
from monitor.conventions.pages import PageAction, Severity
from monitor.http import HttpClient, origin_of
from monitor.paging.bodies import encoded
from monitor.paging.outbox import Event, Outbox, open_outbox
from monitor.paging.receivers import PagerDutyReceiver
from monitor.paging.sender import Sender
from tests.fakes.events_v2 import ROUTING_KEY

INCIDENTS = ("one", "two", "three")


class NoLedger:
    """Keeps nothing."""

    def put(self, rows: object, *, wait: bool = True) -> None:
        """Keep nothing."""


def keep(outbox: Outbox, count: int) -> None:
    """Keep so many numbered events of each incident, in turn."""
    for number in range(count):
        for incident in INCIDENTS:
            payload = {"summary": str(number), "source": incident, "severity": "critical"}
            body = {"event_action": "trigger", "dedup_key": incident, "payload": payload}
            event = Event(
                id=f"{incident}-{number}",
                receiver="pagerduty",
                finding=incident,
                target="glm",
                dedup_key=incident,
                action=PageAction.TRIGGER,
                severity=Severity.CRITICAL,
                body=encoded(body),
                made_at=SystemClock().now(),
            )
            outbox.enqueue(event, None)


async def send(outbox: Outbox, url: str) -> None:
    """Send until nothing waits."""
    clock = SystemClock()
    client = HttpClient(origins=frozenset({origin_of(url)}), clock=clock)
    receiver = PagerDutyReceiver(url=url, routing_key=ROUTING_KEY, client=client, clock=clock)
    sender = Sender(receiver, outbox, NoLedger(), clock, lambda *_: None)
    assert await sender.deliver() is None
    await receiver.aclose()


def main(folder: str, url: str, count: str = "0") -> None:
    """Keep, then send."""
    outbox = open_outbox(Path(folder), SystemClock().now())
    keep(outbox, int(count))
    asyncio.run(send(outbox, url))
    outbox.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
