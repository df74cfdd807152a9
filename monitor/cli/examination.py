"""How a finding is examined: by the daemon that owns the store, else by this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

from monitor.app import Installation, open_installation
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.daemon.client import localise_through_daemon, verify_finding_through_daemon
from monitor.examining import (
    ExaminationStep,
    Localise,
    OnExaminationStep,
    Verify,
    localise_finding,
    verify_finding,
)
from monitor.reports.localisation import LocalisationReport
from monitor.reports.terminal import printable
from monitor.reports.verification import VerificationReport
from monitor.store import StoreOwner
from monitor.store.lock import owner_of

A = TypeVar("A")
R = TypeVar("R")
ThroughDaemon = Callable[[Config, StoreOwner, A, OnExaminationStep], R]
Alone = Callable[[Installation, A, OnExaminationStep], Awaitable[R]]


def verified(config: Config, asked: Verify, *, quiet: bool) -> VerificationReport:
    """Return what replays prove. Raises as ``verify_finding``, and ``StoreBusyError``."""
    return _examined(config, asked, verify_finding_through_daemon, verify_finding, quiet)


def localised(config: Config, asked: Localise, *, quiet: bool) -> LocalisationReport:
    """Return where a fault shows. Raises as ``localise_finding``, and ``StoreBusyError``."""
    return _examined(config, asked, localise_through_daemon, localise_finding, quiet)


def _examined(
    config: Config, asked: A, through: ThroughDaemon[A, R], alone: Alone[A, R], quiet: bool
) -> R:
    on_step = _show_nothing if quiet else _show
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return through(config, owner, asked, on_step)
    return asyncio.run(_alone(config, asked, alone, on_step))


async def _alone(config: Config, asked: A, alone: Alone[A, R], on_step: OnExaminationStep) -> R:
    installation = open_installation(config, SystemClock())
    try:
        return await alone(installation, asked, on_step)
    finally:
        await installation.aclose()


def _show(step: ExaminationStep) -> None:
    counted = f" {step.done}/{step.total}" if step.total else ""
    sys.stderr.write(printable(f"{step.target}{counted} {step.words}") + "\n")
    sys.stderr.flush()


def _show_nothing(step: ExaminationStep) -> None:
    """Say nothing: the JSON on stdout is all that was asked for."""
