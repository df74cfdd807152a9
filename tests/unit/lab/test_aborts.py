"""What an abort does to whoever comes next: by mechanism, and not in a healthy lab."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from monitor.lab.server import application
from tests.unit.lab.helpers import KEYS, finish, lab, repeat, send, written_by

if TYPE_CHECKING:
    from monitor.lab.service import Answer, Service

MARKER = "bafot-gitiz-lusab-dunor"
OTHER = "kemup-dosin-rafil-zutab"
AUTH = {"Authorization": f"Bearer {KEYS['tenant-a']}"}
PACE = {"lab": {"turn_seconds": 0.0}}
LONG = f"{repeat(MARKER)} Then count from 1 up to 90."
# While the pages are on their way, and while the answer is being written.
TURNS = (2, 8)


def _after_an_abort(service: Service, turns: int, *victims: str) -> tuple[Answer, list[Answer]]:
    """Return the aborted answer, and those asked for right after."""
    aborted = send(service, LONG, tenant="tenant-a")
    for _ in range(turns):
        service.engine.step()
    assert bool(aborted.job.output) is (turns > 4)
    assert not aborted.job.is_finished()
    aborted.job.cancelled = True
    answers = [send(service, victim, tenant="tenant-b") for victim in victims]
    finish(service, *answers)
    return aborted, answers


@pytest.mark.parametrize("turns", TURNS)
def test_the_next_in_the_place_of_an_aborted_one_ends_without_text(turns: int) -> None:
    service = lab("abort_as_length", values=PACE)
    _, (victim, other) = _after_an_abort(service, turns, repeat(OTHER), "What is 3 + 4?")
    assert (victim.finish_reason, victim.parser.content) == ("length", "")
    assert victim.usage.completion_tokens == 0
    assert other.parser.content == "7"
    assert service.report()["mechanisms"][0]["exposed"] == 1


@pytest.mark.parametrize("turns", TURNS)
def test_a_late_write_lands_on_the_pages_of_the_next(turns: int) -> None:
    service = lab("aborted_pages_written_late", values=PACE)
    aborted, (victim,) = _after_an_abort(service, turns, repeat(OTHER))
    assert MARKER in victim.parser.content
    assert OTHER not in victim.parser.content
    assert written_by(service, victim, MARKER) == {aborted.job.rid}
    report = service.report()
    assert report["foreign"] == {victim.job.rid: ["tenant-a"]}
    assert report["mechanisms"][0]["struck"] == 1


def test_a_late_write_strikes_once() -> None:
    service = lab("aborted_pages_written_late", values=PACE)
    _after_an_abort(service, 2, repeat(OTHER))
    again = send(service, repeat(OTHER))
    finish(service, again)
    assert again.parser.content == OTHER


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("mode", ["unified", "pd"])
def test_a_healthy_lab_calls_the_write_off(mode: str, turns: int) -> None:
    service = lab(mode=mode, values={"lab": {"transfer_turns": 4}})
    _, answers = _after_an_abort(service, turns, repeat(OTHER), "What is 3 + 4?")
    assert [answer.parser.content for answer in answers] == [OTHER, "7"]
    assert [answer.finish_reason for answer in answers] == ["stop", "stop"]
    assert service.report()["foreign"] == {}


def test_without_an_abort_nobody_is_exposed() -> None:
    for name in ("abort_as_length", "aborted_pages_written_late"):
        service = lab(name, values=PACE)
        answers = [send(service, repeat(code)) for code in (MARKER, OTHER)]
        finish(service, *answers)
        assert [answer.parser.content for answer in answers] == [MARKER, OTHER]
        assert service.report()["mechanisms"][0]["exposed"] == 0


@pytest.mark.parametrize("stream", [False, True])
def test_who_hangs_up_is_noticed(stream: bool) -> None:
    service = lab(values={"lab": {"turn_seconds": 0.005}})
    body = {"messages": [{"role": "user", "content": LONG}], "stream": stream}

    async def hang_up() -> None:
        loop = asyncio.create_task(service.run())
        left = asyncio.Event()
        got = asyncio.Event()

        async def receive():
            if not got.is_set():
                got.set()
                return {
                    "type": "http.request",
                    "body": httpx.Request("POST", "/", json=body).read(),
                }
            await left.wait()
            return {"type": "http.disconnect"}

        async def send_(message) -> None:
            return None

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/v1/chat/completions",
            "query_string": b"",
            "headers": [(b"authorization", AUTH["Authorization"].encode())],
        }
        serving = asyncio.create_task(application(service)(scope, receive, send_))
        while not (service.engine.running and service.engine.running[0].output):  # noqa: ASYNC110
            await asyncio.sleep(0)
        job = service.engine.running[0]
        left.set()
        await asyncio.wait_for(serving, 10)
        while service.engine.is_busy:  # noqa: ASYNC110
            await asyncio.sleep(0)
        loop.cancel()
        assert job.cancelled
        assert not job.is_finished()

    asyncio.run(hang_up())
    assert service.engine.decode.aborted == 1


def test_a_real_client_that_leaves_is_noticed() -> None:
    command = [sys.executable, "-m", "monitor.lab", "--seed", "3"]
    command += ["--set", "lab.turn_seconds=0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as lab_:
        assert lab_.stdout
        said = json.loads(lab_.stdout.readline())
        headers = {"Authorization": f"Bearer {said['keys']['tenant-a']}"}
        body = {"messages": [{"role": "user", "content": LONG}], "stream": True}
        with httpx.Client(base_url=said["base"], headers=headers, timeout=20) as http:
            with http.stream("POST", "/v1/chat/completions", json=body) as reply:
                next(reply.iter_lines())
            scrapes = (_aborted(http.get("/metrics").text) for _ in range(2000))
            assert any(scrapes)
        lab_.terminate()
        assert lab_.wait(20) == 0


def _aborted(metrics: str) -> float:
    (line,) = [x for x in metrics.splitlines() if "num_aborted_requests_total{" in x]
    return float(line.rsplit(" ", 1)[1])
