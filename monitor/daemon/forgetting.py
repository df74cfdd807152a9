"""Forgetting what was kept: the same from the daemon that owns the store and without one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from monitor.canaries import MarkerRegistry
from monitor.canaries.registry import Entry
from monitor.clock import Clock
from monitor.reports.forget import ForgetReport, erased_report, found_report
from monitor.store import Store
from monitor.store.forget import Asked, Forgetting, OnErased

ERASED_WORDS = "rows erased"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """What to forget, and who asks. Nothing is erased unless ``erase`` is set.

    What open findings hold refuses the whole, or with ``keep_held`` is left out.
    """

    asked: Asked
    who: str
    erase: bool = False
    keep_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedStep:
    """How far an erasure has come: the table at work, and rows."""

    target: str
    words: str
    done: int
    total: int


def forget(
    store: Store, folder: Path, clock: Clock, request: Forget, on_erased: OnErased
) -> ForgetReport:
    """Say what there is, or erase it. ``folder`` is that of the store.

    Raises ``UsageError`` if the store never heard of it, and ``StoreError`` for an erasure that
    was broken off.
    """
    forgetting = Forgetting(store, folder, request.asked, clock)
    found = forgetting.found()
    report = found_report(request.asked, found, keep_held=request.keep_held)
    if not request.erase or report.refused or report.is_empty:
        return report
    erased = forgetting.erase(found, who=request.who, on_erased=on_erased)
    return erased_report(request.asked, found, erased, store.audit.head)


def forget_texts(registry: MarkerRegistry, asked: Asked) -> int:
    """Forget the texts of live markers that a process has in memory; return how many."""

    def is_meant(entry: Entry) -> bool:
        if asked.before is not None:
            return entry.minted_at < asked.before
        if asked.tenant:
            return entry.owner.tenant == asked.tenant
        return entry.owner.trial == asked.trial

    return registry.forget(is_meant)
