"""Streams in the daemon: planned before they are asked more often; shown to who has the token."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import generate_latest

from monitor.cli.main import main
from monitor.conventions import ChangeKind
from monitor.daemon.evidence import live_evidence
from monitor.daemon.server import make_server
from monitor.model import Lane, VerdictClass
from monitor.reports.evidence import EvidenceReport
from monitor.store import open_store
from tests.unit.daemon.installed import (
    ManualClock,
    config_of,
    installed,
    schedule_of,
)
from tests.unit.watching.building import judged
from tests.unit.watching.test_flow import moved

TOKEN = "token-of-this-test"  # noqa: S105


def test_what_the_daemon_watches_is_what_is_shown_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, clock = config_of(tmp_path), ManualClock()

    async def test() -> EvidenceReport:
        with installed(config, clock, watched=True) as (installation, watch, _):
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            watching = installation.watching
            (planned, *_) = (
                each.key
                for each in watching.standings({"glm"})
                if (each.key.probe, each.key.lane.value) == ("canary", "tolerated")
            )
            for number in range(12):
                sent = judged("t", number=number, stratum=planned.stratum)
                watching.take(*sent, lambda _: None)
            app = make_server(installation, schedule, TOKEN, asyncio.Event())
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:1"
            ) as client:
                denied = await client.get("/api/evidence/glm")
                assert denied.status_code == 401
                headers = {"Authorization": f"Bearer {TOKEN}"}
                unknown = await client.get("/api/evidence/glm-6", headers=headers)
                assert unknown.status_code == 404
                assert "no target 'glm-6'" in unknown.json()["error"]
                told = await client.get("/api/evidence/glm", headers=headers)
            schedule.stop()
            report = EvidenceReport.model_validate(told.json()["report"])
            assert report == live_evidence(installation, "glm")
            return report

    live = asyncio.run(test())
    assert (live.live, live.exit_code, live.streams[0].alarm.tier) == (True, 1, "page")
    assert main(["evidence", "show", "glm", "--config", str(config.file), "--json", "-"]) == 1
    kept = EvidenceReport.model_validate(json.loads(capsys.readouterr().out))
    assert kept.live is False
    scored = {(s.probe, s.stratum, s.lane): s for s in live.streams if s.scored}
    for stream in kept.streams:
        same = scored.pop((stream.probe, stream.stratum, stream.lane))
        assert stream == same
    assert scored == {}
    assert main(["evidence", "show", "glm-6", "--config", str(config.file)]) == 2
    assert "no target 'glm-6'" in capsys.readouterr().err


def test_an_alarm_is_ended_through_the_daemon_and_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, clock = config_of(tmp_path), ManualClock()
    path, headers = "/api/evidence/glm/resolve", {"Authorization": f"Bearer {TOKEN}"}
    asked = {"who": "ann", "why": "s3cret reason"}

    async def test() -> None:
        with installed(config, clock, watched=True) as (installation, watch, _):
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            watching = installation.watching
            stratum = next(
                each.key.stratum
                for each in watching.standings({"glm"})
                if (each.key.probe, each.key.lane) == ("canary", Lane.TOLERATED)
            )
            for number in range(12):
                watching.take(*judged("t", number=number, stratum=stratum), lambda _: None)
            app = make_server(installation, schedule, TOKEN, asyncio.Event())
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:1", headers=headers
            ) as client:
                denied = await client.post(path, json=asked, headers={"Authorization": "no"})
                assert denied.status_code == 401
                wrong = await client.post(path, json=asked | {"lane": "none"})
                assert wrong.status_code == 400
                unknown = await client.post("/api/evidence/glm-6/resolve", json=asked)
                assert "no target 'glm-6'" in said(unknown)["error"]
                several = await client.post(path, json=asked)
                assert "several alarms" in said(several)["error"]
                done = await client.post(path, json=asked | {"lane": "tolerated"})
                place = f"glm canary {stratum} tolerated"
                assert said(done)["report"] == [
                    f"the alarm of {place} is over, its evidence begins anew"
                ]
            schedule.stop()
            alarmed = [s.key.lane for s in watching.standings({"glm"}) if s.watch.alarm]
            assert alarmed == [Lane.TREND]

    def said(reply: httpx.Response) -> dict[str, Any]:
        return json.loads(reply.text.splitlines()[-1])

    asyncio.run(test())
    given = ["glm", "--config", str(config.file)]
    assert main(["evidence", "show", *given]) == 1
    resolve = ["evidence", "resolve", *given, "--who", "ann", "--why", "s3cret reason"]
    assert main([*resolve, "--lane", "trend"]) == 0
    assert "the alarm of glm trend is over" in capsys.readouterr().out
    assert main(["evidence", "show", *given]) == 0
    assert main(resolve) == 2
    assert "glm: no such alarm" in capsys.readouterr().err
    with open_store(tmp_path / "store") as store:
        first, second = store.audit.links(2)
        assert store.audit.verify(None).whole
    assert (first.action, first.actor, second.object) == ("end_alarm", "ann", "glm trend")
    assert "s3cret" not in first.details + second.details


def test_thresholds_follow_before_a_changed_target_is_asked_more_often(tmp_path: Path) -> None:
    budgets = {"daily_budget": {"tokens": 200_000}, "boundary_budget": {"tokens": 2_000_000}}

    async def test() -> None:
        config, clock = config_of(tmp_path, defaults=budgets), ManualClock()
        with installed(config, clock, watched=True) as (installation, watch, _):
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            before = limits(installation)
            jobs_when_told: list[Any] = []
            lay = schedule._lay

            def noted(*arguments: Any) -> None:
                jobs_when_told.append(limits(installation))
                lay(*arguments)

            schedule._lay = noted
            schedule.changes.note("glm", ChangeKind.DEPLOY, clock.now())
            schedule.stop()
            after = limits(installation)
            more = [key for key in before if (after[key] or 0) > before[key] * 1.01]
            assert more
            assert all(told == after for told in jobs_when_told)
            assert jobs_when_told

    def limits(installation: Any) -> dict[Any, Any]:
        standings = installation.watching.standings({"glm"})
        return {s.key: s.watch.thresholds.ticket for s in standings}

    asyncio.run(test())


def test_a_stream_that_moved_is_stored_and_found_and_is_no_stratum(tmp_path: Path) -> None:
    with installed(config_of(tmp_path), ManualClock(), watched=True) as (installation, _, __):
        installation.watching.plan("glm", {("golden", "short/c1/cold/plain/one"): 288.0})
        for number in range(8):
            sent = moved(number)
            for sink in installation.runner._pipeline._sinks:
                sink.deliver(*sent)
        (finding,) = installation.findings.list_open("glm")
        assert (finding.verdict_class, finding.shape) == (VerdictClass.DRIFT, "facts")
        installation.store.flush()
        counts = installation.store.reader.counts()
        told = counts["verdicts"] - 8
        assert told == finding.count >= 1
        assert (counts["trials"], counts["findings"]) == (8, 1)
        page = generate_latest(installation.metrics).decode()
        assert 'davylamp_probe_last_run_timestamp_seconds{env="default",probe="golden"' in page
        # As if it had been asked once, and long ago.
        assert not re.search(r'davylamp_probe_last_\w+{[^}]*stratum=""', page)


@pytest.mark.parametrize(("kind", "sent"), [(ChangeKind.VERSION, 1), (ChangeKind.LATENCY, 2)])
def test_a_change_is_a_new_start_and_another_latency_is_none(
    tmp_path: Path, kind: ChangeKind, sent: int
) -> None:
    clock = ManualClock()
    with installed(config_of(tmp_path), clock, watched=True) as (installation, watch, _):

        async def test() -> None:
            schedule = schedule_of(installation, watch)
            await schedule.start(paused=True)
            installation.watching.take(*judged("g"), lambda _: None)
            schedule.changes.note("glm", kind, clock.now())
            installation.watching.take(*judged("g", number=1), lambda _: None)
            schedule.stop()

        asyncio.run(test())
        trend = [s for s in installation.watching.standings({"glm"}) if s.key.lane is Lane.TREND]
        assert [each.sent for each in trend] == [sent]
