"""Faults of batching: who reads whose block table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Spread
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Steps


def _rotate(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        members = [*running, *joined]
        if len(members) == 1:
            return
        # The running ones have their answers; whoever joins reads the table before its own.
        for place, job in enumerate(joined, len(running)):
            if trigger.strikes(job, joined[0].number):
                other = members[place - 1]
                job.read_table, job.read_length = other.table, other.length

    return replace(steps, assign_tables=assign)


BATCH_CROSSED = Mechanism(
    name="batch_crossed",
    sentence=(
        "When two or more requests decode in one batch, their block tables are rotated among "
        "them, so each member reads another's pages."
    ),
    install=_rotate,
    ranges={"rate": Spread(0.1, 1.0)},
    params={"rate": 1.0},
)
