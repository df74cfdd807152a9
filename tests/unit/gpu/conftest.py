"""The stub of the driver's library, compiled when a test asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import nvml

Read = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nvml")


@pytest.fixture
def read(libraries: Path, tmp_path: Path) -> Read:
    """Read step by step; ``flags`` leave symbols out, ``library=False`` leaves out all of it."""

    def reading(
        *steps: dict[str, int], flags: tuple[str, ...] = (), library: bool = True, **more: Any
    ) -> list[dict[str, Any]]:
        folder = nvml.build(libraries, *flags) if library else nvml.none(tmp_path)
        return nvml.readings(folder, tmp_path / "told", *steps, **more)

    return reading
