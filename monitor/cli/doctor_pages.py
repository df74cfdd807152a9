"""Could a page be sent, and does none wait: nothing is sent to see it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, unknown, warn
from monitor.errors import ConfigError, StoreError
from monitor.paging.outbox import waiting_in
from monitor.paging.receivers import receivers_of

# Longer than every back-off but the one a receiver asks for.
_WAITING_SECONDS = 600.0


async def check_pages(around: Surroundings) -> AsyncIterator[Line]:
    """See that every receiver has what it takes to be told, and that no event waits for long."""
    pages = around.config.settings.pages
    if not pages.receivers:
        return
    try:
        receivers = receivers_of(around.config, around.clock, around.environ)
    except ConfigError as error:
        yield fail("pages", error.problem, error.remedy or "mend the section pages")
        return
    for receiver in receivers:
        await receiver.aclose()
        yield ok(f"pages {receiver.name}", "can be told (davylamp pages test shows that it is)")
    for line in check_outbox(around):
        yield line


def check_outbox(around: Surroundings) -> Iterator[Line]:
    """See that no event of a page waits for long."""
    try:
        waiting = waiting_in(around.config.storage_path)
    except StoreError as error:
        yield unknown("outbox", str(error), "ask as the user that runs us")
        return
    if waiting is None:
        return
    now = around.clock.now()
    seconds = (now - waiting.oldest).total_seconds() if waiting.oldest is not None else 0.0
    if seconds < _WAITING_SECONDS:
        yield ok("outbox", "no event of a page waits for long")
        return
    said = f"events of pages wait: {waiting.events}, the oldest for {seconds / 60:.0f} minutes"
    yield warn("outbox", said, "see that a daemon runs, and what its log says of the receiver")
