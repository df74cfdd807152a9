"""The schedule: who is asked when, what is lost, and what is left out, by a clock moved by hand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from apscheduler.events import (
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
    JobExecutionEvent,
    JobSubmissionEvent,
)

from monitor.app import Installation
from monitor.checking import Selection, run_check
from monitor.config import Config, Target
from monitor.configured import choices_of, golden_prompts, target_view
from monitor.conventions import ChangeKind
from monitor.daemon.scheduler import ProbeSchedule, run_trigger
from monitor.daemon.turn import Turn
from monitor.daemon.watch import Watch
from monitor.dayplan.plan import DayPlan, day_plan, jitter_seconds
from monitor.dayplan.rates import DAY_SECONDS
from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.engines.scripted import ScriptedEngine
from monitor.judge import Judge, labelled_items
from monitor.judging import judge_of
from monitor.planning import plan_pass
from monitor.probes.base import BudgetKind
from tests.fakes.judges import knowing, read, replying
from tests.unit.daemon.installed import (
    TARGET,
    FakeEngine,
    ManualClock,
    config_of,
    installed,
    schedule_of,
)

MIDNIGHT = datetime(2026, 11, 2, 0, 0, tzinfo=UTC)
Test = Callable[[ProbeSchedule, Installation, FakeEngine, ManualClock], Coroutine[Any, Any, None]]


def with_schedule(folder: Path, test: Test, **settings: Any) -> None:
    """Run ``test`` on a schedule that has been started."""
    clock = ManualClock()
    with installed(config_of(folder, **settings), clock) as (installation, watch, engines):

        async def run() -> None:
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            try:
                await test(schedule, installation, engines["glm"], clock)
            finally:
                schedule.stop()

        asyncio.run(run())


def sample(installation: Installation, name: str, **labels: str) -> float | None:
    return installation.metrics.get_sample_value(
        f"davylamp_{name}", {"env": "default", "target": "glm"} | labels
    )


def turn_of(schedule: ProbeSchedule, probe: str) -> Turn:
    return schedule._turns[f"glm/{probe}"]


def test_a_simulated_day_gives_each_stratum_its_share_and_its_floor(tmp_path: Path) -> None:
    """Real triggers with their jitter, real plans, and a clock that only the triggers move."""
    config = config_of(tmp_path)
    (target,) = config.targets
    choices = choices_of(config, target)
    view = target_view(target, golden_prompts())
    plan = day_plan(config, target, view, choices)
    rng, spent = Random(4), Counter[BudgetKind]()
    for choice in choices:
        every = plan.interval_seconds(choice.name)
        if every is None:
            assert not plan.rates(choice.name)
            continue
        turn = Turn(target=target, choice=choice, every_seconds=every)
        turn.follow(plan.rates(choice.name), every)
        jitter = jitter_seconds(config, target, choice.name)
        trigger = run_trigger(every, jitter)
        plans = [plan_pass(view, [choice], rng=rng).trials for _ in range(5)]
        at: datetime | None = MIDNIGHT
        asked, times = Counter[str](), list[datetime]()
        while at is not None and at < MIDNIGHT + timedelta(days=1):
            trial = turn.next(rng.choice(plans), rng)
            assert trial is not None
            asked[trial.stratum] += 1
            spent[trial.budget] += trial.price.answered_tokens
            times.append(at)
            at = trigger.get_next_fire_time(at, at)
        gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
        assert min(gaps, default=1e9) >= config.for_probe(target).interval_seconds - 1e-3
        runs = sum(asked.values())
        assert runs == pytest.approx(DAY_SECONDS / every, rel=0.02, abs=1)
        for stratum, rate in plan.rates(choice.name).items():
            # Less than a trial off its share, of runs that may be 2 % off theirs.
            assert asked[stratum] == pytest.approx(rate, abs=1.01 + 0.02 * rate)
            assert asked[stratum] >= 1
    assert set(spent) == set(BudgetKind)
    for kind, tokens in spent.items():
        assert tokens <= plan.budgets[kind]


def plan_of(config: Config, target: Target) -> DayPlan:
    view = target_view(target, golden_prompts())
    return day_plan(config, target, view, choices_of(config, target))


def test_limits_are_asked_for_more_often_than_their_price_alone_would_have_it(
    tmp_path: Path,
) -> None:
    config = config_of(tmp_path)
    (target,) = config.targets
    plan = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    priors: dict[str, set[float]] = {}
    for each in plan.strata:
        if each.budget is BudgetKind.BOUNDARY:
            priors.setdefault(each.stratum.partition("-")[0], set()).add(each.prior)
    assert priors == {"over": {10.0}, "under": {10.0}, "inside": {1.0}}


def test_what_cannot_be_paid_is_named_with_its_price(tmp_path: Path) -> None:
    config = config_of(tmp_path, defaults={"boundary_budget": {"tokens": 20_000}})
    (target,) = config.targets
    plan = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    assert plan.interval_seconds("boundary") is None
    dear = [gap for gap in plan.not_probed if gap.probe == "boundary"]
    names = {gap.stratum.split("/")[0] for gap in dear}
    assert names == {"over-131072", "under-131072", "inside-65536", "inside-16384"}
    assert all(gap.code == "budget" and gap.price for gap in dear)
    for gap in dear:
        assert gap.price
        assert gap.price.answered_tokens > int(gap.stratum.split("/")[0].split("-")[1])


def test_a_cap_in_money_binds_like_one_in_tokens(tmp_path: Path) -> None:
    price = {"input_usd_per_million": 1.0, "output_usd_per_million": 2.0}
    budget = {"tokens": 10_000_000, "usd": 1.0}
    config = config_of(tmp_path, {"price": price, "daily_budget": budget})
    (target,) = config.targets
    plan = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    assert plan.budgets[BudgetKind.ORDINARY] == 500_000
    assert plan.tokens(BudgetKind.ORDINARY, answered=True) <= 500_000


def test_jobs_are_one_a_probe_with_everything_said_explicitly(tmp_path: Path) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        job = schedule._scheduler.get_job("glm/canary")
        assert (job.coalesce, job.max_instances, job.misfire_grace_time) == (True, 1, 60)
        assert job.trigger.jitter == 15
        assert sample(installation, "schedule_interval_seconds", probe="canary") >= 300
        assert sample(installation, "schedule_missed_runs_total", probe="canary") == 0

    with_schedule(tmp_path, test)


def test_missed_runs_are_counted_logged_and_stored_whatever_lost_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        turn = turn_of(schedule, "canary")
        due = [MIDNIGHT + timedelta(seconds=n * turn.every_seconds) for n in range(10)]

        def came(code: int, number: int) -> None:
            event = JobSubmissionEvent(code, "glm/canary", "default", [due[number]])
            schedule._scheduler._dispatch_event(event)

        came(EVENT_JOB_SUBMITTED, 0)
        came(EVENT_JOB_SUBMITTED, 1)
        assert sample(installation, "schedule_missed_runs_total", probe="canary") == 0
        came(EVENT_JOB_MAX_INSTANCES, 2)
        assert sample(installation, "schedule_missed_runs_total", probe="canary") == 1
        late = JobExecutionEvent(EVENT_JOB_MISSED, "glm/canary", "default", due[3])
        came(EVENT_JOB_SUBMITTED, 3)
        schedule._scheduler._dispatch_event(late)
        assert sample(installation, "schedule_missed_runs_total", probe="canary") == 2
        came(EVENT_JOB_SUBMITTED, 9)
        assert sample(installation, "schedule_missed_runs_total", probe="canary") == 7
        installation.store.flush()
        rows = installation.store.reader.schedule_events(MIDNIGHT)
        assert sum(row.count for row in rows if row.kind == "missed_runs") == 7

    with_schedule(tmp_path, test)
    assert len([r for r in caplog.records if "missed" in r.getMessage()]) == 3


def test_a_change_raises_rates_and_runs_the_limits_at_once(tmp_path: Path) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        before = turn_of(schedule, "boundary").every_seconds
        clock.move(100)
        schedule.changes.note("glm", ChangeKind.DEPLOY, clock.now())
        assert turn_of(schedule, "boundary").every_seconds < before * 0.9
        assert schedule._scheduler.get_job("glm/boundary").next_run_time == clock.now()
        assert sample(installation, "target_changes_total", kind="deploy") == 1

    with_schedule(tmp_path, test)


def test_a_limit_that_is_discovered_is_planned(tmp_path: Path) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        found = DiscoveredModel(id="glm-5.3", limits=(Limit(tokens=8192, source="max_model_len"),))
        engine.discovery = Discovery(models=(found,), version="1.0")
        await schedule._run(turn_of(schedule, "canary"))
        lengths = {
            stratum.split("/")[0] for stratum in turn_of(schedule, "boundary").shares.strata()
        }
        assert {"over-8192", "under-8192", "over-131072"} <= lengths

    with_schedule(tmp_path, test)


def test_another_version_is_a_change(tmp_path: Path) -> None:
    clock = ManualClock()
    with installed(config_of(tmp_path), clock) as (installation, watch, _):
        schedule = asyncio.run(_made(installation, watch))
        for version in ("1.0", "1.0", None, "1.1"):
            watch.note_version("glm", version)
        assert sample(installation, "target_changes_total", kind="version") == 1
        assert schedule.changes.raised("glm", clock.now())


async def _made(installation: Installation, watch: Watch) -> ProbeSchedule:
    return schedule_of(installation, watch)


def test_a_target_that_asks_to_wait_is_left_alone_and_its_limits_are_shown_as_not_probed(
    tmp_path: Path,
) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        engine.refuse(429, retry_after_seconds=90)
        await schedule._run(turn_of(schedule, "canary"))
        sent = len(engine.asked)
        await schedule._run(turn_of(schedule, "canary"))
        await schedule._run(turn_of(schedule, "boundary"))
        assert len(engine.asked) == sent
        assert sample(installation, "schedule_skipped_runs_total", reason="rate_limited") == 2
        assert backing_off(installation) == 1
        engine.failure, engine.status = None, 200
        clock.move(91)
        await schedule._run(turn_of(schedule, "canary"))
        assert len(engine.asked) > sent
        await schedule._run(turn_of(schedule, "boundary"))
        assert backing_off(installation) == 0

    with_schedule(tmp_path, test)


def backing_off(installation: Installation) -> int:
    families = {family.name: family for family in installation.metrics.collect()}
    return sum(s.labels["reason"] == "backing_off" for s in families["davylamp_not_probed"].samples)


def test_an_exhausted_budget_is_a_gap(tmp_path: Path) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        assert installation.budget.reserve("glm", "ordinary", 1_999_990)
        await schedule._run(turn_of(schedule, "canary"))
        assert not engine.asked
        assert sample(installation, "probe_budget_exhausted", budget="ordinary") == 1
        assert sample(installation, "probe_budget_exhausted", budget="boundary") == 0
        (stratum,) = {key for _, key in schedule._gaps._met["glm"]}
        labels = {"probe": "canary", "stratum": stratum, "reason": "budget"}
        assert sample(installation, "not_probed", **labels) == 1
        await run_check(installation, Selection(probes=("golden",)), lambda step: None)
        assert sample(installation, "not_probed", **labels) == 1, "a check wiped the gap"

    with_schedule(tmp_path, test)


def test_long_prompts_at_a_limit_go_one_at_a_time(tmp_path: Path) -> None:
    class Slow(FakeEngine):
        """Counts how many are asked for at once."""

        now = most = 0

        async def ask(self, request: Any, **more: Any) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return await super().ask(request, **more)

    clock = ManualClock()
    with installed(config_of(tmp_path), clock) as (installation, _, _):
        slow = Slow(clock)
        live = installation.targets["glm"]
        live.engine = slow
        choices = choices_of(installation.config, installation.config.targets[0])
        plans = [
            trial
            for trial in plan_pass(live.view, choices, rng=Random(0)).trials
            if trial.probe == "boundary"
        ]

        async def run() -> None:
            step = installation.runner.step
            await asyncio.gather(*(step(live, plan, seed=n) for n, plan in enumerate(plans[:4])))

        asyncio.run(run())
        assert len(slow.asked) >= 8
        assert slow.most == 1


def test_a_judge_is_tried_on_its_own_items_and_what_becomes_of_its_trust_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        job = schedule._scheduler.get_job("judge-items")
        assert job.trigger.interval == timedelta(hours=1)
        judge = a_judge(installation, a_knowing_engine())
        for _ in range(4):
            await schedule._try_judge(judge)
        assert judge.untried == 0
        assert "the judge is trusted" in caplog.text
        assert "not trusted any more" not in caplog.text
        forgetful = a_judge(installation, ScriptedEngine(lambda r: replying(read(r).different)))
        for _ in range(2):
            await schedule._try_judge(forgetful)
        assert "not trusted any more: it called" in caplog.text

    caplog.set_level("INFO")
    second = deepcopy(TARGET) | {"name": "judge-model", "model": "llama-4", "probes": "quick"}
    judge = {"judge": {"target": "judge-model"}}
    with_schedule(tmp_path, test, targets=[TARGET, second], checks=judge)


def test_without_a_judge_there_is_no_such_job(tmp_path: Path) -> None:
    async def test(
        schedule: ProbeSchedule, installation: Installation, engine: FakeEngine, clock: ManualClock
    ) -> None:
        assert schedule._scheduler.get_job("judge-items") is None

    with_schedule(tmp_path, test)


def a_knowing_engine() -> ScriptedEngine:
    right = {(item.question, item.answer): item.right for item in labelled_items()}
    return ScriptedEngine(knowing(lambda question, answer: right[question, answer]))


def a_judge(installation: Installation, engine: ScriptedEngine) -> Judge:
    live = replace(installation.targets["judge-model"], engine=engine)
    targets, counters = {"judge-model": live}, installation.counters
    found = judge_of(
        installation.config, targets, installation.budget, installation.clock, counters
    )
    assert found
    return found
