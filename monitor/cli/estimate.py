"""What a day of a target costs, by the plan the daemon would follow."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from monitor.app import choices_of, golden_prompts, target_view
from monitor.cli.config_commands import DayEstimate
from monitor.config import Config, Target
from monitor.daemon.scheduler import DAY_SECONDS, probe_interval
from monitor.planning import plan_pass
from monitor.probes.base import TokenLimit

_OUTPUT_SHARE = 0.15


def day_estimate(
    config: Config, target: Target, limits: tuple[TokenLimit, ...] | None = None
) -> DayEstimate | None:
    """Return the tokens of a day, boundary prompts refused or answered; capped by the budgets.

    ``limits`` are those to probe; left out, only what the configuration declares.
    """
    view = target_view(target, golden_prompts())
    if limits is not None:
        view = replace(view, limits=limits)
    refused = answered = 0.0
    for choice in choices_of(config, target):
        trials = plan_pass(view, [choice], rng=Random(0)).trials
        if not trials:
            continue
        runs = DAY_SECONDS / probe_interval(config, target, choice.name, trials)
        refused += runs * sum(t.price.refused_tokens for t in trials) / len(trials)
        answered += runs * sum(t.price.answered_tokens for t in trials) / len(trials)
    return DayEstimate(
        refused_tokens=round(refused),
        answered_tokens=round(answered),
        output_tokens=round(refused * _OUTPUT_SHARE),
    )
