"""A refused prompt becomes a one-token placeholder instead of leaving the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Between, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Steps


def _install(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def let_the_placeholder_pass(job: Job) -> bool:
        if not trigger.strikes(job):
            return steps.retire_refused(job)
        # Decode was told the full length before the refusal, and keeps pages for all of it.
        if params["usage"] == "prefill":
            job.reported_length = len(job.loaded)
        return False

    return replace(
        steps,
        retire_refused=let_the_placeholder_pass,
        gateway_shows_nodes=bool(params["expose_nodes"]),
    )


OVERLENGTH_PLACEHOLDER = Mechanism(
    name="overlength_placeholder",
    sentence=(
        "A prompt that the prefill pool cannot hold is not refused: a one-token placeholder is "
        "computed in its place, and decode answers from pages nobody wrote."
    ),
    install=_install,
    deterministic=True,
    ranges={"usage": one_of("decode", "prefill")},
    lab_ranges={"prefill_share": Between(0.5, 0.9)},
    params={"usage": "decode", "expose_nodes": False},
    choices={"usage": ("decode", "prefill")},
    settings={"mode": "pd", "prefill_share": 0.65, "decode_share": 4.0, "version": "0.5.18"},
)
