"""A side that fails more than the other is told without a tolerance; what hangs together is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from monitor.model import ExchangeVerdict, Outcome, VerdictClass
from monitor.passes import Done
from monitor.reports.answers import answers_of
from monitor.reports.contrasts import CONTRAST_LEVEL, alike_of, axes_of, contrast, contrasts_of
from monitor.reports.groups import Judged
from monitor.reports.summary import exit_code_of
from monitor.reports.terminal import answers_words
from tests.bench.checks.groups import GOOD, a_pass, by_itself, by_trials, same_prompt_alike

WRONG = ExchangeVerdict(
    exchange=0,
    outcome=Outcome.BAD,
    verdict_class=VerdictClass.WRONG,
    reason="x",
    tolerated=True,
)
RUNS = 150


def failing(which: Callable[[Judged], bool], rate: float = 1.0, healthy: float = 0.0) -> list[bool]:
    """Return which answers of a standard pass fail, if some of them fail that often."""
    rng = np.random.default_rng(5)
    chances = [rate if which(entry) else healthy for entry in a_pass().judged]
    return [bool(each) for each in rng.random(len(chances)) < chances]


def judged(failed: list[bool]) -> list[Done]:
    """Return the trials of the pass with these answers wrong."""
    verdicts: dict[int, list[ExchangeVerdict]] = {}
    trials: dict[int, Done] = {}
    for (item, _, _), wrong in zip(a_pass().judged, failed, strict=True):
        trials[id(item)] = item
        verdicts.setdefault(id(item), []).append(WRONG if wrong else GOOD)
    return [
        Done(trial=item.trial, verdict=replace(item.verdict, exchanges=tuple(verdicts[key])))
        for key, item in trials.items()
    ]


def of_tenant_a(entry: Judged) -> bool:
    return entry[1].tenant == "tenant-a"


@pytest.mark.parametrize("tolerance", [0.25, 0.6])
def test_a_tenant_that_is_served_worse_is_told_below_and_above_any_tolerance(
    tolerance: float,
) -> None:
    done = judged(failing(of_tenant_a, 0.25, 0.01))
    said = answers_of(done, tolerance)
    assert said.exceeded_probes == []
    (found,) = said.contrasts
    assert (found.side, found.against) == ("tenant tenant-a", "other tenants")
    assert found.failed * found.answers_against > 5 * found.failed_against * found.answers
    assert found.probability <= CONTRAST_LEVEL / 5
    assert said.exceeded
    verdicts = [verdict for each in done for verdict in each.verdict.exchanges]
    code = exit_code_of(
        judged=verdicts, answers=said, outcomes={}, held_back=False, uncovered=False
    )
    assert code == 1
    counts = f"{found.failed} of {found.answers} wrong, other tenants {found.failed_against} of"
    assert f"; tenant tenant-a: {counts} {found.answers_against} at like" in answers_words(said)
    assert "more than the tolerance explains" not in answers_words(said)


def test_streams_that_lose_a_part_are_told_and_not_for_whole_answers() -> None:
    failed = failing(lambda entry: entry[1].request.stream, 0.25)
    assert [each.side for each in contrasts_of(a_pass().judged, failed)] == ["streams"]
    other = failing(lambda entry: not entry[1].request.stream, 0.25)
    assert [each.side for each in contrasts_of(a_pass().judged, other)] == ["whole answers"]


@pytest.mark.parametrize(
    "which",
    [
        lambda _: True,
        lambda entry: entry[1].expectation.comparison == "stream",
        lambda entry: entry[1].expectation.golden is not None,
        lambda entry: any(m.role == "assistant" for m in entry[1].request.messages),
        lambda entry: "/c32/" in entry[0].trial.stratum,
        lambda entry: entry[1].request.tools != (),
    ],
    ids=["all", "compared", "golden", "later", "batch", "tools"],
)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_what_makes_a_question_harder_is_no_side(
    which: Callable[[Judged], bool], rate: float
) -> None:
    """Also what is asked of one side more often, or compared on one side only."""
    assert contrasts_of(a_pass().judged, failing(which, rate)) == []


def test_one_trial_of_one_tenant_is_one_failure() -> None:
    members: dict[int, list[Judged]] = {}
    for entry in a_pass().judged:
        members.setdefault(id(entry[0]), []).append(entry)
    alone = [each for each in members.values() if len({e.tenant for _, e, _ in each}) == 1]
    largest = id(max(alone, key=len)[0][0])
    failed = failing(lambda entry: id(entry[0]) == largest)
    assert sum(failed) >= 8
    assert contrasts_of(a_pass().judged, failed) == []


def test_one_tenant_and_one_transport_have_no_sides() -> None:
    alike = [e for e in a_pass().judged if of_tenant_a(e) and not e[1].request.stream]
    assert axes_of(alike) == ()
    assert contrasts_of(alike, [True] * len(alike)) == []


@pytest.mark.parametrize("draw", [by_itself, same_prompt_alike, by_trials])
def test_healthy_weak_targets_keep_the_level(draw: Callable[..., np.ndarray]) -> None:
    """At a level that so few passes can show: a hundred times the one in force."""
    asked = a_pass()
    axes = axes_of(asked.judged)
    layout = [(axis, alike_of(axis, asked.judged)) for axis in axes]
    low = 0
    for failed in draw(asked, np.random.default_rng(11), 0.2)[:RUNS].tolist():
        least = min(contrast(axis, alike, failed).probability for axis, alike in layout)
        low += least <= 100 * CONTRAST_LEVEL / len(axes)
    # 1.5 passes are due; seven would come by chance in one of a thousand.
    assert low < 7
