"""Made-up runs of a drill. Nothing here decides or counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from monitor.reports.drill import (
    BaselineReport,
    ClaimReport,
    FirstReport,
    RunReport,
    SpentReport,
)
from monitor.reports.drill_summary import Drilled, Setting

SETTING = Setting(
    profile="standard",
    context_tokens=4096,
    first_seed=1000,
    seeds=2,
    started_at=datetime(2026, 11, 2, 12, tzinfo=UTC),
    finished_at=datetime(2026, 11, 2, 12, 5, tzinfo=UTC),
)
CERTAIN = Drilled(name="certain", null=False, deterministic=True)
RARE = Drilled(name="rare", null=False)
QUIET = Drilled(name="quiet", null=True)


def a_first(*, hard: bool = True, verdict_class: str = "LEAK") -> FirstReport:
    return FirstReport(
        verdict_class=verdict_class,
        hard=hard,
        probe="burst",
        stratum="mixed/c2/cold/both/pair",
        words="the answer carries another tenant's text, proven",
        seconds=1.25,
        exchanges=20,
        tokens=3000,
    )


def a_claim(*, foreign: bool = True, right_owner: bool | None = True) -> ClaimReport:
    return ClaimReport(
        verdict_class="LEAK",
        probe="burst",
        stratum="mixed/c2/cold/both/pair",
        tenant="tenant-b",
        owner_tenant=None if right_owner is None else "tenant-a",
        writers=["tenant-a"] if foreign else [],
        foreign=foreign,
        right_owner=right_owner,
    )


def a_run(fault: str = "certain", seed: int = 1000, **fields: Any) -> RunReport:
    """Return a run that was told: by default nothing was found in it."""
    base: dict[str, Any] = {
        "null": False,
        "told": True,
        "whole": True,
        "rate": 1.0,
        "exposed": 3,
        "exchanges": 40,
        "valid": 40,
        "tolerance": 0.1,
        "baseline": BaselineReport(codes={"200": 40}, failed=0, p95_seconds=0.02, alarm=False),
        "spent": SpentReport(
            planned=110, charged=110, reported=100, ordinary=90, boundary=20, total=100
        ),
    }
    return RunReport(fault=fault, seed=seed, **(base | fields))
