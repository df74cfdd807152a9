"""The event parser gives the same events whatever the chunks' boundaries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.sse import SseEvent, SseParser

LIMIT = 200
LINES = st.lists(
    st.sampled_from(
        [b"data: {}", b"data:x", b"data", b"event: error", b": ping", b"id: 1", b"", b"data: \xff"]
    )
    | st.binary(max_size=LIMIT + 20),
    max_size=20,
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n"])


def _events(*chunks: bytes, finish: bool = True) -> tuple[list[SseEvent], bool]:
    parser = SseParser(line_bytes=LIMIT)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + (parser.finish() if finish else []), parser.overflowed


@given(lines=LINES, end=ENDS, data=st.data())
def test_any_chunking_gives_the_events_of_the_whole(
    lines: list[bytes], end: bytes, data: st.DataObject
) -> None:
    body = end.join(lines)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)))))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert _events(*chunks) == _events(body)


@given(body=st.binary(max_size=2_000), size=st.integers(1, 50))
def test_any_bytes_are_parsed_alike_in_small_pieces(body: bytes, size: int) -> None:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    assert _events(*pieces) == _events(body)


def test_fields_comments_and_a_byte_order_mark() -> None:
    body = b"\xef\xbb\xbfevent: error\n: note\ndata: one\ndata:  two\nid: 7\n\ndata\n\n"
    assert _events(body)[0] == [SseEvent(name="error", data=b"one\n two")]


def test_the_end_of_the_body_completes_an_event() -> None:
    assert _events(b"data: x\n")[0] == [SseEvent(name="message", data=b"x")]
    assert _events(b"data: x")[0] == [SseEvent(name="message", data=b"x")]
    assert _events(b"data: x\n", finish=False)[0] == []


def test_a_carriage_return_ends_an_event_without_waiting() -> None:
    assert _events(b"data: x\r\r", finish=False)[0] == [SseEvent(name="message", data=b"x")]


def test_an_endless_line_or_event_overflows() -> None:
    assert _events(b"data: " + b"x" * LIMIT) == ([], True)
    assert _events(*[b"data: 0123456789\n"] * 20) == ([], True)
    assert _events(*[b": 0123456789\n"] * 100) == ([], False)
