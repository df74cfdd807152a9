"""A page that asks nothing of anybody, to see that pages arrive: ``davylamp pages test``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.clock import Clock
from monitor.config import Config
from monitor.conventions.pages import PageAction, PageOutcome
from monitor.paging.receivers import Answer, Receiver, receivers_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One event that was sent to one receiver, and what it answered."""

    receiver: str
    action: PageAction
    dedup_key: str
    answer: Answer


async def try_pages(config: Config, clock: Clock, test_id: str, *, keep: bool) -> tuple[Tried, ...]:
    """Send every receiver a trigger under a key of its own and, unless ``keep``, its resolve.

    What is not accepted is not resolved. Raises ``ConfigError`` as ``receivers_of`` does.
    """
    receivers = receivers_of(config, clock)
    key = f"davylamp/v1/{config.environment}/pages-test/{test_id}"
    actions = (PageAction.TRIGGER,) if keep else (PageAction.TRIGGER, PageAction.RESOLVE)
    tried: list[Tried] = []
    for receiver in receivers:
        try:
            tried += await _try(receiver, config, clock, key, actions)
        finally:
            await receiver.aclose()
    return tuple(tried)


async def _try(
    receiver: Receiver, config: Config, clock: Clock, key: str, actions: Sequence[PageAction]
) -> list[Tried]:
    tried: list[Tried] = []
    for action in actions:
        body = receiver.trial(action, key, config.environment, clock.now())
        answer = await receiver.send(body)
        tried.append(Tried(receiver=receiver.name, action=action, dedup_key=key, answer=answer))
        if answer.outcome is not PageOutcome.ACCEPTED:
            break
    return tried
