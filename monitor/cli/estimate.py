"""What a day of a target costs, by the plan the daemon would follow."""

from __future__ import annotations

from random import Random

from monitor.app import choices_of, configured_limits, golden_prompts
from monitor.cli.config_commands import DayEstimate
from monitor.config import Config, Target
from monitor.daemon.scheduler import DAY_SECONDS, affordable_interval
from monitor.planning import plan_pass
from monitor.probes.base import BudgetKind, TargetView, TenantView

_OUTPUT_SHARE = 0.15


def day_estimate(config: Config, target: Target) -> DayEstimate | None:
    """Return the tokens of a day, boundary prompts refused or answered; capped by the budgets."""
    settings = config.for_target(target)
    view = TargetView(
        name=target.name,
        model=target.model,
        tenants=tuple(
            TenantView(name=t.name, isolation=t.isolation, donor=t.donor, victim=t.victim)
            for t in target.tenants
        ),
        limits=configured_limits(target),
        golden=tuple(golden_prompts().values()),
    )
    choices = choices_of(config, target)
    sharers = max(1, len(choices) - 1)
    refused = answered = 0.0
    for choice in choices:
        trials = plan_pass(view, [choice], rng=Random(0)).trials
        if not trials:
            continue
        boundary = trials[0].budget is BudgetKind.BOUNDARY
        cap = settings.boundary.tokens if boundary else settings.daily.tokens
        entry = next((e for e in target.entries if e.name == choice.name), None)
        interval = config.for_probe(target, entry).interval_seconds
        runs = DAY_SECONDS / affordable_interval(interval, trials, cap, sharers)
        refused += runs * sum(t.price.refused_tokens for t in trials) / len(trials)
        answered += runs * sum(t.price.answered_tokens for t in trials) / len(trials)
    return DayEstimate(
        refused_tokens=round(refused),
        answered_tokens=round(answered),
        output_tokens=round(refused * _OUTPUT_SHARE),
    )
