"""From answers to tolerances: each probe has its own, and so has each group within it."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from monitor.calibrating.making import Maker, Rules, make, misses_most, not_mastered
from monitor.calibrating.planning import LEAST_SAMPLES, OTHER_ROUNDS, plan_sitting
from monitor.calibrating.recording import Judged, Recording
from monitor.detect.binomial import upper_bound
from monitor.history import History
from monitor.model import Calibration, Outcome, VerdictClass
from monitor.passes import Done
from monitor.planning import profile_choices
from monitor.probes.base import BudgetKind, TargetView, TenantView, TokenLimit
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.reports.answers import answers_of
from tests.builders import Bench, a_trial, an_exchange

GOLDEN = GoldenPrompt(
    suite="facts",
    id="paris",
    language="en",
    prompt="What is the capital of France?",
    expectations=(AnyOf(strings=("Paris",)),),
    max_output_tokens=32,
)
KEY = (GOLDEN.name, GOLDEN.version)
OTHER = ("facts/other", "v1")


def made(recording: Recording, **rules: Any) -> Calibration:
    maker = Maker(
        id="calibration-1",
        target="glm",
        model="glm-5.3",
        made_at=datetime(2026, 11, 29, tzinfo=UTC),
        made_by="anna",
        reason="",
        checks_version="2",
        parts=(("model", "a"),),
    )
    given: dict[str, Any] = {"configured": None, "floor": 0.001, "margin": 0.02} | rules
    return make(recording, maker, Rules(**given))


def recording_of(*answers: Judged) -> Recording:
    recording = Recording(Bench().history)
    for answer in answers:
        recording.take(answer)
    return recording


def answers(
    probe: str, judged: int, failed: int, *groups: str, prompt: tuple[str, str] | None = None
) -> list[Judged]:
    return [
        Judged(probe=probe, groups=groups, prompt=prompt, failed=number < failed)
        for number in range(judged)
    ]


def test_each_probe_has_its_own_bound_and_the_weak_one_does_not_spoil_the_rest() -> None:
    calibration = made(
        recording_of(*answers("golden", 400, 0, "streams"), *answers("pair", 60, 12))
    )
    golden, pair = calibration.tolerance_of("golden"), calibration.tolerance_of("pair")
    assert golden == pytest.approx(upper_bound(0, 400) + 0.02)
    assert pair == pytest.approx(upper_bound(12, 60) + 0.02)
    assert golden < calibration.tolerance < pair
    assert calibration.tolerance == pytest.approx(upper_bound(12, 460) + 0.02)


def test_what_was_never_recorded_is_held_to_the_default_or_to_the_whole() -> None:
    good = made(recording_of(*answers("golden", 400, 0)))
    assert good.tolerance_of("burst") == good.tolerance_of("burst", "streams") == 0.1
    assert good.tolerance_of("golden", "warm cache") == good.tolerance_of("golden")
    weak = made(recording_of(*answers("golden", 400, 80)))
    assert weak.tolerance_of("burst") == weak.tolerance > 0.2


def test_a_group_that_fails_more_than_its_probe_says_so() -> None:
    some = [*answers("pair", 200, 2), *answers("pair", 40, 20, "tool calls in streams")]
    calibration = made(recording_of(*some))
    whole = calibration.tolerance_of("pair")
    assert calibration.tolerance_of("pair", "tool calls in streams") > 0.5 > whole
    few = [*answers("pair", 200, 2), *answers("pair", 4, 0, "tool calls in streams")]
    unsure = made(recording_of(*few))
    assert unsure.tolerance_of("pair", "tool calls in streams") == unsure.tolerance_of("pair")


def test_the_floor_is_what_the_objective_leaves() -> None:
    answered = recording_of(*answers("golden", 100_000, 0))
    assert made(answered, margin=0.0, floor=0.01).tolerance == 0.01


def counts_of(*missed: int, asked: int = 10) -> dict[tuple[str, str], tuple[int, int]]:
    return {(f"facts/{place}", "v"): (each, asked) for place, each in enumerate(missed)}


def test_prompts_are_set_aside_by_their_own_misses() -> None:
    counts = counts_of(10, 4, 5, *[0] * 97)
    assert {name for name, _ in not_mastered(counts, None)} == {"facts/0", "facts/2"}
    assert {name for name, _ in not_mastered(counts, 0.6)} == {"facts/0"}


def test_a_weak_target_is_compared_with_itself_not_with_a_strong_one() -> None:
    """Or its unlucky prompts would be set aside, and the rest would look better than it is."""
    weak = counts_of(5, *[3] * 99)
    assert not not_mastered(weak, None)
    assert {name for name, _ in not_mastered(weak, 0.1)} == {"facts/0"}
    assert len(not_mastered(counts_of(10, *[3] * 99), None)) == 1


def test_who_misses_more_than_half_of_the_prompts_is_told_apart() -> None:
    assert misses_most(counts_of(10, 10, 0, 0), None) == 0
    assert misses_most(counts_of(10, 10, 10, 0), None) == 3
    assert misses_most(counts_of(3, 3, 0, asked=3), None) == 2
    assert misses_most(counts_of(5, 5, 5, 0), 0.5) == 0
    assert misses_most({}, None) == 0


def a_done(bench: Bench, history: History, answer: str, **trial: Any) -> Done:
    exchange = an_exchange(GOLDEN.prompt, answer, golden=GOLDEN.name, golden_version=GOLDEN.version)
    fields = {"probe": "golden"} | trial
    verdict = bench.judge(exchange, history=history, **fields)
    return Done(trial=a_trial(exchange, **fields), verdict=verdict)


def test_what_is_noted_of_answers() -> None:
    bench = Bench()
    history = History(registry=bench.registry, golden={GOLDEN.name: GOLDEN})
    recording = Recording(history)
    for number in range(4):
        recording.note(a_done(bench, history, "It is Paris.", id=f"trial-{number}"))
    recording.note(a_done(bench, history, "It is Lyon.", id="trial-lyon"))
    for number in range(3):
        said = "It is Paris, \u0641\u064a \u0641\u0631\u0646\u0633\u0627 \u0646\u0639\u0645."
        recording.note(a_done(bench, history, said, id=f"trial-arabic-{number}"))
    assert recording.scripts() == ("ARABIC",)
    assert recording.counts()[KEY][1] == 8
    (prompt,) = recording.prompts(frozenset({KEY}))
    assert (prompt.name, prompt.version, prompt.asked) == (*KEY, 8)
    assert prompt.quarantined
    assert sum(seen for _, seen in prompt.fingerprints) == 8
    assert len(prompt.fingerprints) == 2
    assert {answer.probe for answer in recording.answers} == {"golden"}
    assert "1 at once" in recording.answers[0].groups


def test_one_answer_in_a_strange_script_is_a_slip_not_a_habit() -> None:
    bench = Bench()
    history = History(registry=bench.registry, golden={GOLDEN.name: GOLDEN})
    recording = Recording(history)
    said = "It is Paris, \u0641\u064a \u0641\u0631\u0646\u0633\u0627."
    recording.note(a_done(bench, history, said))
    assert recording.scripts() == ()


def test_a_script_of_the_targets_own_makes_no_answer_a_miss_and_a_stray_one_does() -> None:
    bench = Bench()
    history = History(registry=bench.registry, golden={GOLDEN.name: GOLDEN})
    own, stray = Recording(history), Recording(history)
    greets = "It is Paris, \u0641\u064a \u0641\u0631\u0646\u0633\u0627 \u0646\u0639\u0645."
    for number in range(20):
        own.note(a_done(bench, history, greets, id=f"trial-{number}"))
        said = greets if number == 0 else "It is Paris."
        stray.note(a_done(bench, history, said, id=f"trial-{number}"))
    wrong = a_done(bench, history, greets.replace("Paris", "Lyon"), id="trial-lyon")
    own.note(wrong)
    assert own.counts()[KEY] == (1, 21)
    assert sum(answer.failed for answer in own.answers) == 1
    assert stray.counts()[KEY] == (1, 20)


VIEW = TargetView(
    name="glm",
    model="glm-5.3",
    tenants=(TenantView(name="a", isolation="a"), TenantView(name="b", isolation="b")),
    limits=(TokenLimit(tokens=131_072, source="config"),),
    golden=(GOLDEN,),
)


def test_golden_prompts_are_asked_as_often_as_said_and_all_else_a_few_times() -> None:
    sitting = plan_sitting(
        VIEW, profile_choices("quick"), samples=7, boundary_left=10**9, rng=Random(1)
    )
    assert [t.arguments["prompt"].name for t in sitting.golden] == [GOLDEN.name] * 7
    probes = {t.probe for t in sitting.others}
    assert {"canary", "tenant", "pair", "boundary"} <= probes
    assert "golden" not in probes
    assert sitting.others[0].budget is BudgetKind.BOUNDARY
    at_limits = [t for t in sitting.others if t.probe == "boundary"]
    assert len(at_limits) == 2 * OTHER_ROUNDS
    assert sitting.price() == sitting.price(BudgetKind.ORDINARY) + sitting.price(
        BudgetKind.BOUNDARY
    )


def test_probes_at_the_limits_are_left_out_where_they_cannot_be_paid() -> None:
    sitting = plan_sitting(
        VIEW,
        profile_choices("quick"),
        samples=LEAST_SAMPLES,
        boundary_left=1000,
        rng=Random(1),
    )
    assert sitting.unpaid == ("boundary",)
    assert sitting.price(BudgetKind.BOUNDARY) == 0


def passes(probe: str, good: int, wrong: int) -> list[Done]:
    """Return trials of one probe, some answered wrongly."""
    bench = Bench()
    history = History(registry=bench.registry, golden={GOLDEN.name: GOLDEN})
    said = ["It is Paris."] * good + ["It is Lyon."] * wrong
    return [
        a_done(bench, history, text, probe=probe, id=f"trial-{number}")
        for number, text in enumerate(said)
    ]


def test_a_pass_is_held_to_the_tolerance_of_what_it_asks() -> None:
    """A pass of hard questions alone is not held to what easy ones allow, nor the other way."""
    calibration = made(recording_of(*answers("golden", 2000, 0), *answers("pair", 100, 20)))
    assert calibration.tolerance < 0.04
    hard = passes("pair", 8, 3)
    assert {each.verdict.outcome for each in hard} == {Outcome.GOOD, Outcome.BAD}
    assert all(each.verdict.verdict_class <= VerdictClass.WRONG for each in hard)
    held = answers_of(hard, calibration.tolerance, calibration.tolerance_of)
    assert held.tolerance == pytest.approx(calibration.tolerance_of("pair"))
    assert not held.exceeded
    # The same pass, held to the one number of all answers together, would be a false alarm.
    assert answers_of(hard, calibration.tolerance).exceeded
    easy = passes("golden", 8, 3)
    assert answers_of(easy, calibration.tolerance, calibration.tolerance_of).exceeded
    mixed = answers_of([*hard, *easy], calibration.tolerance, calibration.tolerance_of)
    mean = (calibration.tolerance_of("pair") + calibration.tolerance_of("golden")) / 2
    assert mixed.tolerance == pytest.approx(mean)
    assert "golden" in mixed.exceeded_probes
    assert "pair" not in mixed.exceeded_probes
    assert mixed.group_tolerances["pair"] == pytest.approx(calibration.tolerance_of("pair"))


def test_a_group_whose_tolerance_is_above_one_half_is_not_judged_by_rate() -> None:
    calibration = made(recording_of(*answers("golden", 2000, 0), *answers("pair", 100, 60)))
    bad = passes("pair", 0, 30)
    held = answers_of([*bad, *passes("golden", 30, 0)], 0.1, calibration.tolerance_of)
    assert "pair" not in held.exceeded_probes
    assert answers_of(bad, 0.1, calibration.tolerance_of).judged is False
