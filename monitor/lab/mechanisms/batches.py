"""Faults of batching: who reads whose block table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Spread, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.pages import Slots
from monitor.lab.steps import Steps

_SIZES = {"two_and_sixteen": frozenset({2, 16})}


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


def _shift(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    above, sizes = int(params["above"]), _SIZES.get(str(params["sizes"]))
    shifted: set[int] = set()

    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        size = len(joined) + len(running)
        if size in sizes if sizes else size > above:
            shifted.update(job.number for job in joined if trigger.strikes(job))

    def view(slots: Slots, job: Job) -> Slots:
        slots = steps.read_slots(slots, job)
        if job.number not in shifted:
            return slots
        # The last quarter of every page is read one slot too early.
        size = slots.page_size
        late = [place % size >= size - size // 4 for place in range(len(slots))]
        return slots.seen_as([place - 1 if off else place for place, off in enumerate(late)])

    return replace(steps, assign_tables=assign, read_slots=view)


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
BATCH_ROWS_SHIFTED = Mechanism(
    name="batch_rows_shifted",
    sentence=(
        "In a batch of more than so many members, or of exactly two or sixteen, part of every "
        "page is read one slot off, so numbers and codes are lost or altered."
    ),
    install=_shift,
    params={"above": 4, "sizes": "above"},
    choices={"sizes": ("above", *_SIZES)},
    ranges={
        "rate": Spread(0.3, 1.0),
        "above": one_of(2, 3, 5, 12),
        "sizes": one_of("above", "above", "two_and_sixteen"),
    },
)
