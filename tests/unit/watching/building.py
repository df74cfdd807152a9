"""Trials and verdicts as streams see them, a fleet of them, and a book that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from monitor.config.detection import Detection
from monitor.model import (
    ExchangeVerdict,
    Lane,
    Outcome,
    Signal,
    Status,
    Trial,
    Verdict,
    VerdictClass,
)
from monitor.streams import StreamKey
from monitor.watching import Book, Fleet, Held, HeldBy, Standing, scores_a_day
from tests.builders import NOW, a_signal, a_trial, an_exchange

PLAN = {("canary", "short/c1/cold/plain/one"): 288.0, ("tenant", "short/c1/cold/plain/two"): 24.0}
Y0 = {Lane.HARD: 0.001, Lane.TOLERATED: 0.1, Lane.TREND: 0.1, Lane.FACTS: 0.25}


def judged(letters: str, *, number: int = 0, **fields: object) -> tuple[Trial, Verdict]:
    """Return a trial whose exchanges were (g)ood, (h)ard, (t)olerated, (e)rror or (i)nvalid."""
    trial = a_trial(
        *(an_exchange(index=index) for index in range(len(letters))),
        **{"id": f"trial-{number}"} | fields,
    )
    signals = [_signal(letter, index) for index, letter in enumerate(letters) if letter in "ht"]
    return trial, verdict_of(trial, letters, signals, number)


def _signal(letter: str, index: int) -> Signal:
    if letter == "h":
        return a_signal("SPECIAL", Status.FAIL, "control_token", index)
    return a_signal("ONTOPIC", Status.FAIL, "wrong", index)


def verdict_of(trial: Trial, letters: str, signals: list[Signal], number: int = 0) -> Verdict:
    """Return the verdict of a trial whose exchanges came to this."""
    outcomes = [_judged(letter, index) for index, letter in enumerate(letters)]
    worst = next((o.outcome for o in outcomes if o.outcome is Outcome.BAD), outcomes[0].outcome)
    return Verdict(
        id=f"verdict-{number}",
        source="probe",
        trial=trial.id,
        target=trial.target,
        model=trial.model,
        probe=trial.probe,
        shape=trial.shape,
        stratum=trial.stratum,
        decided_at=NOW + timedelta(minutes=number),
        outcome=worst,
        verdict_class=max(o.verdict_class for o in outcomes),
        reason="",
        signals=tuple(signals),
        exchanges=tuple(outcomes),
        checks_version="1",
        scheduled=trial.scheduled,
    )


def _judged(letter: str, index: int) -> ExchangeVerdict:
    outcome = {"g": Outcome.GOOD, "e": Outcome.ERROR, "i": Outcome.INVALID}.get(letter, Outcome.BAD)
    bad = outcome is Outcome.BAD
    return ExchangeVerdict(
        exchange=index,
        outcome=outcome,
        verdict_class=VerdictClass.WRONG if bad else VerdictClass.NONE,
        reason="",
        hard=letter == "h",
        tolerated=letter == "t",
    )


def held_to(y0: Mapping[Lane, float | None] = Y0) -> object:
    """Return what says how often a stream may fail, by lane; by default never mind the target."""
    return lambda key: Held(y0=y0.get(key.lane, 0.1), by=HeldBy.DEFAULT)


def a_fleet(*targets: str, **detection: object) -> Fleet:
    """Return a fleet of these targets, each with the same plan."""
    fleet = Fleet(Detection(**detection), targets)
    for target in targets:
        fleet.plan(target, scores_a_day(target, PLAN))
    return fleet


def a_book(*known: Standing, targets: tuple[str, ...] = ("glm",), **detection: object) -> Book:
    """Return a book over such a fleet."""
    return Book(a_fleet(*targets, **detection), held_to(), known)


def key_of(
    lane: Lane, probe: str = "canary", stratum: str = "short/c1/cold/plain/one"
) -> StreamKey:
    """Return a stream of the only target; TREND has neither probe nor stratum."""
    if lane is Lane.TREND:
        return StreamKey(target="glm", lane=lane)
    return StreamKey(target="glm", lane=lane, probe=probe, stratum=stratum)
