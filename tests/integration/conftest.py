"""Labs that several tests share, and an installation for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.processes import Endpoint, Installation, fault, install, lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INCIDENT = "overlength_placeholder"


@pytest.fixture(scope="session")
def healthy_lab() -> Iterator[Endpoint]:
    with lab() as endpoint:
        yield endpoint


@pytest.fixture
def leaking_lab() -> Iterator[Endpoint]:
    """A fresh lab for each test: in a used one the victim may read what another installation wrote.

    Nobody could say whose that is, and it is rightly WRONG_INPUT and no LEAK.
    """
    with lab(*fault(INCIDENT)) as endpoint:
        yield endpoint


@pytest.fixture
def healthy(healthy_lab: Endpoint, tmp_path: Path) -> Installation:
    """A fresh installation that watches the healthy lab."""
    return install(tmp_path, healthy_lab)


@pytest.fixture
def leaking(leaking_lab: Endpoint, tmp_path: Path) -> Installation:
    """A fresh installation that watches the lab with the incident in it."""
    return install(tmp_path, leaking_lab)
