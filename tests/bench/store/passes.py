"""Real passes to make many rows of: what the product's own pipeline said of labs.

A healthy lab is asked and faulty ones, each in a process of its own (``apart``).
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from monitor.app import open_installation
from monitor.canaries import InstallationKey
from monitor.checking import Selection, run_check
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.model import Trial, Verdict
from monitor.store.encode import judgement_rows, trial_rows
from monitor.store.private import EvidenceHasher
from monitor.store.rows import (
    AnyRow,
    BudgetRow,
    ExchangeRow,
    ExchangeVerdictRow,
    FindingRow,
    MarkerRow,
    SignalRow,
    TrialRow,
    VerdictRow,
)
from tests.bench.store.apart import apart
from tests.integration.processes import install, lab

SEED = 20261130
HEALTHY = "healthy"
# A pass over a healthy lab, and passes over one whose answers carry other prompts, one whose
# answers are garbage, and one that turns some requests away.
PASSES = {
    HEALTHY: (),
    "another's text": ("--fault", "prefix_tail_kept"),
    "garbage": ("--fault", "mixed_tokens"),
    "turned away": ("--fault", "burst_5xx"),
}
# In the order in which a trial is written, so that no verdict stands before what it is about.
KINDS: tuple[type[AnyRow], ...] = (
    *(TrialRow, ExchangeRow, SignalRow, ExchangeVerdictRow, VerdictRow),
    *(MarkerRow, FindingRow, BudgetRow),
)
_HASHER = EvidenceHasher(InstallationKey(bytes(range(32))))
_AMPLE = {"tokens": 2_000_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What one pass over one target gave, in the order in which it came."""

    name: str
    judged: tuple[tuple[Trial, Verdict], ...]
    findings: tuple[FindingRow, ...] = ()
    markers: tuple[MarkerRow, ...] = ()


class Kept:
    """A sink that keeps everything, bodies too."""

    def __init__(self) -> None:
        self.judged: list[tuple[Trial, Verdict]] = []

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Keep them."""
        self.judged.append((trial, verdict))

    def close(self) -> None:
        """Nothing to do."""


def ask(name: str) -> Pass:
    """Run one pass over a lab of its own and return what it gave."""
    profile = "standard" if name == HEALTHY else "quick"
    with tempfile.TemporaryDirectory() as folder, lab(*PASSES[name], seed=SEED) as endpoint:
        installed = install(
            Path(folder), endpoint, probes=profile, daily_budget=_AMPLE, boundary_budget=_AMPLE
        )
        return asyncio.run(_ask(name, installed.config))


async def _ask(name: str, config: Path) -> Pass:
    kept = Kept()
    clock = SystemClock()
    installation = open_installation(read_config(str(config)), clock, sinks=[kept])
    try:
        report = await run_check(installation, Selection(), lambda _: None)
        installation.store.flush()
        reader = installation.store.reader
        return Pass(
            name=name,
            judged=tuple(kept.judged),
            findings=reader.findings_since(report.started_at),
            markers=reader.markers(),
        )
    finally:
        await installation.aclose()


def real_passes() -> tuple[Pass, ...]:
    """Ask every lab and return the passes; a minute or two."""
    return tuple(apart(ask, name) for name in PASSES)


def one_exchange(one: Pass) -> tuple[tuple[Trial, Verdict], ...]:
    """Return the trials of a pass that ask once."""
    return tuple((trial, verdict) for trial, verdict in one.judged if len(trial.exchanges) == 1)


def rows_of(one: Pass) -> dict[type[AnyRow], list[AnyRow]]:
    """Return the rows a pass leaves, by kind, in the order in which a trial is written."""
    rows: list[AnyRow] = []
    for trial, verdict in one.judged:
        rows += trial_rows(trial, _HASHER, held=verdict.finding is not None)
        rows += [*judgement_rows(verdict, trial, _HASHER), *_spent(trial)]
    rows += [*one.markers, *one.findings]
    return {kind: [row for row in rows if type(row) is kind] for kind in KINDS}


def _spent(trial: Trial) -> list[AnyRow]:
    """Return a trial's reservation, of twice what was reported, and what it came to."""
    usages = [each.response.usage for each in trial.exchanges if each.response]
    tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in usages)
    return [
        BudgetRow(
            reservation=trial.id,
            version=version,
            day=trial.started_at.date(),
            target=trial.target,
            budget="boundary" if trial.probe == "boundary" else "ordinary",
            tokens=tokens * (2 - version),
            usd=tokens * (2 - version) / 1_000_000,
            changed_at=trial.started_at,
        )
        for version in (0, 1)
    ]
