"""Calibrating through the daemon: who may, what it streams, and that the schedule follows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from monitor.app import Installation
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.server import make_server
from monitor.engines.scripted import ScriptedEngine
from monitor.reports.calibration import CalibrationReport
from tests.unit.calibrating.pupil import FACTS, PROMPTS, Pupil
from tests.unit.daemon.installed import ManualClock, config_of, installed, schedule_of

TOKEN = "token-of-this-test"  # noqa: S105
MISSED = frozenset({PROMPTS[0].name})
BODY = {"target": "glm", "who": "anna", "samples": 3}
Test = Callable[[httpx.AsyncClient, ProbeSchedule, Installation, Pupil], Coroutine[Any, Any, None]]


def with_daemon(folder: Path, test: Test) -> None:
    pupil = Pupil(misses=MISSED)
    config = config_of(folder, {"probes": [FACTS]})
    with installed(config, ManualClock()) as (installation, watch, _):
        live = installation.targets["glm"]
        live.engine = ScriptedEngine(pupil)
        live.view = replace(live.view, limits=())

        async def run() -> None:
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            app = make_server(installation, schedule, TOKEN, asyncio.Event())
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app),
                base_url="http://127.0.0.1:1",
                headers=headers,
            ) as client:
                await test(client, schedule, installation, pupil)
            schedule.stop()

        asyncio.run(run())


def test_it_needs_the_token_and_a_whole_question(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Any, pupil: Pupil) -> None:
        nobody = {"Authorization": "Bearer other"}
        asked = await client.post("/api/calibrate", json=BODY, headers=nobody)
        assert asked.status_code == 401
        assert (await client.get("/api/calibrations/glm", headers=nobody)).status_code == 401
        for broken in ({}, {**BODY, "samples": 2}, {**BODY, "who": ""}, {**BODY, "more": 1}):
            assert (await client.post("/api/calibrate", json=broken)).status_code == 400
        assert (await client.get("/api/calibrate")).status_code == 405
        assert (await client.get("/api/calibrations/nobody")).status_code == 404
        unknown = await client.post("/api/calibrate", json={**BODY, "target": "nobody"})
        assert "no target 'nobody'" in json.loads(unknown.text.splitlines()[-1])["error"]
        assert pupil.asked == 0

    with_daemon(tmp_path, test)


def test_the_daemon_is_held_to_it_at_once_and_its_plan_follows(tmp_path: Path) -> None:
    async def test(
        client: httpx.AsyncClient,
        schedule: ProbeSchedule,
        installation: Installation,
        pupil: Pupil,
    ) -> None:
        shown = await client.get("/api/calibrations/glm")
        assert shown.json()["report"]["calibrated"]["state"] == "none"
        reply = await client.post("/api/calibrate", json=BODY)
        said = [json.loads(line) for line in reply.text.splitlines()]
        steps = [line["step"] for line in said if "step" in line]
        assert steps[0]["done"] == 0
        assert "tokens" in steps[0]["words"]
        assert steps[-1]["done"] == steps[-1]["total"] == 3 * len(PROMPTS)
        report = CalibrationReport.model_validate(said[-1]["report"])
        assert report.exit_code == 0
        assert [each.prompt for each in report.calibrated.quarantined] == [PROMPTS[0].name]
        live = await schedule._readiness.ready("glm")
        while not live.view.quarantined:
            await asyncio.sleep(0)
            live = schedule._readiness.known("glm")
        assert live.calibration is not None
        assert schedule._planned["glm"][2] == live.view.quarantined
        again = await client.post("/api/calibrate", json=BODY)
        assert "--replace" in json.loads(again.text.splitlines()[-1])["error"]
        after = (await client.get("/api/calibrations/glm")).json()["report"]
        assert after["calibrated"]["state"] == "valid"
        assert after["baseline"]["prompts"]

    with_daemon(tmp_path, test)
