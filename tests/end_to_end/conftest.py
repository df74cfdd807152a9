"""The labs and installations of the integration tests, for these too."""

from __future__ import annotations

from tests.integration.conftest import healthy, healthy_lab, leaking, leaking_lab

__all__ = ["healthy", "healthy_lab", "leaking", "leaking_lab"]
