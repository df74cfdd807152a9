"""One real embedded store a test file, closed before the next: chDB holds one path at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from monitor.store import Store, open_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened
