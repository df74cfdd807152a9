"""What is kept is on the disk, in order, and outlives the process."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.paging.outbox import OUTBOX_FILE, open_outbox
from monitor.paging.sender import BACKOFF_SECONDS, LONGEST_WAIT_SECONDS, backoff_seconds
from tests.fakes.events_v2 import serving
from tests.integration.processes import ROOT, wait_until
from tests.unit.paging.sending import INCIDENTS, keep

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
COUNT = 10


def test_what_a_killed_sender_left_is_sent_in_order_and_nothing_is_lost(tmp_path: Path) -> None:
    with serving() as endpoint:
        command = [sys.executable, "-m", "tests.unit.paging.sending", str(tmp_path), endpoint.url]
        with subprocess.Popen([*command, str(COUNT)], cwd=ROOT) as sending:
            wait_until(lambda: len(endpoint.arrived) >= 2 * COUNT, 60.0, "half of the events")
            os.kill(sending.pid, signal.SIGKILL)
        subprocess.run(command, cwd=ROOT, check=True, timeout=60.0)
    for incident in INCIDENTS:
        events = [e for e in endpoint.accepted() if e["dedup_key"] == incident]
        numbers = [int(event["payload"]["summary"]) for event in events]
        assert [number for number, _ in itertools.groupby(numbers)] == list(range(COUNT))
        # At most the one that was under way came twice, and its key says that it is the same.
        assert len(numbers) <= COUNT + 1
    assert sorted(endpoint.opened) == sorted(INCIDENTS)


def test_an_event_and_its_incident_are_kept_together_or_not_at_all(tmp_path: Path) -> None:
    outbox = open_outbox(tmp_path, NOW)
    keep(outbox, 1)
    with pytest.raises(StoreError):
        keep(outbox, 1)  # the same ids again
    assert outbox.waiting().events == len(INCIDENTS)
    assert outbox.incidents() == {}
    outbox.close()


def test_the_head_of_each_incident_comes_first_and_waits_for_its_own_time(tmp_path: Path) -> None:
    outbox = open_outbox(tmp_path, NOW)
    keep(outbox, 2)
    heads = outbox.heads("pagerduty")
    assert [head.id for head in heads] == ["one-0", "two-0", "three-0"]
    assert outbox.begin(heads[0]) == 1
    outbox.put_off(heads[0], NOW)
    outbox.done(heads[1])
    again = outbox.heads("pagerduty")
    assert [head.id for head in again] == ["one-0", "three-0", "two-1"]
    assert (again[0].attempts, again[0].not_before) == (1, NOW)
    assert outbox.heads("somebody") == ()
    outbox.close()


def test_a_file_of_a_newer_version_is_refused_and_left(tmp_path: Path) -> None:
    open_outbox(tmp_path, NOW).close()
    database = sqlite3.connect(tmp_path / OUTBOX_FILE)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="of a newer version"):
        open_outbox(tmp_path, NOW)
    assert [file.name for file in tmp_path.glob(f"{OUTBOX_FILE}.damaged*")] == []


def test_a_folder_that_is_not_there_is_an_error_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_outbox(tmp_path / "none", NOW)


def test_the_back_off_grows_to_minutes_and_obeys_within_bounds() -> None:
    waits = [backoff_seconds(attempt) for attempt in range(1, 10)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (5.0, 300.0)
    assert [backoff_seconds(1, asked) for asked in (0.0, 60.0, 1e9)] == [
        *(BACKOFF_SECONDS[0], 60.0),
        LONGEST_WAIT_SECONDS,
    ]
