"""A page that was made to take long costs its own node alone, and only so much of it is read."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from monitor.nodes import pages as pages_module
from tests.unit.nodes.readers.serving import read, why
from tests.unit.nodes.readers.shapes import info, listing, sglang_metrics


def _aside(monkeypatch: pytest.MonkeyPatch, name: str) -> list[bool]:
    """Return a list of whether each reading of a page was in a thread of its own."""
    seen: list[bool] = []
    read_page = getattr(pages_module, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        seen.append(threading.current_thread() is not threading.main_thread())
        return read_page(*args, **kwargs)

    monkeypatch.setattr(pages_module, name, noted)
    return seen


def test_a_long_page_holds_up_no_other_node(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = _aside(monkeypatch, "parse_json")
    expositions = _aside(monkeypatch, "parse_exposition")
    padding = "# HELP long page\n" * 10_000
    pages = {
        "/server_info": info(padding=["long"] * 20_000),
        "/v1/models": listing("lamp", *["long"] * 2_000),
        "/metrics": padding + sglang_metrics(),
    }
    assert read(pages).facts.engine == "sglang"
    assert documents == [True, True]
    assert expositions == [True]


def test_a_page_of_more_values_than_any_node_has_gives_no_fact() -> None:
    pages = {"/server_info": info(padding=[0] * 250_000), "/v1/models": listing()}
    assert "too many values" in why(read(pages), "version")
