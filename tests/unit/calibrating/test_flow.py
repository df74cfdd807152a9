"""A sitting: what is asked and stored, and everything for which nothing is stored at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from prometheus_client import generate_latest

from monitor.app import Installation
from monitor.calibrating import Calibrate, CalibrationStep, calibrate
from monitor.configured import choices_of
from monitor.conventions import NotProbed as Code
from monitor.errors import UsageError
from monitor.model import CalibrationState, Failure, ToleranceSource
from monitor.planning import plan_pass
from monitor.probes.border import INPUTS
from monitor.reports.calibration import CalibrationReport, render_calibration
from monitor.selftest import Blind, SelfTest
from tests.unit.calibrating.pupil import (
    FACTS,
    PROMPTS,
    RATE_LIMITED,
    SAMPLES,
    TIMEOUT,
    Pupil,
    classroom,
)
from tests.unit.store.samples import scheduled_of

BLIND = Blind(check="FACT", words="missed what it must fail")
MISSED = frozenset(sorted(prompt.name for prompt in PROMPTS)[:3])
BORDER = {"name": "border", "params": {"count": 4}}


def stored(installation: Installation) -> int:
    return len(installation.store.reader.calibrations("glm"))


def lines(report: CalibrationReport) -> str:
    return "\n".join(render_calibration(report))


def test_a_healthy_target_is_recorded_signed_and_held_to_it(tmp_path: Path) -> None:
    pupil, steps = Pupil(), []
    probes = {"probes": [FACTS, BORDER]}
    with classroom(tmp_path, pupil, target=probes) as (installation, ask):
        report = ask(steps.append)
        live = installation.targets["glm"]
        calibration = live.calibration
        assert report.exit_code == 0, lines(report)
        assert stored(installation) == 1
        assert calibration is not None
        assert calibration.signature
        assert live.tolerance_source is ToleranceSource.CALIBRATED
        assert live.tolerance == calibration.tolerance < 0.1
        assert {p.name for p in calibration.prompts} == {p.name for p in PROMPTS}
        assert all(p.asked == SAMPLES and p.missed == 0 for p in calibration.prompts)
        assert all(sum(n for _, n in p.fingerprints) == SAMPLES for p in calibration.prompts)
        assert {each.seen for each in calibration.first_tokens} == {(("Tea", SAMPLES),)}
        assert {each.border_input for each in calibration.first_tokens} == set(INPUTS)
        assert calibration.made_by == "anna"
        assert report.answers == pupil.asked == SAMPLES * (len(PROMPTS) + len(INPUTS))
        assert [step.done for step in steps] == list(range(pupil.asked + 1))
        assert "tokens" in steps[0].words
        page = generate_latest(installation.metrics).decode()
        assert 'davylamp_calibration{env="default",state="valid",target="glm"} 1.0' in page
        assert "davylamp_exchanges_total{" not in page, "a sitting counts in no indicator"
        flags = scheduled_of(installation.store)
        assert flags
        assert not any(flags)


def test_what_it_misses_is_set_aside_and_never_asked_for_judgement(tmp_path: Path) -> None:
    with classroom(tmp_path, Pupil(misses=MISSED)) as (installation, ask):
        report = ask()
        assert report.exit_code == 0, lines(report)
        live = installation.targets["glm"]
        assert {p.name for p in live.view.quarantined} == MISSED
        target = installation.config.targets[0]
        plan = plan_pass(live.view, choices_of(installation.config, target), rng=Random(1))
        asked = {trial.arguments["prompt"].name for trial in plan.trials}
        gaps = [gap for gap in plan.not_probed if gap.code is Code.QUARANTINED]
        assert not asked & MISSED
        assert len(gaps) == len(MISSED)
        for gap in gaps:
            assert "quarantined: missed 3 of 3 when calibrated" in gap.reason
            assert gap.price is not None
            assert gap.price.answered_tokens == 0
        page = generate_latest(installation.metrics).decode()
        assert 'davylamp_golden_prompts_quarantined{env="default",target="glm"} 3.0' in page
        assert live.calibration is not None
        # What is set aside counts in no tolerance, but says that the model is not a strong one.
        assert live.tolerance < 0.1 < live.calibration.missed_at_most
        assert live.weak_model
        assert "3 golden prompts set aside" in lines(report)


def test_a_sitting_asks_what_is_set_aside_again(tmp_path: Path) -> None:
    pupil = Pupil(misses=MISSED)
    with classroom(tmp_path, pupil) as (installation, ask):
        ask()
        pupil.misses = frozenset()
        report = ask(replace=True, reason="the model was mended")
        assert report.exit_code == 0, lines(report)
        assert installation.targets["glm"].view.quarantined == ()
        assert stored(installation) == 2


def test_who_misses_most_prompts_is_not_calibrated(tmp_path: Path) -> None:
    most = frozenset(prompt.name for prompt in PROMPTS[: len(PROMPTS) // 2 + 1])
    with classroom(tmp_path, Pupil(misses=most)) as (installation, ask):
        report = ask()
        assert report.exit_code == 1
        assert "more than half" in report.reason
        assert stored(installation) == 0
        assert installation.targets["glm"].calibrated.state is CalibrationState.NONE


def test_a_leak_ends_it_opens_a_finding_and_nothing_more_is_sent(tmp_path: Path) -> None:
    pupil = Pupil()
    with classroom(tmp_path, pupil) as (installation, ask):
        ask()
        live = installation.targets["glm"]
        installation.store.flush()
        of_a = (e for e in installation.store.markers.load() if e.owner.tenant == "tenant-a")
        pupil.foreign, pupil.asked = "-".join(next(of_a).groups or ()), 0
        only_b = tuple(t for t in live.view.tenants if t.name == "tenant-b")
        live.view = replace(live.view, tenants=only_b)
        report = ask(replace=True, reason="again")
        assert report.exit_code == 1, lines(report)
        assert report.unhealthy is not None
        assert report.unhealthy.verdict_class == "LEAK"
        assert report.unhealthy.finding
        assert pupil.asked == 1
        assert stored(installation) == 1
        assert report.unhealthy.finding in lines(report)
        blocked = ask(replace=True, reason="again")
        assert blocked.exit_code == 1
        assert report.unhealthy.finding in blocked.reason
        assert pupil.asked == 1


@pytest.mark.parametrize(
    "failures", [[RATE_LIMITED], [TIMEOUT] * 2], ids=["429", "over one of a hundred"]
)
def test_errors_end_it_and_nothing_is_stored(tmp_path: Path, failures: list[Failure]) -> None:
    pupil = Pupil(failures=list(failures))
    with classroom(tmp_path, pupil) as (installation, ask):
        report = ask(samples=4)
        assert report.exit_code == 3, lines(report)
        assert "nothing was stored" in report.reason
        assert (pupil.asked, stored(installation)) == (len(failures), 0)


def test_a_single_answer_that_does_not_come_is_asked_for_again(tmp_path: Path) -> None:
    # One of a hundred trials may be.
    pupil, every = Pupil(failures=[TIMEOUT]), 4 * len(PROMPTS)
    with classroom(tmp_path, pupil) as (_, ask):
        report = ask(samples=4)
        assert report.exit_code == 0, lines(report)
        assert (pupil.asked, report.answers, report.errors) == (every + 1, every, 1)
        assert all(p.asked == 4 for p in report.baseline.prompts) if report.baseline else False


def test_what_the_budget_cannot_pay_is_not_begun(tmp_path: Path) -> None:
    pupil = Pupil()
    with classroom(tmp_path, pupil, target={"daily_budget": {"tokens": 1000}}) as (inst, ask):
        report = ask()
        assert report.exit_code == 3
        assert "1,000 are left" in report.reason
        assert pupil.asked == stored(inst) == 0
        assert report.cost is not None
        assert report.cost.priced > 1000


def test_a_budget_that_ends_on_the_way_leaves_nothing_half_made(tmp_path: Path) -> None:
    pupil = Pupil()
    with classroom(tmp_path, pupil) as (installation, ask):

        def spend(step: CalibrationStep) -> None:
            left = installation.budget.remaining()[0].tokens
            if step.done == 5:
                assert installation.budget.reserve("glm", "ordinary", left)

        report = ask(spend)
        assert report.exit_code == 3
        assert "budget" in report.reason
        assert (pupil.asked, stored(installation)) == (5, 0)


def test_stopping_it_leaves_nothing_half_made(tmp_path: Path) -> None:
    with classroom(tmp_path, Pupil()) as (installation, _):

        async def stopped() -> None:
            asked = Calibrate(target="glm", who="anna", samples=SAMPLES)
            task: asyncio.Task[CalibrationReport]

            def stop(step: CalibrationStep) -> None:
                if step.done == 5:
                    task.cancel()

            task = asyncio.create_task(calibrate(installation, asked, stop))
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(stopped())
        assert stored(installation) == 0


def test_a_valid_one_is_not_replaced_in_silence(tmp_path: Path) -> None:
    with classroom(tmp_path, Pupil()) as (installation, ask):
        ask()
        for changes in ({}, {"replace": True}, {"reason": "just so"}):
            with pytest.raises(UsageError, match="--replace --reason WHY"):
                ask(**changes)
        assert stored(installation) == 1
        assert ask(replace=True, reason="new weights").exit_code == 0
        status = installation.targets["glm"].calibrated
        assert status.valid is not None
        assert status.valid.reason == "new weights"
        assert stored(installation) == 2


def test_a_stale_one_may_be_replaced_and_says_why(tmp_path: Path) -> None:
    with classroom(tmp_path, Pupil()) as (_, ask):
        ask()
    effort = {"reasoning": {"effort": "none"}}
    with classroom(tmp_path, Pupil(), target=effort) as (installation, ask):
        live = installation.targets["glm"]
        assert live.calibrated.state is CalibrationState.STALE
        assert live.calibrated.changed == ("reasoning",)
        assert live.calibration is None
        assert (live.tolerance, live.tolerance_source) == (0.1, ToleranceSource.DEFAULT)
        assert ask().exit_code == 0
        assert live.calibration is not None
        assert live.calibration.reason == "the one before is stale: reasoning"


def test_a_written_tolerance_wins_over_a_calibration(tmp_path: Path) -> None:
    with classroom(tmp_path, Pupil(), target={"tolerance": 0.07}) as (installation, ask):
        report = ask()
        live = installation.targets["glm"]
        assert live.calibration is not None
        assert (live.tolerance, live.tolerance_of("golden")) == (0.07, 0.07)
        assert (report.tolerance, report.tolerance_source) == (0.07, "configured")
    with classroom(tmp_path, Pupil(), defaults={"tolerance": 0.1}) as (installation, _):
        live = installation.targets["glm"]
        assert (live.tolerance, live.tolerance_source) == (0.1, ToleranceSource.CONFIGURED)
    with classroom(tmp_path, Pupil()) as (installation, _):
        live = installation.targets["glm"]
        assert live.tolerance_source is ToleranceSource.CALIBRATED
        assert live.tolerance != 0.1


def test_a_blind_check_calibrates_nothing(tmp_path: Path) -> None:
    pupil = Pupil()
    with classroom(tmp_path, pupil) as (installation, _):
        blind = SelfTest(at=installation.clock.now(), checks=("FACT",), blind=(BLIND,))

        class BlindTester:
            async def run(self, seed: int) -> SelfTest:
                return blind

        tested = replace(installation, self_tester=BlindTester())  # type: ignore[arg-type]
        asked = Calibrate(target="glm", who="anna", samples=SAMPLES)
        report = asyncio.run(calibrate(tested, asked, lambda _: None))
        assert report.exit_code == 3
        assert "FACT is blind" in report.reason
        assert pupil.asked == stored(installation) == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"target": "nobody"}, "no target 'nobody'"), ({"samples": 2}, "at least 3")],
)
def test_what_cannot_be_asked(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    with classroom(tmp_path, Pupil()) as (_, ask), pytest.raises(UsageError, match=says):
        ask(**changes)
