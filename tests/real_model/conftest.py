"""Fixtures: the real engine, healthy and with the fault that a green dashboard hides."""

from collections.abc import Iterator

import pytest

from .llama import IGNORING_TEMPLATE, llama_server


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """Give the base URL of a healthy server (without `/v1`)."""
    with llama_server() as url:
        yield url


@pytest.fixture(scope="session")
def llama_ignoring() -> Iterator[str]:
    """Give the base URL of a server that answers 200 and never reads the messages."""
    with llama_server(chat_template=IGNORING_TEMPLATE) as url:
        yield url
