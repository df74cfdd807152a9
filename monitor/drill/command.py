"""A whole drill: choose, spread, sum up. What it wrote for itself is removed if all was told."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from monitor.clock import Clock
from monitor.drill.lab import mechanisms
from monitor.drill.plan import chosen, jobs
from monitor.drill.spread import spread
from monitor.errors import UsageError
from monitor.reports.drill import DrillReport, RunReport
from monitor.reports.drill_summary import Setting, summarise_drill

# Small enough for hundreds of passes; what is near a limit is so at any size.
CONTEXT_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a drill is asked to do. ``workers`` processes run side by side."""

    faults: str
    first_seed: int
    seeds: int
    profile: str
    whole: bool
    workers: int


OnStart = Callable[[int], None]
OnResult = Callable[[RunReport], None]


def drill(
    order: Order, clock: Clock, on_start: OnStart, on_result: OnResult
) -> tuple[DrillReport, Path | None]:
    """Run a drill; return its report, and its folder if something there explains a failure.

    Raises ``UsageError`` for what cannot be drilled and ``LabError`` if there is no lab.
    """
    if order.workers < 1:
        raise UsageError("no workers (use --jobs 1 or more)")
    drilled = chosen(mechanisms(), order.faults)
    work = jobs(
        drilled,
        range(order.first_seed, order.first_seed + order.seeds),
        profile=order.profile,
        context_tokens=CONTEXT_TOKENS,
        whole=order.whole,
    )
    started_at = clock.now()
    with contextlib.ExitStack() as cleaning:
        folder = Path(tempfile.mkdtemp(prefix="davylamp-drill-"))
        cleaning.callback(shutil.rmtree, folder, ignore_errors=True)
        on_start(len(work))
        runs = asyncio.run(spread(work, order.workers, folder, on_result))
        untold = any(not run.told for run in runs)
        if untold:
            cleaning.pop_all()
    setting = Setting(
        profile=order.profile,
        context_tokens=CONTEXT_TOKENS,
        first_seed=order.first_seed,
        seeds=order.seeds,
        started_at=started_at,
        finished_at=clock.now(),
    )
    return summarise_drill(setting, drilled, runs), folder if untold else None
