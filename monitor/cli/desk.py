"""Which desk answers: the daemon's if it owns the store, else one over the store itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.daemon.client import DaemonDesk
from monitor.daemon.desk import Desk, own_desk
from monitor.store import owner_of


@contextmanager
def open_desk(config: Path) -> Iterator[Desk]:
    """Give the desk of an installation. Raises ``StoreBusyError`` if its owner is silent."""
    settings = read_config(str(config))
    owner = owner_of(settings.storage_path)
    if owner is not None and owner.url is not None:
        yield DaemonDesk(settings, owner)
        return
    with own_desk(settings, SystemClock()) as desk:
        yield desk
