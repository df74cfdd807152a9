"""From the bodies of a trial to the trial; or why it cannot be judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from monitor.errors import StoreError
from monitor.model import Timing, Trial, Verdict
from monitor.store.bodies import Opener
from monitor.store.exchange_text import Kept, kept_of
from monitor.store.rows import BodyRow

_LONGEST = timedelta(days=30)


class Missing(StrEnum):
    """Why a trial cannot be judged again."""

    SEALED = "sealed"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """A trial as it was judged, and in which run of Davylamp that was."""

    trial: Trial
    process: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOpened:
    """A trial that cannot be judged again. ``detail`` is the other key, or our words for why."""

    why: Missing
    detail: str = ""


def reopened(verdict: Verdict, rows: Sequence[BodyRow], opener: Opener) -> Reopened | NotOpened:
    """Return the trial a verdict is about, put together from the bodies of its exchanges.

    It is whole or not there: a trial with an exchange missing would be judged for what it lacks.
    """
    if not rows:
        return NotOpened(why=Missing.ABSENT)
    others = sorted({row.key_id for row in rows} - {opener.key_id})
    if others:
        return NotOpened(why=Missing.SEALED, detail=others[0])
    try:
        kept = [_opened(row, opener) for row in sorted(rows, key=lambda row: row.exchange)]
    except StoreError as error:
        return NotOpened(why=Missing.UNREADABLE, detail=_reason(error))
    first = kept[0]
    if any(_whole(each) != _whole(first) for each in kept) or not _fits(first.trial, verdict):
        return NotOpened(why=Missing.UNREADABLE, detail="bodies that are not of one trial")
    if len(kept) != first.count:
        return NotOpened(why=Missing.ABSENT)
    exchanges = tuple(each.exchange for each in kept)
    return Reopened(trial=replace(first.trial, exchanges=exchanges), process=first.process)


class _UnreadableError(StoreError):
    """A body that opens to something else; the message has no id in it, so that it is counted."""


def _opened(row: BodyRow, opener: Opener) -> Kept:
    text = opener.open(row.sealed, row.trial, row.exchange)
    try:
        kept = kept_of(text)
    except StoreError as error:
        raise _UnreadableError(str(error)) from None
    if (kept.trial.id, kept.exchange.index) != (row.trial, row.exchange):
        raise _UnreadableError("a body that holds another exchange")
    if not _can_be(kept.exchange.timing, row.stored_at):
        raise _UnreadableError("a body with times that cannot be")
    return kept


def _can_be(timing: Timing, stored_at: datetime) -> bool:
    """True for times one can reckon with: whoever has the public key can seal anything."""
    is_near = abs(stored_at - timing.started_at) <= _LONGEST
    return is_near and 0 <= timing.total_seconds <= _LONGEST.total_seconds()


def _reason(error: StoreError) -> str:
    if isinstance(error, _UnreadableError):
        return str(error)
    return "sealed to another key or in another place, or changed since"


def _whole(kept: Kept) -> tuple[Trial, int, str]:
    return (kept.trial, kept.count, kept.process)


def _fits(trial: Trial, verdict: Verdict) -> bool:
    """True if the verdict can be about this trial."""
    named = ("target", "model", "probe", "shape", "stratum")
    return all(getattr(trial, name) == getattr(verdict, name) for name in named)
