"""A process dies while it mints: what it acknowledged is in the chain, and no marker without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

from monitor.canaries.commitments import commitment
from monitor.store import open_store

ROUNDS = 6


def test_a_death_leaves_no_marker_without_its_link_and_no_link_without_its_markers(
    tmp_path: Path,
) -> None:
    folder, rng = tmp_path / "store", Random(5)
    acknowledged: set[str] = set()
    for _ in range(ROUNDS):
        command = [sys.executable, "-m", "tests.store_faults.minting_victim", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(rng.randrange(5, 200)):
                acknowledged.update(process.stdout.readline().split())
            process.kill()
            for line in process.stdout:
                # What was half said may be half an id.
                if line.endswith("\n"):
                    acknowledged.update(line.split())
        with open_store(folder) as store:
            assert store.audit.verify().whole
            rows = {row.id for row in store.reader.markers()}
            assert acknowledged <= rows
            kept = store.markers.unsealed(sorted(rows))
            assert len(kept) == len(rows)
            links = store.reader.audit_links_of(["mint"])
            committed = [each for link in links for each in json.loads(link.details)["markers"]]
            assert sorted(committed) == sorted(commitment(m.marker, m.salt) for m in kept)
    assert len(acknowledged) > ROUNDS
