"""However much a target sends, we hold little of it."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest

from monitor.http import Limits
from monitor.model import FailureKind
from tests.fakes.hostile import Behaviour, big_body, endless_stream, gzip_bomb
from tests.unit.engines.asking import ask_once, content

CONTENT_LINE = b"data: " + json.dumps(content("half an ans")).encode() + b"\n\n"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "behaviour_of",
    [
        partial(big_body, 300_000_000),
        partial(gzip_bomb, 300_000_000),  # over a second: not where tests are collected
        partial(endless_stream, CONTENT_LINE * 100),
    ],
    ids=["300 MB", "gzip bomb", "endless stream"],
)
def test_memory_stays_bounded(behaviour_of: Callable[[], Behaviour], *, streamed: bool) -> None:
    behaviour = behaviour_of()
    tracemalloc.start()
    try:
        reply_ = ask_once(behaviour, streamed=streamed, timeout_seconds=60)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.OVER_BYTE_LIMIT
    assert peak < 6 * Limits().body_bytes
