"""The pager's life in the daemon: it ends with it, and the daemon with a pager that crashes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from monitor.app import Installation
from monitor.daemon.run import paging
from monitor.errors import UsageError
from monitor.findings import Findings
from monitor.paging import RecentAnswers
from tests.fakes.events_v2 import Endpoint, serving
from tests.unit.daemon.installed import ManualClock, config_of, installed
from tests.unit.paging.paged import pages_section
from tests.unit.store.samples import NOW, verdict
from tests.unit.test_findings import MemoryFindings


class BrokenFindings(Findings):
    """Findings with a bug in them."""

    def list_open(self, target: str | None = None) -> Any:
        """Fail as no error of ours does."""
        raise RuntimeError("a bug")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture
def installation(tmp_path: Path, endpoint: Endpoint) -> Iterator[Installation]:
    config = config_of(tmp_path, pages=pages_section(tmp_path, endpoint.url))
    with installed(config, ManualClock()) as (found, _, _):
        yield found


def live(installation: Installation, work: Any) -> None:
    async def run() -> None:
        async with paging(installation, RecentAnswers()):
            await work()

    asyncio.run(run())


def test_what_ends_the_daemon_is_raised_as_it_is_after_the_last_page(
    installation: Installation, endpoint: Endpoint
) -> None:
    async def work() -> None:
        installation.findings.record(verdict(1))
        raise UsageError("the port is taken")

    with pytest.raises(UsageError, match="the port is taken"):
        live(installation, work)
    assert endpoint.actions() == ["trigger"]


def test_a_pager_that_crashes_ends_the_daemon_loudly(installation: Installation) -> None:
    broken = replace(installation, findings=BrokenFindings(cast("Any", MemoryFindings()), NOW))
    with pytest.raises(BaseExceptionGroup) as caught:
        live(broken, asyncio.Event().wait)
    assert caught.group_contains(RuntimeError, match="a bug")
