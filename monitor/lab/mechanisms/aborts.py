"""Faults that begin when a client goes away and others go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Between, Spread
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Steps

# Aborts need an answer that takes a while: two pools, a transfer between them, and slow turns.
_SLOW_TRANSFER: Mapping[str, Value] = {"mode": "pd", "transfer_turns": 4, "turn_seconds": 0.01}


def _length_stop(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    # What the aborted left behind: their row in the batch, or none if they were not there yet.
    left: list[int | None] = []

    def aborted(job: Job) -> None:
        steps.aborted(job)
        left.append(job.row if job.has_arrived else None)

    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        for job in joined:
            place = next((row for row in left if row is None or row == job.row), -1)
            if place == -1:
                continue
            left.remove(place)
            if trigger.strikes(job):
                job.finish_reason = "length"

    return replace(steps, aborted=aborted, assign_tables=assign)


def _late_write(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    return replace(steps, lands_late=trigger.strikes)


ABORT_AS_LENGTH = Mechanism(
    name="abort_as_length",
    sentence=(
        "The abort of a request whose client went away is left in its place in the batch, and the "
        "next request that takes the place ends at once, without text, as if it had met its "
        "limit."
    ),
    install=_length_stop,
    ranges={"rate": Spread(0.3, 1.0), "onset": Between(0, 8)},
    settings=_SLOW_TRANSFER,
    lab_ranges={"transfer_turns": Between(3, 6)},
)
ABORTED_PAGES_WRITTEN_LATE = Mechanism(
    name="aborted_pages_written_late",
    sentence=(
        "The pages of a request whose client went away are freed while a write to them is still "
        "under way, and it lands when the next request already owns them."
    ),
    install=_late_write,
    ranges={"rate": Spread(0.3, 1.0), "onset": Between(0, 8)},
    settings=_SLOW_TRANSFER,
    lab_ranges={"transfer_turns": Between(3, 6)},
)
