"""The longest pause between two pieces of a stream, and how many pieces there were."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.openai_stream import StreamReader
from monitor.engines.sse import SseEvent
from tests.unit.engines.asking import HEALTHY, HEALTHY_STREAM, STOP, USAGE_EVENT, ask_once, chunk
from tests.unit.engines.asking import content as piece


def read(*events: tuple[float, object]) -> StreamReader:
    reader = StreamReader(usage_expected=True)
    for seconds, event in events:
        reader.take(SseEvent(name="", data=json.dumps(event).encode()), seconds)
    return reader


def test_what_carries_no_part_of_the_answer_ends_no_pause() -> None:
    role = chunk({"role": "assistant", "content": ""})
    reader = read(
        (0.1, role),
        (1.0, piece("a")),
        (2.0, role),
        (4.0, piece("b")),
        (4.5, piece("c")),
        (9.0, STOP),
    )
    assert (reader.first_token_seconds, reader.longest_gap_seconds, reader.pieces) == (1.0, 3.0, 3)


def test_a_single_piece_has_no_pause() -> None:
    reader = read((1.0, piece("a")), (9.0, STOP), (9.1, USAGE_EVENT))
    assert (reader.longest_gap_seconds, reader.pieces) == (None, 1)


@given(st.lists(st.floats(0, 1000), min_size=2, max_size=20).map(sorted))
def test_the_longest_pause_is_the_largest_difference(times: list[float]) -> None:
    reader = read(*((seconds, piece("a")) for seconds in times))
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert reader.longest_gap_seconds == max(gaps)


def test_replies_say_how_they_came() -> None:
    streamed, whole = ask_once(HEALTHY_STREAM, streamed=True), ask_once(HEALTHY)
    assert streamed.response is not None
    assert whole.response is not None
    assert (streamed.response.pieces, whole.response.pieces) == (2, None)
    assert streamed.timing.longest_gap_seconds is not None
    assert whole.timing.longest_gap_seconds is None
