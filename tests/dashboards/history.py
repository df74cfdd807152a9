"""Eight hours of monitoring in a minute, by the product's own parts under a clock that is moved.

Labs are asked for real: a healthy one, then one that has the fault of the incident. What the
pipeline said of those trials is said again through the same sinks, tick by tick, as a plan of a day
would have it: so that series, sums and streams are as full as those of a daemon that ran for hours.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from monitor.app import initialise_series, open_installation
from monitor.clock import new_id
from monitor.configured import choices_of, live_target, read_config
from monitor.conventions import BodyState, ChangeKind, NotProbed, SkipReason, SqlResult
from monitor.conventions.telemetry import TelemetryKind, TelemetryResult
from monitor.daemon.reportcounts import ReportCounters
from monitor.gpu.collector import GpuCollector
from monitor.live import LiveTarget
from monitor.model import CalibrationState, Trial, Verdict, VerdictClass
from monitor.paging import RecentAnswers, open_pager
from monitor.planning import plan_pass
from monitor.sinks import TelemetryCounter
from monitor.store.rows import LadderRow
from monitor.weekly.manifest import MANIFEST_FILE
from monitor.weekly.schedule import ReportSchedule
from tests.dashboards.clockwork import MovedClock
from tests.dashboards.machines import DraftCollector, Machines
from tests.dashboards.production import Production
from tests.dashboards.samples import Samples
from tests.fakes import events_v2
from tests.integration.processes import (
    Endpoint,
    fault,
    first_line,
    install,
    install_all,
    process,
)
from tests.integration.processes import Installation as Installed

Judged = list[tuple[Trial, Verdict]]
TICK = 240.0
TICKS = 120
SPAN = timedelta(seconds=TICK * TICKS)
# The fault begins after five hours and ends with the deploy that mends it; nobody asks the other
# target in between, because its budget is spent.
FAULTY = range(75, 95)
UNASKED = range(40, 70)
PROD, STAGING = "glm-prod", "glm-staging"
_A_TICK = {PROD: 12, STAGING: 4}
_OF_EACH_PROBE = 4
_AMPLE = {"tokens": 20_000_000}
# A version with faults that are public, as two nodes that hand prompts over.
_NODES = ("--seed", "7", "--mode", "pd", "--set", "lab.version=0.5.2")
_LABS: dict[str, Sequence[str]] = {
    PROD: _NODES,
    STAGING: ("--seed", "9", "--fault", "thinks"),
    # Another seed: two labs of one would give the same response ids, which is a fault of its own.
    "broken": (*fault("overlength_placeholder", "prefix_tail_kept"), "--seed", "8"),
}
_PROBES = [
    {"name": name}
    for name in ("golden", "canary", "tenant", "prefix", "boundary", "burst", "turns")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was left behind: the store's installation, scraped series, when it began and ended."""

    installed: Installed
    openmetrics: Path
    began: datetime
    ended: datetime
    leak: str


class _Kept:
    """A sink that keeps what is judged."""

    def __init__(self) -> None:
        self.judged: list[tuple[Trial, Verdict]] = []

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        self.judged.append((trial, verdict))

    def close(self) -> None:
        """Nothing to do."""


def make(folder: Path) -> History:
    """Make a history that ends now."""
    with contextlib.ExitStack() as stack:
        ready = {name: stack.enter_context(_lab(more)) for name, more in _LABS.items()}
        paged = stack.enter_context(events_v2.serving())
        key = folder / "routing.key"
        key.write_text(events_v2.ROUTING_KEY, encoding="ascii")
        shared: dict[str, Any] = {
            "probes": _PROBES,
            "daily_budget": _AMPLE,
            "boundary_budget": _AMPLE,
            "price": {"input_usd_per_million": 0.6, "output_usd_per_million": 2.2},
        }
        served = {name: _endpoint(ready[name]) for name in (PROD, STAGING)}
        more = dict.fromkeys(served, shared)
        more[PROD] = shared | _nodes(folder / PROD, ready[PROD])
        installed = install_all(folder, served, **more)
        installed.settings["storage"]["spool"] = {"fsync": False}
        installed.settings["reports"] = {"folder": "reports"}
        installed.settings["pages"] = {
            "pagerduty": {"routing_key_file": str(key), "url": paged.url},
            "routes": {"WRONG_INPUT": "direct"},
        }
        installed.write()
        broken = install(folder / "broken", _endpoint(ready["broken"]), name="broken")
        return asyncio.run(_Made(folder, installed, broken).run())


@contextlib.contextmanager
def _lab(more: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Serve a lab while entered; gives what it says of itself, its nodes too."""
    command = [sys.executable, "-m", "monitor.lab", "--port", "0", *more]
    with process(command) as started:
        yield json.loads(first_line(started))


def _put_report(schedule: ReportSchedule, now: datetime) -> None:
    """Put the report of last week there, as if it had been written now."""
    file = schedule.folder / schedule.due(now).label / MANIFEST_FILE
    file.parent.mkdir(parents=True)
    file.write_text("{}", encoding="ascii")
    os.utime(file, (now.timestamp(), now.timestamp()))


def _endpoint(ready: Mapping[str, Any]) -> Endpoint:
    return Endpoint(**{name: ready[name] for name in ("url", "model", "keys", "context_tokens")})


def _nodes(folder: Path, ready: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a target says of its nodes and of its gateway."""
    listed = [{name: node[name] for name in ("name", "role", "url")} for node in ready["nodes"]]
    token = str(folder / f"{next(iter(ready['keys']))}.key")
    gateway = {"engine": "openai", "url": ready["url"], "token_file": token}
    return {"nodes": listed, "gateway": gateway}


class _Made:
    def __init__(self, folder: Path, installed: Installed, broken: Installed) -> None:
        self._folder, self._installed = folder, installed
        self._broken_config = read_config(str(broken.config))
        self._clock = MovedClock(SPAN)
        self._began = self._clock.now()
        self._kept, self._recent = _Kept(), RecentAnswers()
        self._samples, self._production, self._machines = Samples(), Production(), Machines()
        config = read_config(str(installed.config))
        self._of = of = open_installation(
            config, self._clock, first=[self._recent], sinks=[self._kept], watched=True
        )
        self._telemetry = TelemetryCounter(of.metrics, config.environment)
        schedule = ReportSchedule.of(config)
        assert schedule is not None
        ReportCounters(of.metrics, config.environment, schedule, self._clock)
        _put_report(schedule, self._began)
        of.metrics.register(GpuCollector(env=config.environment, page=self._machines.page))
        of.metrics.register(DraftCollector(config.environment))

    async def run(self) -> History:
        of = self._of
        pager = open_pager(of.config, of.store, of.findings, self._recent, of.metrics, self._clock)
        assert pager is not None
        try:
            self._open()
            await of.self_tester.run(1)
            healthy = await self._asked()
            await self._repeat(healthy, range(FAULTY.start))
            faulty = await self._broken()
            await pager.finish()
            await self._repeat({**healthy, PROD: faulty}, FAULTY)
            self._decide()
            self._deploy()
            await self._repeat(healthy, range(FAULTY.stop, TICKS))
            await pager.finish()
            ended = self._clock.now()
        finally:
            await pager.aclose()
            await of.aclose()
        file = self._folder / "history.om"
        self._samples.write(file)
        return History(
            installed=self._installed,
            openmetrics=file,
            began=self._began,
            ended=ended,
            leak=self._leak(),
        )

    def _leak(self) -> str:
        """Return a trial that leaks, and whose own markers were seen in another."""
        judged = self._kept.judged
        leaks = [t.id for t, v in judged if v.verdict_class is VerdictClass.LEAK]
        seen = {(s.owner.trial, t.id) for t, v in judged for s in v.signals if s.owner is not None}
        return next(leak for leak in leaks if any(o == leak != by for o, by in seen))

    def _open(self) -> None:
        """Make the series that a daemon makes at its start."""
        of = self._of
        for target in (PROD, STAGING):
            live, choices = self._live(target), self._choices(target)
            initialise_series(of, live, choices)
            of.counters.initialise_schedule(target, [choice.name for choice in choices])
            of.counters.set_calibration(target, CalibrationState.VALID, 2)
            plan = plan_pass(live.view, choices, rng=Random(0))
            strata = Counter((trial.probe, trial.stratum) for trial in plan.trials)
            assert of.watching is not None
            of.watching.plan(target, {key: 40.0 * n for key, n in strata.items()})
            for choice in choices:
                of.counters.set_schedule_interval(target, choice.name, 600.0)
        for target in (PROD, STAGING):
            of.counters.set_not_probed(target, [("border", "under-4096/c1/cold/whole/one", _OUT)])
        of.counters.set_judge_trusted(PROD, trusted=True)
        ladder = LadderRow(
            id=new_id("ladder"),
            target=PROD,
            model="glm-5.3",
            started_at=self._clock.now(),
            finished_at=self._clock.now(),
            verified_tokens=3_900,
            verified_error_tokens=40,
            failed_tokens=None,
            enforced_tokens=4_096,
            advertised_tokens=4_096,
            advertised_source="config",
            exit_code=0,
            reason="",
            spent_tokens=40_000,
        )
        of.store.writer.put([ladder])
        of.counters.set_verified(PROD, ladder.verified_tokens, ladder.started_at)

    async def _asked(self) -> dict[str, Judged]:
        """Ask both targets while they are healthy, a few trials of each probe."""
        return {name: await self._pass(self._live(name), name) for name in (PROD, STAGING)}

    async def _broken(self) -> Judged:
        """Ask the target of production once it has the fault."""
        config = self._broken_config
        (target,) = config.targets
        live, broken = self._live(PROD), live_target(config, target, {}, self._clock)
        own = live.engine, live.credentials
        live.engine, live.credentials = broken.engine, broken.credentials
        try:
            return await self._pass(live, PROD)
        finally:
            live.engine, live.credentials = own
            await broken.engine.aclose()

    async def _pass(self, live: LiveTarget, name: str) -> Judged:
        before, seen = len(self._kept.judged), Counter[str]()
        for trial in plan_pass(live.view, self._choices(name), rng=Random(3)).trials:
            seen[trial.probe] += 1
            if seen[trial.probe] <= _OF_EACH_PROBE:
                await self._of.runner.step(live, trial, seed=seen[trial.probe])
        judged = self._kept.judged[before:]
        return [(t, v) for t, v in judged if v.scheduled and v.source == "probe"]

    async def _repeat(self, judged: dict[str, Judged], ticks: Sequence[int]) -> None:
        """Say again what was said, tick by tick, and scrape after each."""
        again: dict[str, Iterator[tuple[Trial, Verdict]]] = {}
        for name, pairs in judged.items():
            again[name] = cycle(pairs)
        for tick in ticks:
            at = self._began + timedelta(seconds=TICK * (tick + 1))
            self._clock.move_to(at)
            for name, number in _A_TICK.items():
                if name == STAGING and tick in UNASKED:
                    continue
                for _ in range(number):
                    self._deliver(*next(again[name]))
            await self._look(tick)
            self._tick(tick)
            self._scrape(tick)

    async def _look(self, tick: int) -> None:
        """Ask something for real, so that nodes have work, and read the nodes."""
        live = self._live(PROD)
        trials = [
            trial
            for trial in plan_pass(live.view, self._choices(PROD), rng=Random(tick)).trials
            if trial.probe == "golden"
        ]
        await self._of.runner.step(live, trials[tick % len(trials)], seed=tick)
        assert self._of.nodes is not None
        await self._of.nodes.read(lambda target, pressure: None)

    def _deliver(self, trial: Trial, verdict: Verdict) -> None:
        now, moved = self._clock.now(), self._clock.now() - trial.started_at
        exchanges = tuple(
            replace(e, timing=replace(e.timing, started_at=e.timing.started_at + moved))
            for e in trial.exchanges
        )
        trial = replace(trial, id=new_id("trial"), started_at=now, exchanges=exchanges)
        verdict = replace(verdict, id=new_id("verdict"), trial=trial.id, decided_at=now)
        for sink in self._of.runner._pipeline._sinks:
            if sink is not self._kept:
                sink.deliver(trial, verdict)

    def _tick(self, tick: int) -> None:
        """Say what a daemon says besides verdicts."""
        of, machines = self._of, self._machines
        machines.tick, machines.now = tick, self._clock.now()
        for name in (PROD, STAGING):
            of.counters.set_schedule_lag(name, 0.4 + 0.1 * (tick % 9))
            if (reserved := of.budget.reserve(name, "ordinary", 30_000)) is not None:
                of.counters.add_cost(name, of.budget.settle(reserved, 28_000))
        of.counters.count_judged(PROD, "right", "right")
        of.counters.count_judged(PROD, "wrong", "wrong" if tick % 9 else "abstained")
        of.counters.count_missed_runs(PROD, "golden", int(tick % 30 == 7))
        if tick % 20 == 3:
            of.counters.count_skipped_run(STAGING, SkipReason.RATE_LIMITED)
        of.counters.count_statement(SqlResult.OK)
        of.counters.count_bodies(BodyState.KEPT, 1)
        self._telemetry.count(TelemetryKind.SPANS, TelemetryResult.SENT, 14)

    def _decide(self) -> None:
        """Confirm a finding, as a person would."""
        found = self._of.findings.list_open(PROD)[0]
        self._of.findings.confirm(found.id, "duty@example.com", "seen by hand", self._clock.now())

    def _deploy(self) -> None:
        self._of.counters.count_change(PROD, ChangeKind.DEPLOY)

    def _scrape(self, tick: int) -> None:
        at = self._began + timedelta(seconds=TICK * (tick + 1))
        self._samples.scrape(self._of.metrics, at)
        for second in range(0, int(TICK), 60):
            self._production.tick()
            self._samples.scrape(self._production.registry, at - timedelta(seconds=TICK - second))

    def _live(self, name: str) -> LiveTarget:
        return self._of.targets[name]

    def _choices(self, name: str) -> Any:
        target = self._of.config.target(name)
        assert target is not None
        return choices_of(self._of.config, target)


_OUT = NotProbed.BUDGET
