"""A webhook gets the same page as JSON, signed; and nothing secret is anywhere."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.errors import ConfigError
from monitor.paging.outbox import OUTBOX_FILE
from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.unit.paging.paged import Paged, paged

TOKEN, SECRET = "hook-token-5d1e", "hook-secret-9c2f"
WHY = "Mrs Smith of ward 7 called"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture
def hooked(tmp_path: Path, endpoint: Endpoint) -> Iterator[Paged]:
    (tmp_path / "token").write_text(TOKEN, encoding="ascii")
    (tmp_path / "secret").write_text(SECRET, encoding="ascii")
    hook = {
        "name": "incidents",
        "url": f"{endpoint.url}/hook",
        "token_file": "token",
        "secret_file": "secret",
    }
    with paged(tmp_path, endpoint.url, webhooks=[hook]) as of:
        yield of


def test_a_page_is_versioned_and_signed_and_says_all_in_every_action(
    hooked: Paged, endpoint: Endpoint
) -> None:
    finding = hooked.open()
    hooked.tell()
    hooked.findings.resolve(finding.id, "ann", WHY, hooked.clock.now())
    hooked.tell()
    posted = [each for each in endpoint.arrived if each.path == "/hook"]
    assert [each.event["action"] for each in posted] == ["trigger", "resolve"]
    for each in posted:
        page = each.event
        assert (page["version"], page["class"], page["finding"]) == (1, "LEAK", finding.id)
        assert (page["environment"], page["target"], page["model"]) == ("prod", "glm", "glm-5.3")
        assert each.headers["authorization"] == f"Bearer {TOKEN}"
        at, made = each.headers["x-davylamp-signature"].split(",")
        signed = at.removeprefix("t=").encode() + b"." + each.body
        right = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert made == f"v1={right}"
    assert len({each.event["id"] for each in posted}) == 2
    assert len(endpoint.arrived) == 4, "PagerDuty is told too"


def test_one_receiver_that_is_down_holds_up_no_other(hooked: Paged, endpoint: Endpoint) -> None:
    hooked.open()
    hooked.say()
    endpoint.answer(503)
    hooked.send()
    statuses = {each.path: each.status for each in endpoint.arrived}
    assert sorted(statuses.values()) == [202, 503]
    hooked.pass_time(10)
    assert sorted(each.path for each in endpoint.arrived if each.status == 202) == [
        *("/hook", "/v2/enqueue"),
    ]


def test_no_secret_and_no_persons_word_is_in_page_disk_log_metric_or_ledger(
    hooked: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "monitor")
    endpoint.answer(500, 400)
    finding = hooked.open()
    hooked.tell()
    hooked.findings.confirm(finding.id, "ann", WHY, hooked.clock.now())
    hooked.say()
    waiting = b"".join(
        file.read_bytes() for file in hooked.config.storage_path.glob(f"{OUTBOX_FILE}*")
    )
    hooked.pass_time(60)
    hooked.findings.resolve(finding.id, "ann", WHY, hooked.clock.now())
    hooked.tell()
    pages = b"".join(each.body.replace(ROUTING_KEY.encode(), b"", 1) for each in endpoint.arrived)
    told = [repr(hooked.pager._told.receivers), caplog.text, hooked.metrics()]
    everything = [waiting, pages, repr(hooked.ledger.rows).encode(), *(t.encode() for t in told)]
    assert b"trigger" in waiting
    for secret in (ROUTING_KEY, TOKEN, SECRET, WHY):
        for text in everything:
            assert secret.encode() not in text


def test_a_ledger_that_takes_nothing_keeps_no_page_back(
    hooked: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    hooked.ledger.broken = True
    hooked.open()
    hooked.tell()
    assert len(endpoint.arrived) == 2
    assert "an attempt is missing in pages_sent: the spool is full" in caplog.text


@pytest.mark.parametrize(
    ("key", "words"),
    [("short", "does not hold an integration key"), ("", "is empty"), (None, "cannot be read")],
)
def test_a_key_that_cannot_be_one_ends_the_start(
    key: str | None, words: str, hooked: Paged
) -> None:
    file = hooked.config.file.parent / "pagerduty.key"
    file.unlink()
    if key is not None:
        file.write_text(key, encoding="ascii")
    with pytest.raises(ConfigError, match=words) as caught:
        hooked.restart()
    assert "pages.pagerduty.routing_key_file" in str(caught.value)
    assert "short" not in str(caught.value)


def test_an_event_beside_the_path_for_events_is_not_taken_here_either(endpoint: Endpoint) -> None:
    event = b'{"routing_key": "x"}'
    assert endpoint.take("/v2/enqueue/v2/enqueue", {}, event)[0] == 404
    assert endpoint.accepted() == []
