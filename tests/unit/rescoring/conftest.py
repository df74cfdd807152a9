"""One store for all tests of the folder's files; each judges on days of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.config import Config
from monitor.config.storage import Retention
from monitor.store import Store, open_store
from tests.unit.rescoring.recorded import Sitting, configured


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    long = Retention(bodies_days=3650, verdicts_days=3650)
    with open_store(tmp_path_factory.mktemp("rescoring") / "store", retention=long) as opened:
        yield opened


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return configured(tmp_path)


@pytest.fixture
def sitting(store: Store, config: Config) -> Sitting:
    """A run of Davylamp on a day of its own."""
    return Sitting(store, config)
