"""One run: a fresh lab, one pass of a profile over it, and what came of both."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

from monitor.app import Installation, Opened, open_installation
from monitor.canaries import MarkerRegistry
from monitor.checking import ready
from monitor.clock import Clock
from monitor.drill.configuration import run_config
from monitor.drill.job import Job
from monitor.drill.judging import Account, Asked, is_hard, run_report
from monitor.drill.lab import LabError, started_lab
from monitor.live import LiveTarget
from monitor.passes import Done
from monitor.planning import NotProbed, PassPlan, plan_pass, profile_choices
from monitor.probes.base import BudgetKind, TrialPlan
from monitor.reports.drill import RunReport
from monitor.store import Store


async def run_job(job: Job, store: Store, path: Path, clock: Clock) -> RunReport:
    """Carry out one run over the open store at ``path``.

    A lab that fails makes a run that could not be told. Anything else that is raised is a bug.
    """
    try:
        return await _run(job, store, path, clock)
    except LabError as error:
        return untold(job, str(error))


def untold(job: Job, reason: str) -> RunReport:
    """Return the report of a run of which nothing can be said: neither detected nor silent."""
    return RunReport(fault=job.fault, seed=job.seed, null=job.null, told=False, reason=reason)


async def _run(job: Job, store: Store, path: Path, clock: Clock) -> RunReport:
    started = clock.monotonic()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        async with started_lab(job.lab_arguments()) as lab:
            config = run_config(Path(folder), path, job, lab.ready)
            # Markers of other runs are none of this one's business: each is an installation's day.
            opened = Opened(store=store, registry=MarkerRegistry(store.key))
            installation = open_installation(config, clock, opened=opened)
            try:
                asked = await _ask(installation, job)
            finally:
                await installation.aclose()
            truth = await lab.stop()
    live = installation.targets[job.target]
    account = Account(
        ordinary=installation.budget.spent_tokens(job.target, BudgetKind.ORDINARY),
        boundary=installation.budget.spent_tokens(job.target, BudgetKind.BOUNDARY),
        seconds=clock.monotonic() - started,
    )
    return run_report(job, asked, live.tolerance, truth, account)


async def _ask(installation: Installation, job: Job) -> list[Asked]:
    """Send the plan, up to the first hard verdict unless the run is whole."""
    (target,) = installation.config.targets
    live, _ = await ready(installation, target)
    rng = Random(f"{job.fault}/{job.seed}")
    plan = plan_pass(live.view, profile_choices(job.profile), rng=rng)
    asked: list[Asked] = []
    for trial in plan.trials:
        alone = PassPlan(trials=(trial,), not_probed=())
        result = await installation.runner.run(live, alone, rng=rng, progress=_no_progress)
        asked.append(Asked(plan=trial, result=result))
        if is_hard(result.done):
            if not job.whole:
                break
            _thaw(installation, job.target)
    return asked


def _thaw(installation: Installation, target: str) -> None:
    """Resolve what was found, so that no shape is held back and the whole plan is sent."""
    for finding in installation.findings.list_open(target):
        why = "sent on to count what the plan exposes"
        installation.findings.resolve(finding.id, "drill", why, installation.clock.now())


def _no_progress(target: LiveTarget, plan: TrialPlan, step: Done | NotProbed) -> None:
    """Show nothing: a drill shows runs, not trials."""
