"""One store for a module, and two weeks of its own in it for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from monitor.store import Store, open_store
from monitor.weekly.week import Week

WEEKS = (Week.parse("2026-W45").earlier(2 * number) for number in itertools.count())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


@pytest.fixture
def week() -> Week:
    return next(WEEKS)
