"""Reports of a daemon: one each week, told of once, whatever ends in between."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.config import Config
from monitor.daemon.reporting import LOOK_SECONDS, Reporter, reporting
from monitor.errors import ConfigError
from monitor.store import Store, open_store
from monitor.weekly.asking import asked_of
from monitor.weekly.building import build
from monitor.weekly.files import Format
from monitor.weekly.manifest import MANIFEST_FILE, Signed, manifest_of, sha256
from monitor.weekly.verifying import verify
from tests.fakes.events_v2 import Endpoint, serving
from tests.unit.daemon.installed import ManualClock, config_of
from tests.unit.daemon.reporters import SECRET, TOKEN, look, reporter, reports_in, settings


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


def again(of: Reporter, config: Config, store: Store) -> Reporter:
    """Return the reporter of a next start."""
    return reporter(config, store, of.clock)  # type: ignore[arg-type]  # the same clock


def test_a_report_is_built_once_its_time_has_come(tmp_path: Path, store: Store) -> None:
    clock = ManualClock()
    of = reporter(settings(tmp_path, None, day="tuesday", time="07:30"), store, clock)
    assert of.schedule.due(clock.now()).label == "2026-W43"
    clock.instant += timedelta(days=1, hours=7, minutes=29)
    assert of.schedule.due(clock.now()).label == "2026-W43"
    clock.move(60)
    assert of.schedule.due(clock.now()).label == "2026-W44"
    look(of)
    assert reports_in(tmp_path) == ["2026-W44"]
    found = verify(tmp_path / "reports" / "2026-W44", Signer(store.key).public)
    assert found.problems == ()


def test_each_report_follows_the_one_before_and_a_gap_is_said(tmp_path: Path, store: Store) -> None:
    clock = ManualClock()
    config = settings(tmp_path, None)
    of = reporter(config, store, clock)
    for weeks in (1, 1, 6):
        clock.instant += timedelta(weeks=weeks)
        look(of)
    later = ["2026-W48", "2026-W49", "2026-W50", "2026-W51"]
    assert reports_in(tmp_path) == ["2026-W44", "2026-W45", *later]
    manifests = [
        json.loads((tmp_path / "reports" / week / MANIFEST_FILE).read_bytes())
        for week in reports_in(tmp_path)
    ]
    assert manifests[0]["previous"] is None
    assert manifests[1]["previous"]["week"] == "2026-W44"
    assert (manifests[2]["previous"]["week"], manifests[2]["previous"]["weeks_between"]) == (
        *("2026-W45", 2),
    )
    assert [each["previous"]["week"] for each in manifests[3:]] == later[:-1]


def test_somebody_is_told_once_signed_and_without_text(
    tmp_path: Path, store: Store, endpoint: Endpoint
) -> None:
    endpoint.answer(200)
    clock = ManualClock()
    clock.instant += timedelta(days=7)
    config = settings(tmp_path, endpoint)
    of = reporter(config, store, clock)
    look(of)
    look(again(of, config, store))
    [told] = endpoint.arrived
    manifest = (tmp_path / "reports" / "2026-W44" / MANIFEST_FILE).read_bytes()
    assert told.event == {
        "version": 1,
        "environment": "default",
        "week": "2026-W44",
        "judgement": "could_not_tell",
        "has_data": False,
        "targets": {"glm": "could_not_tell"},
        "findings": 0,
        "not_looked_at": told.event["not_looked_at"],
        "manifest_sha256": sha256(manifest),
        "previous_sha256": None,
        "weeks_between": None,
    }
    assert told.event["not_looked_at"] > 0
    assert told.headers["authorization"] == f"Bearer {TOKEN}"
    at, made = told.headers["x-davylamp-signature"].split(",")
    signed = at.removeprefix("t=").encode() + b"." + told.body
    assert made == f"v1={hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()}"
    files = [f for f in (tmp_path / "reports").rglob("*") if f.is_file()]
    assert not [f for f in files if TOKEN.encode() in f.read_bytes()]


def test_who_fails_is_told_again_and_who_refuses_is_not(
    tmp_path: Path, store: Store, endpoint: Endpoint
) -> None:
    clock = ManualClock()
    clock.instant += timedelta(days=7)
    config = settings(tmp_path, endpoint)
    of = reporter(config, store, clock)
    endpoint.answer(503, 429, 400, 200)
    for _ in range(4):
        look(again(of, config, store))
    assert [each.status for each in endpoint.arrived] == [503, 429, 400]
    assert len({each.body for each in endpoint.arrived}) == 1


def test_a_start_after_a_broken_off_one_tells_of_the_report_that_is_there(
    tmp_path: Path, store: Store, endpoint: Endpoint
) -> None:
    clock = ManualClock()
    clock.instant += timedelta(days=7)
    config = settings(tmp_path, endpoint)
    of = reporter(config, store, clock)
    look(replace(of, receiver=None))
    (tmp_path / "reports" / "2026-W44.notice.json").unlink()
    manifest = (tmp_path / "reports" / "2026-W44" / MANIFEST_FILE).read_bytes()
    endpoint.answer(200)
    look(again(of, config, store))
    [told] = endpoint.arrived
    assert told.event["manifest_sha256"] == sha256(manifest)
    assert (tmp_path / "reports" / "2026-W44" / MANIFEST_FILE).read_bytes() == manifest


def test_a_folder_that_is_not_there_is_said_and_tried_again(
    tmp_path: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    config = settings(tmp_path, None)
    (tmp_path / "reports").rmdir()
    of = reporter(config, store, clock)
    with caplog.at_level(logging.ERROR):
        look(of)
    assert "no such folder" in caplog.text
    (tmp_path / "reports").mkdir()
    look(of)
    assert reports_in(tmp_path) == ["2026-W43"]


@pytest.mark.parametrize("formats", [["json"], ["csv"]])
def test_a_report_that_is_there_is_told_of_by_what_it_says(
    tmp_path: Path, store: Store, endpoint: Endpoint, formats: list[str]
) -> None:
    clock = ManualClock()
    config = settings(tmp_path, endpoint, formats=formats)
    of = reporter(config, store, clock)
    look(replace(of, receiver=None))
    notice = tmp_path / "reports" / "2026-W43.notice.json"
    first = notice.read_bytes()
    notice.unlink()
    endpoint.answer(200)
    look(again(of, config, store))
    assert notice.read_bytes() == first


@pytest.mark.parametrize("formats", [["json"], ["csv"]])
def test_a_report_that_is_there_and_does_not_hold_is_not_told_of(
    tmp_path: Path, store: Store, caplog: pytest.LogCaptureFixture, formats: list[str]
) -> None:
    clock = ManualClock()
    config = settings(tmp_path, None, formats=formats)
    of = reporter(config, store, clock)
    look(of)
    notice = tmp_path / "reports" / "2026-W43.notice.json"
    notice.unlink()
    [changed] = (tmp_path / "reports" / "2026-W43").glob(f"report.{formats[0]}")
    changed.write_bytes(changed.read_bytes().replace(b"could_not_tell", b"good"))
    with caplog.at_level(logging.ERROR):
        look(again(of, config, store))
    assert "is there and does not hold" in caplog.text
    assert not notice.exists()


def test_a_report_that_is_there_and_of_another_key_is_not_told_of(
    tmp_path: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    config = settings(tmp_path, None)
    of = reporter(config, store, clock)
    other = InstallationKey.load_or_create(tmp_path / "other.key")
    look(replace(of, key=other))
    (tmp_path / "reports" / "2026-W43.notice.json").unlink()
    with caplog.at_level(logging.ERROR):
        look(of)
    assert "yours is another" in caplog.text
    assert not (tmp_path / "reports" / "2026-W43.notice.json").exists()


def _another_word(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"default"', b'"another"'))


def _longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b" ")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (MANIFEST_FILE, _another_word, "not one of this installation"),
        (MANIFEST_FILE, _longer, "cannot be followed"),
        ("report.json", _longer, "does not hold"),
    ],
)
def test_a_report_before_that_was_changed_is_not_followed(
    tmp_path: Path,
    store: Store,
    caplog: pytest.LogCaptureFixture,
    name: str,
    change: Callable[[Path], None],
    words: str,
) -> None:
    clock = ManualClock()
    of = reporter(settings(tmp_path, None), store, clock)
    look(of)
    clock.instant += timedelta(days=7)
    look(of)
    change(tmp_path / "reports" / "2026-W44" / name)
    clock.instant += timedelta(days=7)
    with caplog.at_level(logging.ERROR):
        look(of)
    assert words in caplog.text
    assert reports_in(tmp_path) == ["2026-W43", "2026-W44", "2026-W45"]
    before = previous_of(tmp_path, "2026-W45")
    assert (before["week"], before["weeks_between"]) == ("2026-W43", 1)


def test_a_folder_that_holds_the_report_of_another_week_is_not_followed(
    tmp_path: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    of = reporter(settings(tmp_path, None), store, clock)
    look(of)
    shutil.copytree(tmp_path / "reports" / "2026-W43", tmp_path / "reports" / "2026-W44")
    clock.instant += timedelta(days=14)
    with caplog.at_level(logging.ERROR):
        look(of)
    assert "is there and does not hold: the folder is named after another week" in caplog.text
    assert "not followed" in caplog.text
    assert previous_of(tmp_path, "2026-W45")["week"] == "2026-W43"


def _write(of: Reporter, files: dict[str, bytes]) -> Path:
    """Put the report of the week that is due there, signed by the key, as another version did."""
    week = of.schedule.due(of.clock.now())
    signed = Signed(
        davylamp="0.0.1",
        installation=of.key.fingerprint,
        environment=of.config.environment,
        week=week,
        previous=None,
    )
    folder = of.schedule.folder / week.label
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / MANIFEST_FILE).write_bytes(manifest_of(files, signed, Signer(of.key)))
    return folder


@pytest.mark.parametrize("formats", [[Format.HTML], [Format.HTML, Format.CSV]])
def test_a_report_built_by_hand_in_other_formats_is_told_of(
    tmp_path: Path, store: Store, endpoint: Endpoint, formats: list[Format]
) -> None:
    endpoint.answer(200)
    of = reporter(settings(tmp_path, endpoint, formats=["csv"]), store, ManualClock())
    week = of.schedule.due(of.clock.now())
    folder = of.schedule.folder / week.label
    with closing(of.open_reader()) as reader:
        built = build(reader, asked_of(of.config, week, None), formats, folder, of.key)
    look(of)
    assert of.schedule.missing(of.clock.now()) == ()
    [told] = endpoint.arrived
    assert (told.event["week"], told.event["manifest_sha256"]) == (
        week.label,
        built.manifest_sha256,
    )


def test_a_report_that_holds_and_cannot_be_told_of_is_there_and_said_once(
    tmp_path: Path, store: Store, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.answer(200)
    clock = ManualClock()
    config = settings(tmp_path, endpoint, formats=["html"])
    of = reporter(config, store, clock)
    folder = _write(of, {"report.html": b"<p>The page of an older version.</p>"})
    before = (folder / MANIFEST_FILE).read_bytes()
    for _ in range(2):
        look(again(of, config, store))
    assert (folder / MANIFEST_FILE).read_bytes() == before
    assert caplog.text.count("holds, but nobody can be told of it: it has no report.json") == 1
    assert endpoint.arrived == []
    now = clock.now()
    assert (of.schedule.missing(now), len(of.schedule.untold(now))) == ((), 1)
    # Moved away, as the log says, it is built anew and told of.
    folder.rename(tmp_path / "elsewhere")
    look(again(of, config, store))
    assert [each.event["week"] for each in endpoint.arrived] == [folder.name]
    assert of.schedule.untold(now) == ()


def test_a_webhook_that_is_added_is_told_of_the_last_report_alone(
    tmp_path: Path, store: Store, endpoint: Endpoint
) -> None:
    endpoint.answer(200, 200)
    clock = ManualClock()
    look(reporter(settings(tmp_path, None), store, clock))
    clock.instant += timedelta(weeks=1)
    look(reporter(settings(tmp_path, None), store, clock))
    config = settings(tmp_path, endpoint)
    look(reporter(config, store, clock))
    clock.instant += timedelta(weeks=1)
    look(reporter(config, store, clock))
    assert [each.event["week"] for each in endpoint.arrived] == ["2026-W44", "2026-W45"]


def previous_of(folder: Path, week: str) -> dict[str, Any]:
    said = json.loads((folder / "reports" / week / MANIFEST_FILE).read_bytes())
    found: dict[str, Any] = said["previous"]
    return found


class _Looked(ManualClock):
    """Ends the reporter at its second sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []
        self.over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.move(seconds)
        if len(self.slept) == 2:
            self.over.set()
            await asyncio.Event().wait()


def test_the_daemon_looks_every_ten_minutes_and_ends_in_good_order(
    tmp_path: Path, store: Store
) -> None:
    async def day() -> list[float]:
        clock = _Looked()
        async with reporting(settings(tmp_path, None), store, clock, CollectorRegistry()):
            await clock.over.wait()
        return clock.slept

    assert asyncio.run(day()) == [LOOK_SECONDS] * 2
    assert reports_in(tmp_path) == ["2026-W43"]


def test_without_the_section_nothing_is_built(tmp_path: Path, store: Store) -> None:
    async def day() -> None:
        async with reporting(config_of(tmp_path), store, ManualClock(), CollectorRegistry()):
            await asyncio.sleep(0)

    asyncio.run(day())
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"time": "6:00"}, "reports.time"),
        ({"time": "24:00"}, "reports.time"),
        ({"day": "someday"}, "reports.day"),
        ({"formats": []}, "reports.formats"),
        ({"formats": ["html", "html"]}, "reports.formats"),
        ({"formats": ["pdf"]}, "reports.formats"),
        ({"folder": ""}, "reports.folder"),
        ({"token": "x"}, "reports.token"),
    ],
)
def test_what_is_no_setting_is_refused_with_its_place(
    tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        settings(tmp_path, None, **more)


def test_a_token_goes_to_no_other_machine_in_clear(tmp_path: Path) -> None:
    hook = {"name": "filed", "url": "http://hooks.example.com/x", "token_env": "TOKEN"}
    with pytest.raises(ConfigError, match="in clear"):
        settings(tmp_path, None, webhook=hook)


def test_the_clock_of_tests_begins_on_a_monday() -> None:
    assert ManualClock().now() == datetime(2026, 11, 2, tzinfo=ManualClock().now().tzinfo)
