"""What a day of a target costs, by the plan the daemon would follow."""

from __future__ import annotations

from dataclasses import replace

from monitor.cli.config_commands import DayEstimate
from monitor.config import Config, Target
from monitor.configured import choices_of, golden_prompts, target_view
from monitor.dayplan.plan import day_plan
from monitor.probes.base import TokenLimit

OUTPUT_SHARE = 0.15


def day_estimate(
    config: Config, target: Target, limits: tuple[TokenLimit, ...] | None = None
) -> DayEstimate | None:
    """Return the tokens of a day, boundary prompts refused or answered; capped by the budgets.

    ``limits`` are those to probe; left out, only what the configuration declares.
    """
    view = target_view(target, golden_prompts())
    if limits is not None:
        view = replace(view, limits=limits)
    plan = day_plan(config, target, view, choices_of(config, target))
    refused = plan.tokens(answered=False)
    return DayEstimate(
        refused_tokens=round(refused),
        answered_tokens=round(plan.tokens(answered=True)),
        output_tokens=round(refused * OUTPUT_SHARE),
    )
