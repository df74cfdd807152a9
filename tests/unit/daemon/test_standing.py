"""How probes stand by their last verdicts, and the page that says so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.conventions import endpoint
from monitor.conventions.metric import Metric
from monitor.daemon.probepages import standing_page
from monitor.daemon.standing import OLDEST, Last, LastVerdicts, Standing, State
from monitor.model import Outcome, VerdictClass
from monitor.store import open_store
from monitor.store.encode import verdict_rows
from tests.unit.store.samples import NOW, exchange, trial, verdict

HOUR = 3600.0


def last(outcome: Outcome = Outcome.GOOD, age: float = 60.0, **changes: object) -> Last:
    values: dict[str, object] = {
        "stratum": "short/c1/cold/plain/pair",
        "outcome": outcome,
        "class_label": "LEAK" if outcome is Outcome.BAD else "none",
        "decided_at": NOW - timedelta(seconds=age),
        "seconds": 1.5,
    }
    return Last(**(values | changes))  # type: ignore[arg-type]


def standing(found: Last | None, probe: str = "canary", every: float | None = HOUR) -> Standing:
    return Standing(probe=probe, every_seconds=every, last=found)


def samples(*standings: Standing, asked_for: bool = False) -> dict[str, float]:
    """Return the page's samples: name, and what differs of the labels, to value."""
    page = standing_page(standings, NOW, asked_for=asked_for).decode()
    return {
        " ".join([sample.name, *(sample.labels[name] for name in sorted(sample.labels))]): (
            sample.value
        )
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


@pytest.mark.parametrize("outcome", Outcome)
def test_a_fresh_verdict_stands_for_its_outcome(outcome: Outcome) -> None:
    assert standing(last(outcome)).state(NOW) == outcome


@pytest.mark.parametrize(
    ("every", "age", "stale"),
    [
        (HOUR, 3 * HOUR, False),
        (HOUR, 3 * HOUR + 1, True),
        (1.0, 300.0, False),
        (1.0, 301.0, True),
        (30 * 24 * HOUR, OLDEST.total_seconds(), False),
        (30 * 24 * HOUR, OLDEST.total_seconds() + 1, True),
    ],
)
def test_a_verdict_is_believed_for_three_runs(every: float, age: float, stale: bool) -> None:
    found = standing(last(age=age), every=every).state(NOW)
    assert found is (State.STALE if stale else State.GOOD)


def test_a_probe_without_a_verdict_and_one_that_is_never_asked() -> None:
    assert standing(None).state(NOW) is State.NEVER
    assert standing(last(), every=None).state(NOW) is State.NOT_PROBED


GOOD, BAD = standing(last(), "a"), standing(last(Outcome.BAD), "b")
ERROR, INVALID = standing(last(Outcome.ERROR), "c"), standing(last(Outcome.INVALID), "d")
STALE, NEVER = standing(last(age=1e6), "e"), standing(None, "f")
UNASKED = standing(None, "g", every=None)


@pytest.mark.parametrize(
    ("standings", "success", "known"),
    [
        ([GOOD], 1, 1),
        ([GOOD, replace(GOOD, probe="h")], 1, 1),
        ([GOOD, BAD], 0, 1),
        ([BAD], 0, 1),
        ([ERROR], 0, 0),
        ([INVALID], 0, 0),
        ([STALE], 0, 0),
        ([NEVER], 0, 0),
        ([GOOD, ERROR], 0, 0),
        ([GOOD, INVALID], 0, 0),
        ([GOOD, STALE], 0, 0),
        ([GOOD, NEVER], 0, 0),
        ([BAD, NEVER, ERROR], 0, 1),
        ([GOOD, UNASKED], 1, 1),
        ([UNASKED], 0, 0),
        ([], 0, 0),
    ],
)
def test_what_could_not_tell_is_never_success(
    standings: list[Standing], success: float, known: float
) -> None:
    found = samples(*standings)
    assert (found["probe_success"], found["davylamp_probe_known"]) == (success, known)


def test_a_module_that_is_never_asked_is_no_success() -> None:
    found = samples(UNASKED, asked_for=True)
    assert (found["probe_success"], found["davylamp_probe_known"]) == (0, 0)


def test_what_the_page_says_of_each_probe() -> None:
    slow = standing(last(Outcome.BAD, age=90.0, seconds=4.0), "boundary")
    found = samples(GOOD, slow, NEVER, UNASKED)
    assert found["probe_duration_seconds"] == 4.0
    assert found["davylamp_probe_verdict_age_seconds a"] == 60.0
    assert found["davylamp_probe_verdict_age_seconds boundary"] == 90.0
    info = "davylamp_probe_verdict_info "
    assert {name.removeprefix(info) for name in found if name.startswith(info)} == {
        "none a good short/c1/cold/plain/pair",
        "LEAK boundary bad short/c1/cold/plain/pair",
        "none f never ",
        "none g not_probed ",
    }


def test_every_metric_of_the_page_is_one_of_the_conventions() -> None:
    page = standing_page([GOOD], NOW, asked_for=False).decode()
    families = {family.name: family for family in text_string_to_metric_families(page)}
    named = [each for each in vars(endpoint).values() if isinstance(each, Metric)]
    assert families.keys() == {each.name for each in named}
    for each in named:
        (sample,) = families[each.name].samples
        assert set(sample.labels) == set(each.labels)


def test_a_recalled_verdict_has_no_duration() -> None:
    assert "probe_duration_seconds" not in samples(standing(last(seconds=None)))


def test_the_newest_scheduled_verdict_is_the_last() -> None:
    verdicts = LastVerdicts()
    verdicts.note(trial(1), verdict(1, outcome=Outcome.GOOD, verdict_class=VerdictClass.NONE))
    verdicts.note(trial(2), verdict(2))
    verdicts.note(trial(3), verdict(3, scheduled=False, outcome=Outcome.GOOD))
    verdicts.note(trial(4), verdict(4, source="stream", outcome=Outcome.GOOD))
    found = verdicts.of("glm", "canary")
    assert found is not None
    assert (found.outcome, found.class_label) == (Outcome.BAD, "LEAK")
    assert found.decided_at == verdict(2).decided_at
    assert verdicts.of("glm", "boundary") is verdicts.of("other", "canary") is None


def test_how_long_a_trial_took() -> None:
    verdicts = LastVerdicts()
    late = replace(
        exchange(1), timing=replace(exchange().timing, started_at=NOW + timedelta(seconds=3))
    )
    verdicts.note(trial(exchanges=(exchange(0), late)), verdict())
    found = verdicts.of("glm", "canary")
    assert found is not None
    assert found.seconds == 3.5


def test_what_the_store_has_is_recalled_but_not_over_what_is_newer(tmp_path: Path) -> None:
    kept = (
        verdict(0, outcome=Outcome.GOOD, verdict_class=VerdictClass.NONE),
        verdict(1),
        verdict(2, scheduled=False, outcome=Outcome.GOOD),
        verdict(3, source="rescore", outcome=Outcome.GOOD),
        verdict(4, "other", outcome=Outcome.ERROR, verdict_class=VerdictClass.NONE),
    )
    with open_store(tmp_path / "store") as store:
        store.writer.put([row for each in kept for row in verdict_rows(each)])
        store.flush()
        rows = store.reader.last_scheduled(NOW)
        assert not store.reader.last_scheduled(NOW + timedelta(hours=1))
    assert {(row.target, row.probe, row.id) for row in rows} == {
        ("glm", "canary", "verdict-glm-1"),
        ("other", "canary", "verdict-other-4"),
    }
    verdicts = LastVerdicts()
    verdicts.note(trial(9, target="other"), verdict(9, target="other"))
    verdicts.recall(rows)
    recalled, newer = verdicts.of("glm", "canary"), verdicts.of("other", "canary")
    assert recalled is not None
    assert newer is not None
    assert (recalled.outcome, recalled.class_label, recalled.seconds) == (Outcome.BAD, "LEAK", None)
    assert recalled.decided_at == verdict(1).decided_at
    assert newer.outcome is Outcome.BAD
