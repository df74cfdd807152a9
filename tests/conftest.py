"""Settings of every test."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The machine may be busy and runs must repeat: no deadlines, fixed examples.
settings.register_profile("davylamp", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("davylamp")


@pytest.fixture(autouse=True)
def logs_are_set_up_for_one_test_only() -> Iterator[None]:
    """Let no test find the levels that a command run before it has set."""
    loggers = [logging.getLogger(name) for name in (None, "monitor", "httpx", "httpcore")]
    levels = [each.level for each in loggers]
    yield
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)
