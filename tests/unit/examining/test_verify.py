"""How often a finding is replayed, when that stops, and what it proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from monitor.errors import UnsureError, UsageError
from monitor.examining import Verify, verify_finding
from monitor.examining.sitting import reading_of
from monitor.examining.verify import replays_for
from monitor.findings import FindingState
from monitor.model import Outcome, PromptBaseline, Request, Verdict, VerdictClass
from monitor.passes import Done
from monitor.reports.examination import Reading
from monitor.reports.verification import render_verification
from tests.unit.examining.looking import Scene, looking
from tests.unit.store.samples import NOW, good, scheduled_of, trial
from tests.unit.test_findings import bad, findings, suspect


@pytest.mark.parametrize(
    ("bound", "replays"), [(0.5, 5), (0.3, 9), (0.1, 29), (0.05, 59), (0.01, 299)]
)
def test_so_many_clean_replays_bring_the_bound_below_it(bound: float, replays: int) -> None:
    assert replays_for(bound) == replays
    assert 1 - 0.05 ** (1 / replays) < bound
    assert 1 - 0.05 ** (1 / (replays - 1)) >= bound


def test_a_mended_fault_is_clean_with_its_bound_and_counts_nowhere(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        scene.engine.said = lambda request: "hello"
        counted = scene.installation.budget.spent_tokens("glm", "ordinary")
        report = await verify_finding(
            scene.installation, Verify(finding=finding.id[:5]), scene.steps.append
        )
        assert (report.exit_code, report.verdict) == (0, "clean")
        assert (report.needed, report.clean, report.unclear) == (59, 59, 0)
        assert report.wrong == 59, "a model that errs is another matter"
        assert report.upper_bound == pytest.approx(1 - 0.05 ** (1 / 59))
        assert (report.finding, report.probe, report.exposures) == (finding.id, "canary", 0)
        assert report.replayed in finding.trials
        spent = scene.installation.budget.spent_tokens("glm", "ordinary") - counted
        assert spent == report.spent_tokens == report.answered_tokens
        after = scene.installation.findings.find(finding.id)
        assert after == finding, "what was clean changes nothing about it"
        scene.installation.store.flush()
        flags = scheduled_of(scene.installation.store)
        assert (len(flags), flags.count(True)) == (1 + 2 + 59, 1)
        nonces = {request.text() for request in scene.engine.asked}
        assert len(nonces) == 59, "each replay has prompts of its own"
        assert len(scene.steps) == 60
        assert "59 replays of" in scene.steps[0].words
        lines = render_verification(report)
        assert any("at most 4.96 % of such trials (95% confidence)" in each for each in lines)
        assert any(f"findings resolve {finding.id} --why" in each for each in lines)

    looking(tmp_path, test)


def test_it_stops_at_the_first_leak_although_its_shape_is_held_back(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        assert "canary" in scene.installation.findings.frozen_shapes("glm")
        replies = iter(["hello"] * 4)

        def said(request: Request) -> str:
            return next(replies, "") or scene.leaks(request)

        scene.engine.said = said
        report = await verify_finding(
            scene.installation, Verify(finding=finding.id), scene.steps.append
        )
        assert (report.exit_code, report.verdict, report.clean) == (1, "still bad", 4)
        assert len(scene.engine.asked) == 5
        assert (report.exposures, report.upper_bound) == (1, None)
        after = scene.installation.findings.find(finding.id)
        assert after is not None
        assert (after.count, after.reproduced) == (finding.count, finding.reproduced)
        assert report.trials[-1].trial in after.trials
        assert not any("resolve" in line for line in render_verification(report))

    looking(tmp_path, test)


def test_a_closed_finding_can_be_verified_and_what_shows_opens_another(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        scene.installation.findings.resolve(finding.id, "ann", "mended", NOW)
        report = await verify_finding(
            scene.installation, Verify(finding=finding.id), scene.steps.append
        )
        assert report.exit_code == 1
        (opened,) = scene.installation.findings.list_open()
        assert opened.id != finding.id
        after = scene.installation.findings.find(finding.id)
        assert after is not None
        assert after.state is FindingState.RESOLVED

    looking(tmp_path, test)


def test_a_target_that_does_not_answer_could_not_be_told(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        scene.engine.refuse(503)
        report = await verify_finding(
            scene.installation, Verify(finding=finding.id, bound=0.5), scene.steps.append
        )
        assert (report.exit_code, report.verdict, report.clean) == (3, "could not tell", 0)
        assert report.unclear == len(report.trials) == 8
        assert report.upper_bound is None
        assert not any("PROVEN" in line for line in render_verification(report))

    looking(tmp_path, test)


def test_without_money_nothing_is_sent_and_nothing_proven(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        scene.engine.said = lambda request: "hello"
        ask = Verify(finding=finding.id)
        report = await verify_finding(scene.installation, ask, scene.steps.append)
        assert (report.exit_code, report.trials) == (3, [])
        assert report.reasons == ["nothing was sent: the day's budget cannot pay the replays"]
        fewer = Verify(finding=finding.id, bound=0.5)
        assert (await verify_finding(scene.installation, fewer, scene.steps.append)).exit_code == 0

    looking(tmp_path, test, {"daily_budget": {"tokens": 5_000}})


def test_a_plan_sends_nothing_and_states_its_price(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        ask = Verify(finding=finding.id, sends=False)
        report = await verify_finding(scene.installation, ask, scene.steps.append)
        assert (report.exit_code, report.verdict, scene.engine.asked) == (0, "planned", [])
        assert report.answered_tokens == report.refused_tokens > 59 * 100
        assert report.upper_bound is None

    looking(tmp_path, test)


def test_a_replay_is_planned_when_it_is_its_turn(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        times = count()

        class Counted(tuple[PromptBaseline, ...]):
            """Whoever draws a replay goes through them."""

            __slots__ = ()

            def __iter__(self) -> Iterator[PromptBaseline]:
                next(times)
                return super().__iter__()

        live = scene.installation.targets["glm"]
        live = replace(live, view=replace(live.view, quarantined=Counted()))
        watched = replace(scene.installation, targets={"glm": live})
        ask = Verify(finding=finding.id, bound=0.001, sends=False)
        report = await verify_finding(watched, ask, scene.steps.append)
        assert report.needed == 2995
        assert report.answered_tokens > 2995 * 100
        assert 0 < next(times) < 100

    looking(tmp_path, test)


PARTS = suspect("FOREIGN")
ERROR = good(1, outcome=Outcome.ERROR)


@pytest.mark.parametrize(
    ("opened_by", "verdict", "reading"),
    [
        (bad(VerdictClass.LEAK), bad(VerdictClass.LEAK), Reading.SHOWN),
        (bad(VerdictClass.LEAK), bad(VerdictClass.CONTRACT), Reading.SHOWN),
        (bad(VerdictClass.LEAK), bad(VerdictClass.WRONG), Reading.CLEAN),
        (bad(VerdictClass.LEAK), PARTS, Reading.UNCLEAR),
        (PARTS, PARTS, Reading.SHOWN),
        (PARTS, bad(VerdictClass.LEAK), Reading.SHOWN),
        (PARTS, suspect("TIMING"), Reading.CLEAN),
        (bad(VerdictClass.LEAK), good(1), Reading.CLEAN),
        (bad(VerdictClass.LEAK), ERROR, Reading.UNCLEAR),
        (bad(VerdictClass.LEAK), good(1, outcome=Outcome.INVALID), Reading.UNCLEAR),
    ],
)
def test_what_a_replay_says_of_the_fault(
    opened_by: Verdict, verdict: Verdict, reading: Reading
) -> None:
    finding = findings().record(opened_by)
    assert finding is not None
    assert reading_of(finding, Done(trial=trial(), verdict=verdict)) is reading


def test_a_limit_that_never_answered_is_unclear_whatever_else_was_right() -> None:
    finding = findings().record(bad(VerdictClass.LEAK))
    assert finding is not None
    silent = trial(probe="boundary", exchanges=())
    assert reading_of(finding, Done(trial=silent, verdict=good(1))) is Reading.UNCLEAR


def test_what_cannot_be_asked_again_is_said(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        book = scene.installation.findings
        nowhere = book.record(bad(VerdictClass.CONTRACT, shape="scan"))
        assert nowhere is not None
        for ask, error, words in (
            (nowhere.id, UnsureError, "nothing of its evidence can be asked again"),
            ("F-NOTHING", UsageError, "no finding has this id"),
        ):
            with pytest.raises(error, match=words):
                await verify_finding(scene.installation, Verify(finding=ask), scene.steps.append)
        gone = book.record(bad(VerdictClass.CONTRACT, target="gone"))
        assert gone is not None
        with pytest.raises(UsageError, match="no target 'gone'"):
            await verify_finding(scene.installation, Verify(finding=gone.id), scene.steps.append)
        leak = await scene.finding()
        other = book.record(bad(VerdictClass.CONTRACT, stratum="s2"))
        assert other is not None
        assert other.id == leak.id, "a child of the leak, not a finding of its own"

    looking(tmp_path, test)


def test_a_fault_whose_shape_another_leak_holds_back_is_not_asked(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        book = scene.installation.findings
        own = book.record(bad(VerdictClass.CONTRACT, stratum="s2"))
        leak = await scene.finding()
        assert own is not None
        assert own.id != leak.id
        with pytest.raises(UsageError, match=f"{leak.id} is open, a LEAK of the same shape"):
            await verify_finding(scene.installation, Verify(finding=own.id), scene.steps.append)
        assert scene.engine.asked == []

    looking(tmp_path, test)
