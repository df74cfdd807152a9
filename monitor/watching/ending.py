"""An alarm that a person ends: which one, how its stream stands then, and the link that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from monitor.checks import CHECKS_VERSION
from monitor.detect.watch import resolved
from monitor.errors import UsageError
from monitor.model import Lane
from monitor.store import Action
from monitor.store.audit import AuditLog
from monitor.streams import StreamKey
from monitor.watching.kept import row_of
from monitor.watching.standing import Standing

# Enough places to see how they differ.
_SHOWN_PLACES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Which alarm of a target is to end, who says so, and why. What is ``None`` is any."""

    target: str
    who: str
    why: str
    probe: str | None = None
    stratum: str | None = None
    lane: Lane | None = None

    def means(self, key: StreamKey) -> bool:
        """True if the alarm of this stream may be the one."""
        return (
            key.target == self.target
            and self.probe in (None, key.probe)
            and self.stratum in (None, key.stratum)
            and self.lane in (None, key.lane)
        )


def alarm_of(standings: Iterable[Standing], ending: Ending) -> Standing:
    """Return the stream whose alarm is meant.

    Raises ``UsageError`` if there is none, if there are several, and without a name or a reason.
    """
    if not (ending.who.strip() and ending.why.strip()):
        msg = f"{ending.target}: say who ends the alarm and why (--who, --why)"
        raise UsageError(msg)
    found = [s for s in standings if s.watch.alarm is not None and ending.means(s.key)]
    if not found:
        msg = f"{ending.target}: no such alarm (davylamp evidence show {ending.target})"
        raise UsageError(msg)
    if len(found) > 1:
        places = sorted(place_of(each.key) for each in found)
        shown = ", ".join(
            [*places[:_SHOWN_PLACES], *(["…"] if len(places) > _SHOWN_PLACES else [])]
        )
        msg = f"several alarms, say which by --probe, --stratum and --lane: {shown}"
        raise UsageError(msg)
    return found[0]


def ended(standing: Standing, now: datetime) -> Standing:
    """Return a stream without its alarm, begun anew."""
    return standing.after(resolved(standing.watch), now, sent=standing.sent)


def keep_ended(audit: AuditLog, before: Standing, ending: Ending, now: datetime) -> None:
    """Keep a stream without its alarm, together with a link of the audit chain.

    The link has a keyed hash of the reason. Raises ``StoreError`` if nothing was kept.
    """
    alarm = before.watch.alarm
    after = ended(before, now)
    audit.append(
        Action.END_ALARM,
        place_of(before.key),
        actor=ending.who,
        at=now,
        details={
            "target": before.key.target,
            "tier": alarm.tier.name.lower() if alarm else "",
            "version": after.version,
            "why": audit.private(ending.why),
        },
        rows=[row_of(after, CHECKS_VERSION, now)],
    )


def place_of(key: StreamKey) -> str:
    """Return a stream in words."""
    return place(key.target, key.probe, key.stratum, key.lane.value)


def place(target: str, probe: str, stratum: str, lane: str) -> str:
    """Return a stream in words; what it pools is left out."""
    return " ".join(part for part in (target, probe, stratum, lane) if part)
