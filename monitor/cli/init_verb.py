"""``davylamp init``: a first configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.config_commands import DayEstimate
from monitor.cli.config_verb import tell
from monitor.cli.estimate import day_estimate
from monitor.cli.init import init as write_template
from monitor.cli.init import init_from
from monitor.cli.options import DEFAULT_CONFIG, JsonOption
from monitor.clock import SystemClock
from monitor.config import Config, Target
from monitor.config.known import Known
from monitor.engines import ENGINES, engine_at
from monitor.engines.base import Discovery
from monitor.http import HttpClient, origin_of
from monitor.limits import configured_limits, merged_limits
from monitor.nodes.readers import NODE_ENGINES
from monitor.probes import PROBES

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def init(
    config: Annotated[Path, typer.Option("--config", "-c", help="File to write.")] = DEFAULT_CONFIG,
    source: Annotated[
        str | None, typer.Option("--from", help="Ask this URL (its /v1) what it serves.")
    ] = None,
    key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds a key for --from.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
    json: JsonOption = None,
) -> int:
    """Write a commented davylamp.yaml; with --from, propose targets, price and what is left out."""
    if source is None:
        return tell(write_template(config, force=force), json)
    told: list[Discovery] = []

    async def ask(url: str, key: str | None) -> Discovery:
        told.append(await _ask(url, key))
        return told[-1]

    def estimate(settings: Config, target: Target) -> DayEstimate | None:
        limits = merged_limits(configured_limits(target), told[-1], target.model)
        return day_estimate(settings, target, limits)

    report = asyncio.run(
        init_from(
            source,
            config,
            discover=ask,
            known=Known(engines=ENGINES, probes=PROBES, node_engines=NODE_ENGINES),
            key_env=key_env,
            force=force,
            estimate=estimate,
        )
    )
    return tell(report, json)


async def _ask(url: str, key: str | None) -> Discovery:
    http = HttpClient(origins=frozenset({origin_of(url)}), clock=SystemClock())
    engine = ENGINES[engine_at(url)](base_url=url, model="", http=http)
    try:
        return await engine.discover(credential=key)
    finally:
        await engine.aclose()
