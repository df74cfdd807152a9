"""Faults that come with time: state that decays as requests are served, logits that turn to NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Between, Spread, one_of
from monitor.lab.jobs import Job, OutputToken
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.pages import PagePool, Slots
from monitor.lab.steps import Steps
from monitor.lab.tokenizer import FIRST_ROW


def _decay(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    positions, pace = int(params["positions"]), float(params["pace"])
    damaged: set[int] = set()

    def served(job: Job, pool: PagePool) -> None:
        steps.after_prefill(job, pool)
        rng = trigger.rng(-job.number)
        if job.number > int(params["onset"]) and rng.random() < pace:
            # From the second on, so that a position has one before it.
            damaged.add(rng.randrange(1, positions))

    def view(slots: Slots, job: Job) -> Slots:
        slots = steps.read_slots(slots, job)
        bad = [place for place in damaged if place < len(slots)]
        if not bad or not trigger.strikes(job):
            return slots
        seen = list(range(len(slots)))
        for place in bad:
            seen[place] = place - 1
        return slots.seen_as(seen)

    return replace(steps, after_prefill=served, read_slots=view)


def _all_equal(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        return replace(token, token=FIRST_ROW) if trigger.strikes(job) else token

    return replace(steps, sample=sample)


DECAY = Mechanism(
    name="decay",
    sentence=(
        "Each request served may damage one more position of a table that all requests share, and "
        "what stands there is read as what stands before it; a restart mends it."
    ),
    install=_decay,
    params={"pace": 0.5, "positions": 256},
    ranges={"pace": Spread(0.2, 1.0), "positions": one_of(128, 256, 512)},
)
NAN_AFTER = Mechanism(
    name="nan_after",
    sentence=(
        "From some request on all logits are alike, and the sampler prints the first row of the "
        "vocabulary to the limit."
    ),
    install=_all_equal,
    ranges={"onset": Between(0, 40)},
)
