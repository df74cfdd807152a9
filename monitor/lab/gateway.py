"""The gateway in front of the engine: the steps a mechanism may replace there, each healthy.

It keeps one upstream connection for each request, gives each reply an id of its own, names the
model that was asked for, and passes every chunk on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from monitor.lab.jobs import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an answer ended, before the gateway says so."""

    reason: str
    has_calls: bool
    streamed: bool


def _closed(job: Job, *, streamed: bool) -> bool:
    """Return whether the connection of a client that hung up is kept, its reply unread."""
    return False


def _own_reply(job: Job, *, streamed: bool) -> str:
    """Return the id of the request whose reply the connection of this one brings."""
    return job.rid


def _own_id(job: Job) -> str:
    """Return the id that the reply says it has."""
    return job.rid


def _as_asked(model: str, job: Job) -> str:
    """Return the name of the model that the reply says it is of."""
    return model


def _as_ended(ending: Ending, job: Job) -> str:
    """Return the finish reason that is told."""
    return ending.reason


def _passed_on(job: Job, place: int) -> bool:
    """Return whether the chunk at this place of the content is sent."""
    return True


def _as_called(name: str, job: Job) -> str:
    """Return the name of a tool as the parser of calls reads it."""
    return name


def _as_wanted(stops: tuple[str, ...], job: Job) -> tuple[str, ...]:
    """Return what the answer ends at."""
    return stops


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySteps:
    """Every replaceable step of the gateway."""

    keeps_unread_reply: Callable[..., bool] = _closed
    reply_of: Callable[..., str] = _own_reply
    response_id: Callable[[Job], str] = _own_id
    name_model: Callable[[str, Job], str] = _as_asked
    finish_reason: Callable[[Ending, Job], str] = _as_ended
    passes_on: Callable[[Job, int], bool] = _passed_on
    name_call: Callable[[str, Job], str] = _as_called
    stops: Callable[[tuple[str, ...], Job], tuple[str, ...]] = _as_wanted
