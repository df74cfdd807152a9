"""A process that keeps markers until it is killed, and says of each when it is acknowledged.

Run as ``python -m tests.store_faults.minting_victim FOLDER``.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

from monitor.canaries import MarkerRegistry, Minter
from monitor.clock import SystemClock
from monitor.store import WriterLimits, open_store
from tests.unit.store.samples import owner


def main(folder: str) -> None:
    """Mint until killed."""
    store = open_store(Path(folder), limits=WriterLimits(batch_rows=40, batch_seconds=0.02))
    registry = MarkerRegistry(store.key)
    minter, clock = Minter(store.key, registry), SystemClock()
    for number in count():
        of = replace(owner(), trial=f"trial-{number}")
        ids = [minter.mint(of, clock.now()).id for _ in range(number % 4 + 1)]
        store.markers.save(registry.take_unsaved())
        os.write(1, (" ".join(ids) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
