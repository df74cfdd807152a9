"""Reports of weeks in which no daemon ran: built later, in order, once, and counted while owed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.conventions.reports import ReportFailure
from monitor.daemon.reporting import reporting
from monitor.errors import StoreError
from monitor.store import Store, open_store
from monitor.store.week_reader import WeekReader
from monitor.weekly.manifest import MANIFEST_FILE
from monitor.weekly.schedule import alone_in
from monitor.weekly.verifying import verify
from tests.fakes.events_v2 import Endpoint, serving
from tests.unit.daemon.installed import ManualClock
from tests.unit.daemon.reporters import look, reporter, reports_in, settings

WEEKS = ["2026-W43", "2026-W44", "2026-W45", "2026-W46"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(f"davylamp_{name}", {"env": "test", **labels})


def previous(base: Path, week: str) -> str | None:
    said = json.loads((base / "reports" / week / MANIFEST_FILE).read_bytes())["previous"]
    return None if said is None else str(said["week"])


def test_weeks_that_were_missed_are_built_in_order_and_chained(
    tmp_path: Path,
    store: Store,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, registry = ManualClock(), CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, clock, registry)
    look(of)
    before = (tmp_path / "reports" / WEEKS[0] / MANIFEST_FILE).read_bytes()
    clock.instant += timedelta(weeks=3)
    assert value(registry, "reports_missing") == 3
    with caplog.at_level(logging.INFO):
        look(of)
    assert reports_in(tmp_path) == WEEKS
    assert [previous(tmp_path, week) for week in WEEKS] == [None, *WEEKS[:-1]]
    for week, earlier in zip(WEEKS[1:], WEEKS, strict=False):
        folder = tmp_path / "reports"
        found = verify(folder / week, Signer(store.key).public, folder / earlier)
        assert (found.problems, found.chain_checked) == ((), True)
    assert (tmp_path / "reports" / WEEKS[0] / MANIFEST_FILE).read_bytes() == before
    said = [each.message for each in caplog.records if "weekly report" in each.message]
    assert [each.partition(", ")[2] for each in said] == ["late by 2 weeks", "late by 1 week", ""]
    assert value(registry, "reports_missing") == 0
    # Its week ended then, six hours before.
    due_at = datetime(2026, 11, 16, 6, tzinfo=UTC).timestamp()
    assert value(registry, "report_newest_due_timestamp_seconds") == due_at


def test_the_webhook_is_told_of_each_in_order(
    tmp_path: Path,
    store: Store,
    endpoint: Endpoint,
) -> None:
    endpoint.answer(200, 200, 200)
    clock = ManualClock()
    config = settings(tmp_path, endpoint)
    look(reporter(config, store, clock))
    clock.instant += timedelta(weeks=2)
    look(reporter(config, store, clock))
    assert [each.event["week"] for each in endpoint.arrived] == WEEKS[:3]


def test_what_nobody_was_told_of_is_counted_and_told_when_the_webhook_is_back(
    tmp_path: Path,
    store: Store,
    endpoint: Endpoint,
) -> None:
    endpoint.answer(503, 200, 400)
    clock, registry = ManualClock(), CollectorRegistry()
    config = settings(tmp_path, endpoint)
    look(reporter(config, store, clock, registry))
    assert value(registry, "reports_untold") == 1
    assert value(registry, "report_failures_total", kind="webhook_failed") == 1
    clock.instant += timedelta(weeks=1)
    registry = CollectorRegistry()
    look(reporter(config, store, clock, registry))
    assert [each.event["week"] for each in endpoint.arrived] == [WEEKS[0], *WEEKS[:2]]
    # The second was refused, which is not told either.
    assert value(registry, "reports_untold") == 1
    assert value(registry, "report_failures_total", kind="webhook_rejected") == 1


def test_a_week_that_cannot_be_built_holds_up_those_after_it(
    tmp_path: Path,
    store: Store,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, registry = ManualClock(), CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, clock, registry)
    look(of)
    taken = tmp_path / "reports" / WEEKS[1] / "notes.txt"
    taken.parent.mkdir()
    taken.write_text("mine")
    clock.instant += timedelta(weeks=3)
    with caplog.at_level(logging.ERROR):
        look(of)
    assert "is not empty" in caplog.text
    assert [each for each in WEEKS if (tmp_path / "reports" / each / MANIFEST_FILE).exists()] == [
        WEEKS[0]
    ]
    assert taken.read_text() == "mine"
    assert value(registry, "reports_missing") == 3
    assert value(registry, "report_failures_total", kind="files") == 1
    shutil.rmtree(taken.parent)
    look(of)
    assert [previous(tmp_path, week) for week in WEEKS] == [None, *WEEKS[:-1]]


def test_what_a_killed_process_left_is_no_report_and_in_nobodys_way(
    tmp_path: Path, store: Store
) -> None:
    clock = ManualClock()
    of = reporter(settings(tmp_path, None), store, clock)
    look(of)
    half, fresh = (tmp_path / "reports" / f".{WEEKS[1]}.{name}_" for name in ("1234567", "7654321"))
    for scratch in (half, fresh):
        (scratch / "report").mkdir(parents=True)
        (scratch / "report" / "report.json").write_text("{")
    os.utime(half, (0, clock.now().timestamp()))
    os.utime(fresh, (0, (clock.now() + timedelta(weeks=1)).timestamp()))
    (tmp_path / "reports" / f".{WEEKS[1]}.notice.json.half").write_text("{")
    clock.instant += timedelta(weeks=1)
    look(of)
    assert verify(tmp_path / "reports" / WEEKS[1], Signer(store.key).public).problems == ()
    assert previous(tmp_path, WEEKS[1]) == WEEKS[0]
    assert (half.exists(), fresh.exists()) == (False, True)


def test_two_on_one_folder_do_not_meet(
    tmp_path: Path,
    store: Store,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, registry = ManualClock(), CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, clock, registry)
    with alone_in(tmp_path / "reports"), caplog.at_level(logging.INFO):
        look(of)
    assert "another process builds reports there" in caplog.text
    assert reports_in(tmp_path) == []
    assert value(registry, "reports_missing") == 1
    look(of)
    assert reports_in(tmp_path) == WEEKS[:1]


def test_another_installation_on_one_folder_is_an_error_and_overwrites_nothing(
    tmp_path: Path,
    store: Store,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, registry = ManualClock(), CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, clock, registry)
    look(of)
    (tmp_path / "reports" / f"{WEEKS[0]}.notice.json").unlink()
    before = (tmp_path / "reports" / WEEKS[0] / MANIFEST_FILE).read_bytes()
    other = replace(of, key=InstallationKey.load_or_create(tmp_path / "other.key"))
    with caplog.at_level(logging.ERROR):
        look(other)
    assert "yours is another" in caplog.text
    assert (tmp_path / "reports" / WEEKS[0] / MANIFEST_FILE).read_bytes() == before
    assert value(registry, "reports_missing") == 1


def test_a_clock_set_back_writes_over_nothing(tmp_path: Path, store: Store) -> None:
    clock = ManualClock()
    of = reporter(settings(tmp_path, None), store, clock)
    clock.instant += timedelta(weeks=1)
    look(of)
    before = (tmp_path / "reports" / WEEKS[1] / MANIFEST_FILE).read_bytes()
    clock.instant -= timedelta(weeks=1)
    look(of)
    clock.instant += timedelta(weeks=2)
    look(of)
    assert (tmp_path / "reports" / WEEKS[1] / MANIFEST_FILE).read_bytes() == before
    assert previous(tmp_path, WEEKS[2]) == WEEKS[1]


def test_rows_that_cannot_be_read_are_told_as_the_stores(tmp_path: Path, store: Store) -> None:
    def refuse() -> WeekReader:
        raise StoreError("no rows today")

    registry = CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, ManualClock(), registry)
    look(replace(of, open_reader=refuse))
    assert value(registry, "report_failures_total", kind="store") == 1
    assert reports_in(tmp_path) == []


def test_a_folder_that_cannot_be_seen_is_owed_its_reports(tmp_path: Path, store: Store) -> None:
    registry = CollectorRegistry()
    of = reporter(settings(tmp_path, None), store, ManualClock(), registry)
    (tmp_path / "reports").rmdir()
    look(of)
    assert value(registry, "reports_missing") == 1
    assert value(registry, "report_newest_due_timestamp_seconds") == 0
    assert value(registry, "report_failures_total", kind="files") == 1


class Broken(ManualClock):
    """Breaks at the first sleep, with no error of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.broke = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.broke.set()
        raise ZeroDivisionError


def test_a_crash_of_ours_is_counted_and_every_kind_is_there_from_the_start(
    tmp_path: Path, store: Store
) -> None:
    registry, config = CollectorRegistry(), settings(tmp_path, None)

    def failures() -> dict[str, float | None]:
        name, env = "davylamp_report_failures_total", config.environment
        return {
            kind.value: registry.get_sample_value(name, {"env": env, "kind": kind.value})
            for kind in ReportFailure
        }

    async def day() -> None:
        clock = Broken()
        async with reporting(config, store, clock, registry):
            assert failures() == dict.fromkeys(ReportFailure, 0)
            await clock.broke.wait()

    asyncio.run(day())
    assert failures() == {**dict.fromkeys(ReportFailure, 0), "crashed": 1}
