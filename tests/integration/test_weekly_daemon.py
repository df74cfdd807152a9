"""A daemon builds the last week's report by itself, and the command builds one beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from monitor.app import store_of
from monitor.configured import read_config
from monitor.sinks import ClickHouseSink
from monitor.weekly.week import Week
from tests.fakes.events_v2 import Endpoint, serving
from tests.integration.daemons import daemon, idle
from tests.integration.processes import (
    TARGET,
    Installation,
    davylamp,
    free_port,
    install,
    lab,
    wait_until,
)
from tests.unit.store.samples import good, trial


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        found.always = (200, {})
        yield found


def test_the_daemon_reports_and_tells_and_the_command_says_the_same(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    with lab() as place:
        installation = idle(install(tmp_path, place))
        told(installation, endpoint)
        reports = tmp_path / "reports"
        with daemon(installation):
            wait_until(lambda: any(reports.glob("*.told.json")), 60, "a report")
            # Which week is the last one may change while this runs.
            [done] = reports.glob("*.told.json")
            label = done.name.removesuffix(".told.json")
            folder = reports / label
            beside = davylamp(
                *("report", "build", "--week", label, "--out", str(tmp_path / "beside")),
                *("--config", str(installation.config)),
            )
    assert beside.exit_code == 0, beside.output
    names = sorted(file.name for file in folder.iterdir())
    assert sorted(file.name for file in (tmp_path / "beside").iterdir()) == names
    different = [
        name
        for name in names
        if (folder / name).read_bytes() != (tmp_path / "beside" / name).read_bytes()
    ]
    assert not different
    said = json.loads((folder / "report.json").read_bytes())
    assert [(row["target"], row["good"]) for row in said["targets"]] == [(TARGET, 3)]
    [notice] = [each.event for each in endpoint.arrived if each.path == "/filed"]
    assert (notice["week"], notice["has_data"]) == (label, True)


def told(installation: Installation, endpoint: Endpoint) -> None:
    """Let reports be built and told of, and put verdicts into each week that may be reported."""
    (installation.folder / "reports").mkdir()
    installation.settings["storage"]["sql"] = {"port": free_port()}
    installation.settings["reports"] = {
        "folder": "reports",
        "time": "00:00",
        "webhook": {"name": "filed", "url": f"{endpoint.url}/filed"},
    }
    installation.write()
    last = Week.last_before(datetime.now(UTC))
    with store_of(read_config(str(installation.config))) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        for number in range(6):
            # The second three are of the week now: it may be over before the daemon looks.
            week = last if number < 3 else last.earlier(-1)
            at = week.since + timedelta(days=1)
            asked = trial(number, TARGET, started_at=at)
            sink.deliver(asked, good(number, TARGET, decided_at=at, trial=asked.id))
