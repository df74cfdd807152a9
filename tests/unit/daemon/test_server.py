"""The daemon's pages: who may call them, under which names, and what a crash looks like."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from monitor.app import Installation
from monitor.daemon import pages, server
from monitor.daemon.line import report_of
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.server import make_server
from monitor.errors import DavylampError, UnsureError, UsageError
from monitor.serving import host_name, own_names, url_of
from tests.unit.daemon.installed import (
    FakeEngine,
    ManualClock,
    config_of,
    installed,
    schedule_of,
)

TOKEN = "token-of-this-test"  # noqa: S105
Test = Callable[
    [httpx.AsyncClient, ProbeSchedule, Installation, FakeEngine], Coroutine[Any, Any, Any]
]


def with_server(folder: Path, test: Test, **settings: Any) -> None:
    clock = ManualClock()
    with installed(config_of(folder, **settings), clock) as (installation, watch, engines):

        async def run() -> None:
            schedule = schedule_of(installation, watch)
            app: Starlette = make_server(installation, schedule, TOKEN, asyncio.Event())
            transport = httpx.ASGITransport(app=app)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:1", headers=headers
            ) as client:
                await test(client, schedule, installation, engines["glm"])

        asyncio.run(run())


def test_names_under_which_it_answers(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, *_: Any) -> None:
        for host in ("davylamp.example.com:18150", "LOCALHOST", "[::1]:1", "127.0.0.1"):
            found = await client.get("/api/findings", headers={"Host": host})
            assert found.status_code == 200, host
        for host in ("evil.example", "", "localhost.evil.example", "[::2]:80"):
            found = await client.get("/api/findings", headers={"Host": host})
            assert found.status_code == 400, host
            for path in ("/metrics", "/healthz"):
                assert (await client.get(path, headers={"Host": host})).status_code == 200

    listen = {"host": "0.0.0.0", "hosts": ["davylamp.example.com"]}  # noqa: S104
    with_server(tmp_path, test, listen=listen)


@pytest.mark.parametrize(
    ("header", "name"),
    [("a.b:80", "a.b"), ("[::1]:80", "::1"), ("::1", "::1"), ("A.B", "a.b"), ("", ""), ("[", "")],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


def test_every_address_is_no_name_of_its_own() -> None:
    assert "0.0.0.0" not in own_names("0.0.0.0")  # noqa: S104
    assert "10.0.0.7" in own_names("10.0.0.7")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:18150"),
        ("::1", "http://[::1]:18150"),
        ("::", "http://[::1]:18150"),
        ("0.0.0.0", "http://127.0.0.1:18150"),  # noqa: S104
        ("monitor.example.com", "http://monitor.example.com:18150"),
    ],
)
def test_where_it_says_it_answers(host: str, url: str) -> None:
    assert url_of(host, 18150) == url


def test_probe_now_needs_the_token_and_post(tmp_path: Path) -> None:
    async def test(
        client: httpx.AsyncClient, schedule: ProbeSchedule, _: Any, engine: FakeEngine
    ) -> None:
        body = {"target": "glm", "reason": "deploy"}
        assert (await client.get("/api/probe-now")).status_code == 405
        for wrong in ("", "Bearer", "Bearer other"):
            found = await client.post("/api/probe-now", json=body, headers={"Authorization": wrong})
            assert found.status_code == 401
        for broken, words in (
            ({}, "target: Field required"),
            ({"target": "glm", "reason": "mood"}, "reason: Input should be 'deploy', "),
            ({"target": "glm", "more": 1}, "more: Extra inputs are not permitted"),
        ):
            found = await client.post("/api/probe-now", json=broken)
            assert found.status_code == 400
            assert found.json()["error"].startswith(words)
            assert "mood" not in found.text
        unknown = await client.post("/api/probe-now", json={"target": "other"})
        assert unknown.status_code == 404
        assert not engine.asked
        assert not schedule.changes.raised("glm", ManualClock().now())

    with_server(tmp_path, test)


def test_probe_now_asks_at_the_limits_first_and_raises_the_rates(tmp_path: Path) -> None:
    async def test(
        client: httpx.AsyncClient,
        schedule: ProbeSchedule,
        installation: Installation,
        engine: FakeEngine,
    ) -> None:
        body = {"target": "glm", "probes": ["canary", "boundary"], "wait": True}
        reply = await client.post("/api/probe-now", json=body)
        said = [json.loads(line) for line in reply.text.splitlines()]
        steps = [line["step"]["words"].split()[0] for line in said if "step" in line]
        assert steps == sorted(steps)
        assert set(steps) == {"boundary", "canary"}
        (report,) = [line["report"] for line in said if "report" in line]
        assert report["targets"][0]["target"] == "glm"
        assert schedule.changes.raised("glm", installation.clock.now())
        assert installation.budget.spent_tokens("glm", "boundary") > 0

    with_server(tmp_path, test)


def test_a_pipeline_does_not_wait_and_two_at_once_are_one(tmp_path: Path) -> None:
    async def test(
        client: httpx.AsyncClient, schedule: ProbeSchedule, installation: Installation, _: Any
    ) -> None:
        body = {"target": "glm", "probes": ["canary"], "reason": "deploy"}
        first, second = [await client.post("/api/probe-now", json=body) for _ in range(2)]
        assert (first.status_code, second.status_code) == (202, 202)
        assert not first.json()["already_running"]
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(others)
        assert schedule.changes.raised("glm", installation.clock.now())

    with_server(tmp_path, test)


def test_a_check_that_crashes_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(*_: Any) -> None:
        msg = "text that could be an answer"
        raise KeyError(msg)

    async def test(client: httpx.AsyncClient, *_: Any) -> None:
        reply = await client.post("/api/check", json={})
        said = [json.loads(line) for line in reply.text.splitlines()]
        assert said[-1]["crashed"].startswith("KeyError in crash")
        assert "could be an answer" not in reply.text
        with pytest.raises(DavylampError, match="crashed inside the daemon"):
            report_of(iter(reply.text.splitlines()), lambda _: None, "check")

    monkeypatch.setattr(server, "run_check", crash)
    with_server(tmp_path, test)


@pytest.mark.parametrize("error", [UsageError, UnsureError])
def test_what_could_not_be_told_in_the_daemon_is_told_as_that(error: type[DavylampError]) -> None:
    line = json.dumps(pages.error_line(error("no answer")))
    with pytest.raises(error, match="no answer"):
        report_of(iter([line]), lambda _: None, "context")


@pytest.mark.parametrize("ends_by_itself", [True, False])
def test_what_is_under_way_when_the_daemon_stops_is_told_to_whoever_asked(
    ends_by_itself: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off: list[bool] = []

    async def run() -> list[str]:
        stopping, release = asyncio.Event(), asyncio.Event()

        async def work(_: Any) -> dict[str, object]:
            stopping.set()
            try:
                await release.wait()
            except asyncio.CancelledError:
                broken_off.append(True)
                raise
            return {"report": "all of it"}

        lines = []
        async for line in pages._lines(work, stopping):
            lines.append(line)
            if ends_by_itself and stopping.is_set():
                release.set()
        await asyncio.sleep(0)
        return lines

    monkeypatch.setattr(pages, "LAST_SECONDS", 0.01)
    monkeypatch.setattr(pages, "ALIVE_SECONDS", 0.001)
    lines = asyncio.run(asyncio.wait_for(run(), 10))
    assert bool(broken_off) is not ends_by_itself
    if ends_by_itself:
        assert report_of(iter(lines), lambda _: None, "scan") == "all of it"
    else:
        with pytest.raises(UsageError, match="the daemon is stopping"):
            report_of(iter(lines), lambda _: None, "scan")


def test_the_last_verdict_is_told_to_whoever_has_the_token(tmp_path: Path) -> None:
    async def test(
        client: httpx.AsyncClient, schedule: ProbeSchedule, installation: Installation, _: Any
    ) -> None:
        await schedule.start(paused=True)
        path = "/probe?target=glm&module=canary"
        for wrong in ("", "Bearer", "Bearer other"):
            assert (await client.get(path, headers={"Authorization": wrong})).status_code == 401
        assert (await client.get(path, headers={"Host": "evil.example"})).status_code == 400
        assert (await client.post(path)).status_code == 405
        for query, status, words in (
            ("", 400, "name a target: ?target=… (one of: glm)"),
            ("?target=", 400, "name a target"),
            ("?target=other", 404, "no such target is configured (one of: glm)"),
            ("?target=http://127.0.0.1/", 404, "no such target"),
            ("?target=glm&module=canary&module=golden", 400, "more than one module"),
            ("?target=glm&target=other", 400, "more than one target"),
            ("?target=glm&module=http_2xx", 404, "no such module: a module is a probe of glm ("),
        ):
            refusal = await client.get(f"/probe{query}")
            assert (refusal.status_code, words in refusal.json()["error"]) == (status, True)
            assert "127.0.0.1" not in refusal.text
        assert "probe_success 0.0" in (await client.get(path)).text
        body = {"target": "glm", "probes": ["canary"], "wait": True}
        await client.post("/api/probe-now", json=body)
        page = await client.get(path)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/plain")
        assert "probe_success 0.0\n" in page.text
        assert "davylamp_probe_known 1.0\n" in page.text
        assert 'probe="canary",state="bad"' in page.text
        everything = (await client.get("/probe?target=glm")).text
        assert "davylamp_probe_known 1.0" in everything
        assert 'state="never"' in everything
        schedule.stop()

    with_server(tmp_path, test)


def test_what_is_owed_of_weekly_reports_is_told_and_makes_nothing_less_ready(
    tmp_path: Path,
) -> None:
    owed: list[Any] = []

    async def test(client: httpx.AsyncClient, *_: Any) -> None:
        found = await client.get("/readyz")
        body = found.json()
        assert body["ready"] is (found.status_code == 200)
        owed.append([body.get("reports_missing"), body.get("reports_untold"), body["ready"]])

    (tmp_path / "none").mkdir()
    with_server(tmp_path / "none", test)
    hook = {"name": "filed", "url": "https://hooks.example.com/x"}
    for name, built in (("missing", False), ("untold", True)):
        reports = tmp_path / name / "reports"
        reports.mkdir(parents=True)
        if built:
            (reports / "2026-W43.notice.json").write_text("{}")
        with_server(reports.parent, test, reports={"folder": "reports", "webhook": hook})
    without, missing, untold = owed
    assert without[:2] == [None, None]
    assert (missing[:2], untold[:2]) == ([1, 0], [0, 1])
    assert without[2] == missing[2] == untold[2]
