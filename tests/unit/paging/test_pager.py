"""One incident a finding: opened, updated, acknowledged and resolved, in order and once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.findings import Rotation, Turn
from monitor.model import VerdictClass
from monitor.paging.evidence import Evidence
from monitor.paging.outbox import OUTBOX_FILE
from monitor.paging.sender import BACKOFF_SECONDS, LONGEST_WAIT_SECONDS
from tests.fakes.events_v2 import Endpoint, serving
from tests.integration.processes import wait_until
from tests.unit.paging.paged import Paged, paged, signal, summaries
from tests.unit.test_findings import bad

HOUR = 3600.0


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture
def leaky(tmp_path: Path, endpoint: Endpoint) -> Iterator[Paged]:
    with paged(tmp_path, endpoint.url, routes={"CORRUPT": "direct"}) as found:
        yield found


def test_a_leak_pages_on_the_first_event_and_only_once(leaky: Paged, endpoint: Endpoint) -> None:
    finding = leaky.open()
    leaky.tell()
    leaky.open()  # the same fault again is no news
    leaky.tell()
    [event] = endpoint.accepted()
    key = f"davylamp/v1/prod/glm/{finding.id}"
    assert (event["event_action"], event["dedup_key"]) == ("trigger", key)
    payload = event["payload"]
    assert payload["summary"].startswith("answers carry another tenant's text, proven: LEAK; glm")
    assert (payload["severity"], payload["class"], payload["source"], payload["group"]) == (
        *("critical", "LEAK"),
        *("glm", "glm-5.3"),
    )
    [row] = leaky.ledger.rows
    assert (row.finding, row.dedup_key, row.route, row.outcome, row.http_status) == (
        *(finding.id, key),
        *("pagerduty", "accepted", 202),
    )


def test_children_and_classes_update_the_incident_of_the_root(
    leaky: Paged, endpoint: Endpoint
) -> None:
    shape = "tenant"
    root = leaky.findings.record(bad(VerdictClass.CROSSED, "short/c1", shape))
    leaky.tell()
    leaky.findings.record(bad(VerdictClass.CROSSED, "long/c1", shape))
    leaky.tell()
    leaky.findings.record(bad(VerdictClass.LEAK, "short/c1", shape))
    leaky.tell()
    assert root is not None
    assert endpoint.opened == [f"davylamp/v1/prod/glm/{root.id}"]
    assert endpoint.actions() == ["trigger"] * 3
    payloads = [event["payload"] for event in endpoint.accepted()]
    assert [each["class"] for each in payloads] == ["CROSSED", "CROSSED", "LEAK"]
    assert [each["custom_details"]["lengths"] for each in payloads] == [
        ["short"],
        ["short", "long"],
        ["short", "long"],
    ]


def test_another_shape_opens_an_incident_of_its_own(leaky: Paged, endpoint: Endpoint) -> None:
    leaky.findings.record(bad(VerdictClass.LEAK, "s", "tenant"))
    leaky.findings.record(bad(VerdictClass.LEAK, "s", "burst"))
    leaky.tell()
    assert len(set(endpoint.opened)) == 2


def test_what_is_told_of_rotation_updates_the_incident_and_acknowledges_nothing(
    leaky: Paged, endpoint: Endpoint
) -> None:
    finding = leaky.open()
    leaky.tell()
    for rotation in (Rotation.DRAINED, Rotation.RETURNED):
        leaky.move(60)
        told = Turn(rotation=rotation, who="a pipeline", why="s3cret", told_at=leaky.clock.now())
        leaky.findings.rotate(finding.id, told)
        leaky.tell()
        leaky.tell()
    assert endpoint.actions() == ["trigger"] * 3
    assert len(endpoint.alerts) == 1
    first, out, back = [event["payload"] for event in endpoint.accepted()]
    assert "; out of rotation since " in out["summary"]
    assert "out of rotation" not in first["summary"] + back["summary"]
    times = [
        tuple(each["custom_details"][key] for key in ("out_of_rotation_at", "back_in_rotation_at"))
        for each in (first, out, back)
    ]
    assert times[0] == (None, None)
    assert times[1][1] is None
    assert times[2][0] == times[1][0] < times[2][1]
    assert b"s3cret" not in b"".join(each.body for each in endpoint.arrived)


def test_a_child_that_comes_after_the_drain_opens_an_incident_of_its_own(
    leaky: Paged, endpoint: Endpoint
) -> None:
    root = leaky.open()
    leaky.tell()
    told = Turn(rotation=Rotation.DRAINED, who="ann", told_at=leaky.clock.now())
    leaky.findings.rotate(root.id, told)
    leaky.move(60)
    other = leaky.open(stratum="long/c8/cold/plain")
    leaky.tell()
    assert other.id != root.id
    prefix = "davylamp/v1/prod/glm/"
    assert endpoint.actions(prefix + root.id) == ["trigger", "trigger"]
    assert endpoint.actions(prefix + other.id) == ["trigger"]


def test_a_person_acknowledges_and_resolves(leaky: Paged, endpoint: Endpoint) -> None:
    finding, dismissed = leaky.open(), leaky.open(VerdictClass.CROSSED)
    leaky.tell()
    leaky.findings.confirm(finding.id, "ann", "seen", leaky.clock.now())
    leaky.tell()
    leaky.tell()
    leaky.findings.resolve(finding.id, "ann", "mended", leaky.clock.now())
    leaky.findings.dismiss(dismissed.id, "bob", "the lab", leaky.clock.now())
    leaky.tell()
    leaky.tell()
    prefix = "davylamp/v1/prod/glm/"
    assert endpoint.actions(prefix + finding.id) == ["trigger", "acknowledge", "resolve"]
    assert endpoint.actions(prefix + dismissed.id) == ["trigger", "resolve"]
    assert endpoint.alerts == {}


def test_what_is_reopened_opens_its_incident_again(leaky: Paged, endpoint: Endpoint) -> None:
    finding = leaky.open()
    leaky.tell()
    leaky.findings.resolve(finding.id, "ann", "mended", leaky.clock.now())
    leaky.tell()
    leaky.findings.reopen(finding.id, "ann", "not mended", leaky.clock.now())
    leaky.tell()
    assert endpoint.actions() == ["trigger", "resolve", "trigger"]
    assert len(endpoint.alerts) == 1


def test_a_crash_between_finding_and_event_loses_and_doubles_nothing(
    leaky: Paged, endpoint: Endpoint
) -> None:
    leaky.open()
    leaky.restart()  # before anything was said
    assert leaky.say() == 1
    leaky.restart()  # before it was sent
    assert leaky.say() == 0
    leaky.send()
    leaky.restart()
    leaky.tell()
    assert endpoint.actions() == ["trigger"]


def test_a_finding_closed_while_no_daemon_ran_is_resolved(leaky: Paged, endpoint: Endpoint) -> None:
    finding = leaky.open()
    leaky.tell()
    leaky.findings.resolve(finding.id, "ann", "mended", leaky.clock.now())
    leaky.move(3 * 24 * HOUR)  # what was closed days ago is known to the store alone
    leaky.restart()
    assert leaky.findings.find(finding.id) is None
    leaky.tell()
    assert endpoint.actions() == ["trigger", "resolve"]


def test_an_incident_whose_finding_nobody_knows_stays_and_is_named_once(
    leaky: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    finding = leaky.open()
    leaky.tell()
    leaky.findings._known.clear()
    leaky.kept.saved.clear()
    for _ in range(3):
        leaky.tell()
    assert endpoint.actions() == ["trigger"]
    assert caplog.text.count(f"no longer knows {finding.id}") == 1


def test_an_endpoint_that_was_down_for_an_hour_gets_every_event_in_order_once(
    leaky: Paged, endpoint: Endpoint
) -> None:
    endpoint.always = (503, {})
    one, other = leaky.open(), leaky.open(VerdictClass.CROSSED)
    leaky.tell()
    leaky.open(stratum="long/c1/cold/plain")
    leaky.say()
    leaky.pass_time(HOUR / 2)
    leaky.findings.confirm(one.id, "ann", "seen", leaky.clock.now())
    leaky.say()
    leaky.findings.resolve(other.id, "ann", "mended", leaky.clock.now())
    leaky.say()
    leaky.pass_time(HOUR / 2)
    attempts = len(endpoint.arrived)
    assert endpoint.accepted() == []
    assert attempts < 2 * (len(BACKOFF_SECONDS) + HOUR / BACKOFF_SECONDS[-1] + 2)
    assert 'davylamp_page_outbox_events{env="prod"} 5.0' in leaky.metrics()
    assert 'davylamp_page_outbox_age_seconds{env="prod"} 3600.0' in leaky.metrics()
    endpoint.always = None
    leaky.pass_time(BACKOFF_SECONDS[-1])
    prefix = "davylamp/v1/prod/glm/"
    assert endpoint.actions(prefix + one.id) == ["trigger", "trigger", "acknowledge"]
    assert endpoint.actions(prefix + other.id) == ["trigger", "resolve"]
    assert len(endpoint.accepted()) == 5
    assert 'davylamp_page_outbox_events{env="prod"} 0.0' in leaky.metrics()
    delivered = [row.id for row in leaky.ledger.rows if row.outcome == "accepted"]
    assert len(delivered) == len(set(delivered)) == 5


def test_no_connection_is_tried_again_and_said_in_our_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving() as gone:
        url = gone.url
    with paged(tmp_path, url) as of:
        of.open()
        of.say()
        assert of.send() == [BACKOFF_SECONDS[0]]
        [row] = of.ledger.rows
    assert (row.outcome, row.http_status) == ("failed", None)
    assert "the connection was refused" in caplog.text


def test_a_400_is_never_sent_again_loudly_and_said_anew_after_a_restart(
    leaky: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.answer(400)
    finding = leaky.open()
    leaky.tell()
    leaky.pass_time(HOUR, 60)
    assert len(endpoint.arrived) == 1
    assert [row.outcome for row in leaky.ledger.rows] == ["rejected"]
    assert 'outcome="rejected",route="pagerduty"} 1.0' in leaky.metrics()
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert finding.id in record.getMessage()
    leaky.restart()
    leaky.tell()
    assert endpoint.actions() == ["trigger"]


def test_what_was_rejected_is_unsaid_until_it_is_taken_or_over(
    leaky: Paged, endpoint: Endpoint
) -> None:
    def unsaid() -> str:
        [line] = re.findall(r"^davylamp_page_incidents_unsaid\{.*", leaky.metrics(), re.MULTILINE)
        return str(line)

    said = 'davylamp_page_incidents_unsaid{env="prod",route="pagerduty"} '
    assert unsaid() == f"{said}0.0"
    endpoint.answer(400)
    finding = leaky.open()
    leaky.tell()
    assert unsaid() == f"{said}1.0"
    leaky.findings.confirm(finding.id, "ann", "seen", leaky.clock.now())
    leaky.tell()
    assert unsaid() == f"{said}1.0", "that an acknowledgement is taken does not tell of the leak"
    leaky.open(stratum="long/c1/cold/plain")
    leaky.tell()
    assert unsaid() == f"{said}0.0"
    endpoint.answer(400)
    leaky.open(VerdictClass.CROSSED)
    leaky.tell()
    assert unsaid() == f"{said}1.0"


@pytest.mark.parametrize(
    ("asked", "waits"),
    [("120", 120.0), ("0", BACKOFF_SECONDS[0]), ("999999", LONGEST_WAIT_SECONDS), ("soon", 5.0)],
)
def test_429_is_obeyed_within_bounds_for_every_incident(
    asked: str, waits: float, leaky: Paged, endpoint: Endpoint
) -> None:
    endpoint.answer(429, Retry_After=asked)
    leaky.open()
    leaky.tell()
    leaky.open(VerdictClass.CROSSED)
    leaky.say()
    assert leaky.send() == [waits]
    assert len(endpoint.arrived) == 1
    leaky.move(waits - 1)
    leaky.send()
    assert len(endpoint.arrived) == 1
    leaky.move(1)
    leaky.send()
    assert sorted(endpoint.actions()) == ["trigger", "trigger"]


def test_an_event_that_is_never_taken_holds_up_no_other_incident(
    leaky: Paged, endpoint: Endpoint
) -> None:
    endpoint.answer(500)
    stuck = leaky.open(VerdictClass.CROSSED)
    leaky.tell()
    fresh = leaky.open()
    leaky.tell()
    assert endpoint.opened == [f"davylamp/v1/prod/glm/{fresh.id}"]
    leaky.pass_time(BACKOFF_SECONDS[0])
    assert f"davylamp/v1/prod/glm/{stuck.id}" in endpoint.opened


def test_a_clock_that_jumps_back_keeps_no_page_for_days(leaky: Paged, endpoint: Endpoint) -> None:
    endpoint.answer(503)
    leaky.open()
    leaky.tell()
    leaky.move(-48 * HOUR)
    leaky.send()
    assert endpoint.actions() == ["trigger"]
    assert 'davylamp_page_outbox_age_seconds{env="prod"} 0.0' in leaky.metrics()


def test_tickets_go_by_their_one_route(leaky: Paged, endpoint: Endpoint) -> None:
    leaky.open(VerdictClass.CONTRACT)  # Alertmanager's
    corrupt = leaky.open(VerdictClass.CORRUPT)  # direct here
    leaky.tell()
    [event] = endpoint.accepted()
    assert event["dedup_key"].endswith(corrupt.id)
    assert event["payload"]["severity"] == "warning"


def test_a_confirmation_raises_the_severity_in_place(leaky: Paged, endpoint: Endpoint) -> None:
    corrupt = leaky.open(VerdictClass.CORRUPT)
    leaky.tell()
    again = replace(bad(VerdictClass.CORRUPT, shape="corrupt"), decided_at=leaky.clock.now())
    leaky.findings.record(again, confirms=corrupt.id)
    leaky.tell()
    severities = [event["payload"]["severity"] for event in endpoint.accepted()]
    assert severities == ["warning", "critical"]
    assert len(endpoint.opened) == 1


def test_a_replaced_prompt_pages_at_once(tmp_path: Path, endpoint: Endpoint) -> None:
    with paged(tmp_path, endpoint.url, routes={"WRONG_INPUT": "direct"}) as of:
        verdict = bad(VerdictClass.WRONG_INPUT)
        of.findings.record(replace(verdict, signals=(signal("BOUNDARY", "replaced"),)))
        of.tell()
    [event] = endpoint.accepted()
    assert event["payload"]["severity"] == "critical"
    [summary] = summaries([event])
    assert summary.startswith("the model answers something else than it is sent: WRONG_INPUT")


def test_what_is_not_proven_tells_nobody(leaky: Paged, endpoint: Endpoint) -> None:
    suspect = replace(
        bad(VerdictClass.SUSPECT), outcome="good", signals=(signal("FOREIGN", "partial"),)
    )
    found = leaky.findings.record(suspect)
    assert found is not None
    leaky.tell()
    leaky.findings.confirm(found.id, "ann", "seen", leaky.clock.now())
    leaky.tell()
    assert endpoint.arrived == []


def test_a_maintenance_holds_pages_until_its_end_but_leaks(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    window = {"from": "2026-11-02T00:00Z", "until": "2026-11-02T02:00Z", "reason": "upgrade"}
    with paged(tmp_path, endpoint.url, routes={"CORRUPT": "direct"}, windows=[window]) as of:
        held, mended = of.open(VerdictClass.CORRUPT), of.open(VerdictClass.CORRUPT, "s2")
        leak = of.open()
        of.tell()
        assert endpoint.opened == [f"davylamp/v1/prod/glm/{leak.id}"]
        of.findings.resolve(mended.id, "ann", "mended", of.clock.now())
        of.move(2 * HOUR - 1)
        of.tell()
        assert len(endpoint.arrived) == 1
        of.move(1)
        of.tell()
    assert endpoint.opened[1:] == [f"davylamp/v1/prod/glm/{held.id}"]


def test_what_waits_for_a_receiver_that_is_gone_is_dropped_loudly(
    tmp_path: Path, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    hook = {"name": "incidents", "url": endpoint.url}
    with paged(tmp_path, endpoint.url, webhooks=[hook]) as of:
        of.open()
        of.say()
        pages = of.config.settings.pages.model_copy(update={"webhooks": ()})
        settings = of.config.settings.model_copy(update={"pages": pages})
        of.config = replace(of.config, settings=settings)
        of.restart()
        of.tell()
        outcomes = {row.route: row.outcome for row in of.ledger.rows}
    assert outcomes == {"incidents": "dropped", "pagerduty": "accepted"}
    assert "who is not configured any more" in caplog.text


def test_a_damaged_outbox_is_laid_aside_and_all_is_said_anew(
    leaky: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    leaky.open()
    leaky.tell()
    leaky.pager._told.outbox.close()
    file = leaky.config.storage_path / OUTBOX_FILE
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    file.write_bytes(b"nonsense" * 4096)
    leaky.restart()
    leaky.tell()
    assert "is damaged and laid aside as pages.sqlite.damaged-2026" in caplog.text
    assert endpoint.actions() == ["trigger", "trigger"]
    assert len(endpoint.opened) == 1, "one alert under one key"


def test_the_outbox_is_readable_by_its_owner_only(leaky: Paged) -> None:
    file = leaky.config.storage_path / OUTBOX_FILE
    assert file.stat().st_mode & 0o077 == 0


def test_while_it_runs_each_change_is_told_at_once_and_the_last_before_it_ends(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    async def live(of: Paged) -> None:
        running = asyncio.create_task(of.pager.run())
        finding = await asyncio.to_thread(of.open)
        await asyncio.to_thread(wait_until, endpoint.accepted, 10.0, "the page")
        now = of.clock.now()
        await asyncio.to_thread(of.findings.resolve, finding.id, "ann", "mended", now)
        await asyncio.to_thread(wait_until, lambda: not endpoint.alerts, 10.0, "the resolve")
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        of.open(VerdictClass.CROSSED)
        await of.pager.finish()

    with paged(tmp_path, endpoint.url, SystemClock()) as of:
        asyncio.run(live(of))
    assert endpoint.actions() == ["trigger", "resolve", "trigger"]


def test_a_pager_whose_disk_fails_goes_on_and_says_so(
    tmp_path: Path, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    async def live(of: Paged) -> None:
        of.pager._told.outbox.close()
        running = asyncio.create_task(of.pager.run())
        said = "the outbox of pages cannot be used"
        await asyncio.to_thread(wait_until, lambda: caplog.text.count(said) >= 2, 10.0, said)
        assert not running.done()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        await of.pager.finish()

    with paged(tmp_path, endpoint.url, SystemClock()) as of:
        of.open()
        asyncio.run(live(of))
        assert "davylamp_page_outbox_events{" not in of.metrics(), "not known is not 0"
        of.restart()
        of.tell()
    assert endpoint.actions() == ["trigger"]


def test_two_looks_at_once_say_a_thing_once(leaky: Paged, endpoint: Endpoint) -> None:
    asked: list[str] = []
    second = threading.Event()

    def slow(trials: Sequence[str]) -> Evidence:
        asked.extend(trials)
        if len(asked) > 1:
            second.set()
        second.wait(0.3)
        return Evidence()

    leaky.open()
    leaky.pager._told = replace(leaky.pager._told, evidence=slow)
    with ThreadPoolExecutor(2) as threads:
        kept = [threads.submit(leaky.pager.reconcile) for _ in range(2)]
    assert sorted(each.result() for each in kept) == [0, 1]
    leaky.send()
    assert endpoint.actions() == ["trigger"]
