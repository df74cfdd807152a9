"""What the doctor says of pages: keys, and events that wait; it sends and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.cli.doctor_pages import check_pages
from monitor.paging.outbox import OUTBOX_FILE, open_outbox
from tests.fakes.events_v2 import ROUTING_KEY, serving
from tests.unit.config.known import load_text
from tests.unit.paging.sending import keep
from tests.unit.store.samples import NOW
from tests.unit.store.spooling import SetClock

TEXT = """\
version: 1
targets:
  - name: glm
    engine: openai
    base_url: http://127.0.0.1:1/v1
    model: glm-5.3
    tenants: [{name: donor-a}, {name: victim-b}]
"""


def lines(folder: Path, text: str = TEXT, environ: Mapping[str, str] | None = None) -> list[Line]:
    around = Surroundings(config=load_text(folder, text), clock=SetClock(), environ=environ or {})

    async def found() -> list[Line]:
        return [line async for line in check_pages(around)]

    return asyncio.run(found())


def test_nobody_to_tell_is_nothing_to_say(tmp_path: Path) -> None:
    assert lines(tmp_path) == []


def test_a_receiver_with_its_key_is_well_and_sent_nothing(tmp_path: Path) -> None:
    with serving() as endpoint:
        text = f"{TEXT}pages: {{pagerduty: {{routing_key_env: KEY, url: {endpoint.url!r}}}}}\n"
        [line] = lines(tmp_path, text, {"KEY": ROUTING_KEY})
        assert endpoint.arrived == []
    assert (line.health, line.what) == (Health.OK, "pages pagerduty")
    assert list(tmp_path.glob("davylamp-data/*")) == []


def test_a_key_that_is_missing_or_none_must_be_mended(tmp_path: Path) -> None:
    text = f"{TEXT}pages: {{pagerduty: {{routing_key_env: KEY}}}}\n"
    [missing] = lines(tmp_path, text)
    assert (missing.health, missing.said) == (Health.FAIL, "environment variable KEY is not set")
    [odd] = lines(tmp_path, text, {"KEY": "hunter2"})
    assert (odd.health, odd.said) == (Health.FAIL, "$KEY does not hold an integration key")
    assert "hunter2" not in str(odd)


def test_events_that_wait_for_long_are_a_warning_also_beside_a_daemon(tmp_path: Path) -> None:
    text = f"{TEXT}pages: {{webhooks: [{{name: hook, url: 'http://127.0.0.1:9'}}]}}\n"
    folder = tmp_path / "davylamp-data"
    folder.mkdir()
    outbox = open_outbox(folder, NOW)
    assert [line.health for line in lines(tmp_path, text)] == [Health.OK, Health.OK]
    keep(outbox, 1)
    outbox._database.execute("UPDATE events SET made_at = ?", (NOW.timestamp() - 3600,))
    outbox._database.commit()
    [_, warned] = lines(tmp_path, text)
    assert warned.health is Health.WARN
    assert warned.said == "events of pages wait: 3, the oldest for 60 minutes"
    outbox.close()


def test_a_damaged_outbox_is_unknown_and_stays_where_it_is(tmp_path: Path) -> None:
    text = f"{TEXT}pages: {{webhooks: [{{name: hook, url: 'http://127.0.0.1:9'}}]}}\n"
    file = tmp_path / "davylamp-data" / OUTBOX_FILE
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    [_, line] = lines(tmp_path, text)
    assert (line.health, line.what) == (Health.UNKNOWN, "outbox")
    assert file.read_bytes() == b"nonsense" * 1000
