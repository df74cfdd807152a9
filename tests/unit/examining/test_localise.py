"""Where a fault shows: which strata are asked, how often, and what that says of each axis."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.examining import Localise, localise_finding
from monitor.model import Request
from monitor.probes.base import stratum
from monitor.reports.examination import Reading
from monitor.reports.localisation import Bearing, LocalisationReport, render_localisation
from tests.unit.examining.looking import Scene, looking


def bearings(report: LocalisationReport) -> dict[str, Bearing]:
    return {axis.axis: axis.bearing for axis in report.axes}


def test_an_axis_matters_where_the_fault_does_not_show(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding("canary", number=0)
        assert finding.stratum == stratum()

        def said(request: Request) -> str:
            return "hello" if request.stream else scene.leaks(request)

        scene.engine.said = said
        report = await localise_finding(
            scene.installation, Localise(finding=finding.id), scene.steps.append
        )
        assert (report.exit_code, report.verdict) == (1, "still bad")
        home, streamed = report.places
        assert (home.stratum, home.sent, home.reading) == (stratum(), 1, Reading.SHOWN)
        assert (streamed.axis, streamed.value) == ("transport", "stream")
        assert (streamed.sent, streamed.clean, streamed.reading) == (5, 5, Reading.CLEAN)
        assert streamed.upper_bound == pytest.approx(1 - 0.05 ** (1 / 5))
        assert bearings(report)["transport"] is Bearing.MATTERS
        assert {b for axis, b in bearings(report).items() if axis != "transport"} == {
            Bearing.NOT_ASKED
        }
        assert (report.exposures, len(scene.engine.asked)) == (1, 6)
        lines = render_localisation(report)
        assert any("transport (plain) matters" in line for line in lines)
        assert any("1 answer carried somebody else's text" in line for line in lines)

    looking(tmp_path, test)


def test_each_place_is_asked_no_more_once_it_showed(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        report = await localise_finding(
            scene.installation, Localise(finding=finding.id, repeats=9), scene.steps.append
        )
        assert [place.sent for place in report.places] == [1, 1]
        assert bearings(report)["transport"] is Bearing.DOES_NOT_MATTER
        assert report.exposures == 2
        after = scene.installation.findings.find(finding.id)
        assert after is not None
        assert after.children == (stratum(transport="stream"),)
        assert after.count == finding.count

    looking(tmp_path, test)


def test_a_fault_that_does_not_show_again_tells_nothing(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        scene.engine.said = lambda request: "hello"
        ask = Localise(finding=finding.id, repeats=2)
        report = await localise_finding(scene.installation, ask, scene.steps.append)
        assert (report.exit_code, report.verdict) == (3, "could not tell")
        assert len(report.trials) == 2, "its neighbours are not asked for nothing"
        assert set(bearings(report).values()) == {Bearing.NOT_ASKED}

    looking(tmp_path, test)


def test_errors_of_a_neighbour_are_not_clean(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()

        def said(request: Request) -> str:
            scene.engine.refuse(503)  # from the next one on
            return scene.leaks(request)

        scene.engine.said = said
        report = await localise_finding(
            scene.installation, Localise(finding=finding.id), scene.steps.append
        )
        assert report.places[1].reading is Reading.UNCLEAR
        assert bearings(report)["transport"] is Bearing.UNCLEAR

    looking(tmp_path, test)


@pytest.mark.parametrize("begins", [16_384, 32_768])
def test_along_many_lengths_it_is_halved_where_a_fault_begins(tmp_path: Path, begins: int) -> None:
    async def test(scene: Scene) -> None:
        def said(request: Request) -> str:
            size = len(request.text()) // 4
            return scene.leaks(request) if size > begins * 0.75 else "hello"

        plans = scene.plans("deep", "boundary")
        inside = next(plan for plan in plans if plan.stratum.startswith("inside-65536/"))
        finding = await scene.found(said, inside)
        ask = Localise(finding=finding.id, repeats=1)
        report = await localise_finding(scene.installation, ask, scene.steps.append)
        (length,) = [axis for axis in report.axes if axis.axis == "length"]
        assert (length.bearing, length.begins) == (Bearing.MATTERS, f"inside-{begins}")
        halved = [place for place in report.places if place.axis == "length"]
        assert len(halved) == 2
        assert report.exit_code == 1

    looking(tmp_path, test, {"probes": "deep", "gentle": False})


def test_it_ends_with_the_trials_that_were_allowed_or_the_money(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        finding = await scene.finding()
        ask = Localise(finding=finding.id, most_trials=1)
        report = await localise_finding(scene.installation, ask, scene.steps.append)
        assert (report.exit_code, len(report.trials)) == (1, 1)
        assert report.reasons == ["no more than 1 trials were allowed"]
        planned = Localise(finding=finding.id, sends=False)
        report = await localise_finding(scene.installation, planned, scene.steps.append)
        assert (report.exit_code, report.verdict, report.trials) == (0, "planned", [])
        assert report.most_trials == 10

    looking(tmp_path, test)
