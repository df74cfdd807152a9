"""The desk of a daemon: what never gets into a URL, and answers that are none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from monitor.daemon.client import (
    DaemonDesk,
    evidence_of_daemon,
    verify_finding_through_daemon,
)
from monitor.daemon.desk import Said
from monitor.daemon.line import report_of
from monitor.errors import UsageError
from monitor.examining import Verify
from monitor.findings import Decision
from monitor.store import StoreOwner
from tests.unit.cli.small_server import Answer, serving
from tests.unit.daemon.installed import config_of

SAID = Said(who="ann", why="mended")


@pytest.mark.parametrize("given", ["", " ", "F", "F-", "F-AB", "..", "F-ABC/../y", "F-ABC\nF-DEF"])
def test_what_is_no_id_is_refused_before_the_daemon_is_asked(tmp_path: Path, given: str) -> None:
    config, nobody = config_of(tmp_path), StoreOwner(pid=1, url="http://127.0.0.1:9")
    desk = DaemonDesk(config, nobody)
    with pytest.raises(UsageError, match="is no id of a finding: give F- and at least"):
        desk.finding(given)
    with pytest.raises(UsageError, match="is no id of a finding"):
        desk.decide(Decision.RESOLVE, given, SAID)
    with pytest.raises(UsageError, match="is no id of a finding"):
        verify_finding_through_daemon(config, nobody, Verify(finding=given), lambda _: None)


@pytest.mark.parametrize("body", ["Not Found", "", "[]", "<html>"])
def test_an_answer_that_is_no_json_is_an_error_in_words(tmp_path: Path, body: str) -> None:
    config = config_of(tmp_path)
    (tmp_path / "store").mkdir()

    async def run() -> None:
        async with serving(lambda *_: Answer(status=404, body=body)) as port:
            owner = StoreOwner(pid=1, url=f"http://127.0.0.1:{port}")
            desk = DaemonDesk(config, owner)
            for asking in (
                lambda: desk.finding("F-ABCD"),
                lambda: desk.explain(".."),
                lambda: evidence_of_daemon(config, owner, ".."),
            ):
                with pytest.raises(UsageError, match=r"no answer that can be read \(HTTP 404\)"):
                    await asyncio.to_thread(asking)

    asyncio.run(run())


def test_why_the_daemon_refuses_is_said(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    (tmp_path / "store").mkdir()
    body = '{"error": "why: String should have at most 2000 characters"}'

    async def run(answer: Answer, words: str) -> None:
        async with serving(lambda *_: answer) as port:
            desk = DaemonDesk(config, StoreOwner(pid=1, url=f"http://127.0.0.1:{port}"))
            with pytest.raises(UsageError, match=words):
                await asyncio.to_thread(lambda: desk.decide(Decision.RESOLVE, "F-ABCD", SAID))

    said = r"refused the findings/F-ABCD/resolve \(HTTP 400\): why: String should have at most 2000"
    asyncio.run(run(Answer(status=400, body=body), said))
    unread = r"no answer that can be read \(HTTP 502\)"
    asyncio.run(run(Answer(status=502, body="<html>"), unread))


def test_a_line_of_a_stream_that_is_no_json_is_an_error_in_words() -> None:
    with pytest.raises(UsageError, match=r"no answer that can be read \(check\)"):
        report_of(iter(["<html>"]), lambda _: None, "check")
