"""Faults of batching: who reads whose block table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Chance, Mechanism, Value
from monitor.lab.steps import Steps


def _rotate(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    rate = float(params["rate"])

    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        members = [*running, *joined]
        if not joined or len(members) == 1 or not chance.hits(joined[0].number, rate):
            return
        # The running ones have their answers; whoever joins reads the table before its own.
        for place, job in enumerate(joined, len(running)):
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
    params={"rate": 1.0},
)
