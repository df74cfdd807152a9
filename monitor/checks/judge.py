"""JUDGE: another model holds the answer to be right, where it is asked and trusted."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import Check, Specimen, could_not_judge, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Measurement, Signal, Trial

CODE = "JUDGE"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if the judge holds the answer wrong in both orders; never proof of anything.

    Skips where the judge was not asked, abstained, or is not trusted yet: then its word is in the
    explanation. Error if a trusted judge failed or was garbled, for whoever switches it on counts
    on it. False alarms: at most about 2 % of the right answers it is shown, or it is not trusted.
    """
    reading = history.measured.get(exchange.index)
    if reading is None:
        return [skipped(CODE, exchange, "no judge is configured")]
    if CODE in reading.broken:
        return [could_not_judge(CODE, exchange, reading.broken[CODE])]
    if CODE in reading.skipped:
        return [skipped(CODE, exchange, reading.skipped[CODE])]
    if reading.judged_right is None:
        return [skipped(CODE, exchange, "no judge is configured")]
    if reading.judged_right:
        return [passed(CODE, exchange, "the judge holds it right, in both orders")]
    return [failed(CODE, exchange, "wrong", "the judge holds it wrong, in both orders")]


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return an answer the judge held wrong, and one it held right."""
    scene = Scene(rng)
    golden = Expectation(golden="facts/capital-france")
    return [
        scene.specimen(
            an_exchange("The capital is Lyon.", expects=golden),
            fails="wrong",
            measured={0: Measurement(judged_right=False)},
        ),
        scene.specimen(
            an_exchange("The capital is Paris.", expects=golden),
            measured={0: Measurement(judged_right=True)},
        ),
    ]


CHECK = Check(code=CODE, judge=judge, measured=True, specimens=specimens)
