"""``davylamp pages test``: does a page arrive, and what if not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.cli.main import main
from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.unit.daemon.installed import config_of
from tests.unit.paging.paged import pages_section


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


def pages_test(folder: Path, url: str, *options: str, **pages: object) -> int:
    """Run the verb with a receiver at ``url``."""
    section = pages_section(folder, url, **pages)
    file = config_of(folder, environment="prod", pages=section).file
    return main(["pages", "test", *options, "--config", str(file)])


def test_a_page_arrives_and_is_resolved_under_a_key_of_its_own(
    tmp_path: Path, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = {"name": "incidents", "url": f"{endpoint.url}/hook"}
    assert pages_test(tmp_path, endpoint.url, webhooks=[hook]) == 0
    keys = {event["dedup_key"] for event in endpoint.accepted()}
    [key] = keys
    assert key.startswith("davylamp/v1/prod/pages-test/")
    assert endpoint.alerts == {}
    trigger = endpoint.arrived[0].event["payload"]
    assert trigger["severity"] == "info"
    assert "nothing is wrong" in trigger["summary"]
    shown = capsys.readouterr().out.splitlines()
    assert shown == [
        f"pagerduty: trigger {key}: accepted (HTTP 202)",
        f"pagerduty: resolve {key}: accepted (HTTP 202)",
        f"incidents: trigger {key}: accepted (HTTP 202)",
        f"incidents: resolve {key}: accepted (HTTP 202)",
    ]
    assert not (tmp_path / "store").exists(), "it needs no store, so a daemon may have it"


def test_one_that_is_kept_is_not_resolved(
    tmp_path: Path, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pages_test(tmp_path, endpoint.url, "--keep") == 0
    assert endpoint.actions() == ["trigger"]
    assert "left open: resolve it by hand" in capsys.readouterr().out


@pytest.mark.parametrize(("status", "code"), [(400, 1), (401, 1), (302, 3), (429, 3), (503, 3)])
def test_one_that_is_not_taken_is_bad_if_it_was_refused_else_unsure(
    status: int,
    code: int,
    tmp_path: Path,
    endpoint: Endpoint,
    capsys: pytest.CaptureFixture[str],
) -> None:
    endpoint.always = (status, {})
    assert pages_test(tmp_path, endpoint.url) == code
    assert len(endpoint.arrived) == 1, "one attempt, and no resolve of what was not opened"
    shown = capsys.readouterr()
    assert str(status) in shown.out
    assert ROUTING_KEY not in shown.out + shown.err


def test_one_that_is_not_reached_is_unsure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as gone:
        url = gone.url
    assert pages_test(tmp_path, url) == 3
    assert "NOT DELIVERED: the connection was refused" in capsys.readouterr().out


def test_nobody_to_tell_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_of(tmp_path).file
    assert main(["pages", "test", "--config", str(file)]) == 2
    assert "pages: nobody is told directly" in capsys.readouterr().err
