"""``probe now``: after a deploy, ask at the limits first, then more often for 24 hours."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.app import Installation
from monitor.checking import OnStep, Selection, run_check
from monitor.configured import choices_of, selected
from monitor.conventions import ChangeKind
from monitor.daemon.changes import Changes
from monitor.reports.check import CheckReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeNow:
    """What is asked for: a target, some of its probes or all, and what happened to it."""

    target: str
    probes: tuple[str, ...] = ()
    reason: ChangeKind = ChangeKind.DEPLOY


async def probe_now(
    installation: Installation, changes: Changes, asked: ProbeNow, on_step: OnStep
) -> CheckReport:
    """Run a quick pass with the limits first, within the day's budgets; then raise the rates.

    The rates are raised even if the pass comes to nothing. Raises ``UsageError`` for an unknown
    target or probe.
    """
    config = installation.config
    (target,) = selected(config, (asked.target,))
    configured = tuple(choice.name for choice in choices_of(config, target))
    selection = Selection(
        targets=(target.name,),
        probes=asked.probes or configured,
        profile="quick",
        limits_first=True,
    )
    try:
        return await run_check(installation, selection, on_step)
    finally:
        changes.note(target.name, asked.reason, installation.clock.now(), probed=True)
