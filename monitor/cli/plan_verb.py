"""``davylamp plan``: what a day asks and costs, before anything is sent."""

from __future__ import annotations

import asyncio
import json as json_text
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from monitor.cli.calibrations import SetAside, set_aside
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.cli.plan_words import ASSUMPTIONS, PlannedTarget, plan_data, plan_lines
from monitor.clock import SystemClock
from monitor.config import Config, Target
from monitor.configured import (
    choices_of,
    golden_prompts,
    live_target,
    read_config,
    selected,
    target_view,
)
from monitor.dayplan.plan import day_plan
from monitor.limits import merged_limits
from monitor.planning import profile_choices
from monitor.probes.base import TargetView
from monitor.prompts import GoldenPrompt

app = typer.Typer(add_completion=False, rich_markup_mode=None)

PLAN_SCHEMA_VERSION = 1


@app.command()
def plan(
    target: Annotated[list[str] | None, typer.Argument(help="Targets; all if left out.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    profile: Annotated[
        str | None, typer.Option(help="quick, standard or deep, instead of the configured probes.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not ask targets for their limits (GET only).")
    ] = False,
    json: JsonOption = None,
) -> int:
    """Print what the daemon would ask in a day: how often, at what price, and what is left out.

    No prompt is sent. Exit 0, or 2 for usage or configuration.
    """
    settings = read_config(str(config))
    chosen = selected(settings, tuple(target or ()))
    aside = set_aside(settings, chosen, SystemClock())
    planned = asyncio.run(_plan_all(settings, chosen, profile, aside, offline=offline))
    if json:
        data = {
            "schema_version": PLAN_SCHEMA_VERSION,
            "configuration_hash": settings.hash,
            "profile": profile or "configured",
            "assumptions": list(ASSUMPTIONS),
            "targets": [plan_data(each) for each in planned],
        }
        write_text(json, json_text.dumps(data, indent=2))
    if json != "-":
        for each in planned:
            for line in plan_lines(each):
                typer.echo(line)
            typer.echo("")
        for assumption in ASSUMPTIONS:
            typer.echo(assumption)
    return 0


async def _plan_all(
    config: Config,
    targets: tuple[Target, ...],
    profile: str | None,
    aside: Mapping[str, SetAside],
    *,
    offline: bool,
) -> list[PlannedTarget]:
    golden = golden_prompts()
    return [
        await _plan(config, each, profile, golden, aside[each.name], offline=offline)
        for each in targets
    ]


async def _plan(
    config: Config,
    target: Target,
    profile: str | None,
    golden: Mapping[str, GoldenPrompt],
    aside: SetAside,
    *,
    offline: bool,
) -> PlannedTarget:
    choices = profile_choices(profile) if profile else choices_of(config, target)
    if offline:
        view = target_view(target, golden)
        notes: tuple[str, ...] = ("limits are those of the configuration alone",)
    else:
        view, notes = await _asked(config, target, golden)
    view = replace(view, quarantined=aside.prompts)
    return PlannedTarget(
        plan=day_plan(config, target, view, choices),
        model=target.model,
        price=target.price,
        notes=(*notes, *aside.notes),
    )


async def _asked(
    config: Config, target: Target, golden: Mapping[str, GoldenPrompt]
) -> tuple[TargetView, tuple[str, ...]]:
    """Return the target with the limits it states now."""
    live = live_target(config, target, golden, SystemClock())
    try:
        first = next(iter(live.credentials.values()), None)
        discovery = await live.engine.discover(credential=first)
    finally:
        await live.engine.aclose()
    limits = merged_limits(live.view.limits, discovery, target.model)
    return replace(live.view, limits=limits, engine=discovery.engine or ""), discovery.notes
