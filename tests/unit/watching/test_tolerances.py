"""What each lane is held to: objective, calibration with its margin, configuration, default."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.engines.scripted import ScriptedEngine
from monitor.live import LiveTarget
from monitor.model import (
    Calibration,
    CalibrationState,
    CalibrationStatus,
    FirstTokens,
    GroupBaseline,
    Lane,
)
from monitor.probes.base import TargetView
from monitor.streams import UNCALIBRATED_FACTS_Y0, UNCALIBRATED_Y0, StreamKey
from monitor.watching import Held, HeldBy, Tolerances, held
from tests.builders import NOW
from tests.unit.watching.building import key_of

HARD, TOLERATED, TREND = (key_of(lane) for lane in (Lane.HARD, Lane.TOLERATED, Lane.TREND))
FIRST = StreamKey(target="glm", lane=Lane.FIRST_TOKEN, probe="border")
FACTS = StreamKey(target="glm", lane=Lane.FACTS, probe="golden")


def group(probe: str, name: str, tolerance: float) -> GroupBaseline:
    return GroupBaseline(probe=probe, group=name, judged=100, failed=1, tolerance=tolerance)


def calibrated(*groups: GroupBaseline, **fields: object) -> CalibrationStatus:
    record = {
        "id": "cal-1",
        "target": "glm",
        "model": "glm-5.3",
        "made_at": NOW,
        "made_by": "ada",
        "reason": "",
        "subject": "s",
        "checks_version": "1",
        "tolerance": 0.03,
        "margin": 0.02,
        "groups": groups,
    }
    made = Calibration(**record | fields)
    return CalibrationStatus(state=CalibrationState.VALID, newest=made)


def live(
    calibration: CalibrationStatus | None = None, configured: float | None = None
) -> LiveTarget:
    target = LiveTarget(
        view=TargetView(name="glm", model="glm-5.3", tenants=(), limits=()),
        engine=ScriptedEngine([]),
        credentials={},
        timeout_seconds=1.0,
        tolerance=0.1,
    )
    target.hold_to(calibration or CalibrationStatus(), configured)
    return target


def test_hard_failures_may_come_as_often_as_the_objective_leaves_room() -> None:
    found = held(HARD, live(configured=0.4), 99.5)
    assert found == Held(y0=pytest.approx(0.005), by=HeldBy.OBJECTIVE)


def test_without_a_calibration_the_default_holds_or_what_is_configured() -> None:
    assert held(TOLERATED, live(), 99.9) == Held(y0=0.1, by=HeldBy.DEFAULT)
    assert held(TREND, live(configured=0.2), 99.9) == Held(y0=0.2, by=HeldBy.CONFIGURED)
    assert held(FACTS, live(), 99.9) == Held(y0=UNCALIBRATED_FACTS_Y0, by=HeldBy.DEFAULT)
    assert held(FIRST, live(), 99.9) == Held(y0=UNCALIBRATED_Y0, by=HeldBy.DEFAULT)


def test_a_calibration_gives_its_bound_with_the_margin() -> None:
    target = live(calibrated(group("canary", "", 0.04), group("golden", "", 0.07)))
    assert held(TOLERATED, target, 99.9) == Held(y0=0.04, by=HeldBy.CALIBRATED)
    assert held(TREND, target, 99.9) == Held(y0=0.07, by=HeldBy.CALIBRATED)


def test_a_stratum_is_held_to_the_laxest_of_the_groups_it_is_in() -> None:
    groups = (group("canary", "", 0.04), group("canary", "cold cache", 0.09))
    assert held(TOLERATED, live(calibrated(*groups)), 99.9).y0 == 0.09
    assert held(replace(TOLERATED, stratum="s"), live(calibrated(*groups)), 99.9).y0 == 0.04
    bursts = replace(TOLERATED, stratum="mixed/c16/cold/both/pair")
    for name in ("mixed length", "16 at once", "8 or more at once"):
        lax = live(calibrated(group("canary", "", 0.04), group("canary", name, 0.09)))
        assert held(bursts, lax, 99.9).y0 == 0.09
    five = replace(TOLERATED, stratum="mixed/c5/cold/both/pair")
    assert held(five, lax, 99.9).y0 == 0.04


def test_no_tolerance_is_below_what_the_objective_leaves() -> None:
    assert held(TOLERATED, live(calibrated(group("canary", "", 0.01))), 95.0).y0 == pytest.approx(
        0.05
    )


def test_first_tokens_are_held_to_what_was_unseen_when_healthy() -> None:
    tokens = (FirstTokens(border_input="b", seen=(("a", 60), ("b", 40))),)
    found = held(FIRST, live(calibrated(first_tokens=tokens)), 99.9)
    assert found == Held(y0=pytest.approx(0.0295 + 0.02, abs=1e-3), by=HeldBy.CALIBRATED)


@pytest.mark.parametrize(
    ("key", "target", "objective"),
    [(TOLERATED, live(configured=0.6), 99.9), (HARD, live(), 40.0)],
)
def test_beyond_a_half_nobody_watches(key: StreamKey, target: LiveTarget, objective: float) -> None:
    assert held(key, target, objective).y0 is None


def test_a_new_calibration_holds_from_now_on() -> None:
    target = live()
    of = Tolerances({"glm": target}, {"glm": 99.9})
    assert of(TOLERATED).y0 == 0.1
    target.hold_to(calibrated(group("canary", "", 0.04)), None)
    assert of(TOLERATED) == Held(y0=0.04, by=HeldBy.CALIBRATED)
    assert of(TOLERATED) is of(TOLERATED)
