"""Event streams of every hostile kind come to a reply."""

from __future__ import annotations

import json

import pytest

from monitor.model import FailureKind
from tests.fakes.hostile import (
    JSON_HEAD,
    STREAM_HEAD,
    cut,
    endless_stream,
    hang,
    raw,
    reply,
    reset,
    stream,
)
from tests.unit.engines.asking import COMPLETION, STOP, USAGE_EVENT, chunk, content
from tests.unit.engines.hostile_cases import CONTEXT_ERROR, Case, check

CONTENT_LINE = b"data: " + json.dumps(content("half an ans")).encode() + b"\n\n"
PROTOCOL = FailureKind.PROTOCOL
CUT = FailureKind.CUT_STREAM
OVER = FailureKind.OVER_BYTE_LIMIT
TIMEOUT = FailureKind.TIMEOUT
HTTP = FailureKind.HTTP_STATUS

STREAMS = {
    "html": Case(
        behaviour=reply(b"<html>hello</html>", content_type="text/html"), failure=PROTOCOL
    ),
    "empty": Case(behaviour=stream(done=False), failure=PROTOCOL),
    "done alone": Case(behaviour=stream(), failure=PROTOCOL),
    "comments alone": Case(behaviour=endless_stream(b": ping\n\n" * 1000), failure=OVER),
    "cut": Case(behaviour=cut(CONTENT_LINE, b'data: {"choi'), failure=CUT, text="half an ans"),
    "reset": Case(behaviour=reset(STREAM_HEAD, CONTENT_LINE), failure=CUT, text="half an ans"),
    "cut unseen": Case(
        behaviour=stream(content("half an ans"), done=False), failure=CUT, text="half an ans"
    ),
    "silence": Case(behaviour=hang(STREAM_HEAD, CONTENT_LINE), failure=TIMEOUT, text="half an ans"),
    "endless": Case(behaviour=endless_stream(CONTENT_LINE), failure=OVER, text="half an ans" * 2),
    "endless line": Case(behaviour=endless_stream(b"data: " + b"x" * 999), failure=OVER),
    "endless event": Case(behaviour=endless_stream(b"data: " + b"x" * 99 + b"\n"), failure=OVER),
    "no done": Case(
        behaviour=stream(content("ok"), STOP, USAGE_EVENT, done=False),
        text="ok",
        faults=("missing_done",),
    ),
    "no close": Case(
        behaviour=hang(
            STREAM_HEAD,
            *(b"data: %s\n\n" % json.dumps(event).encode() for event in (content("ok"), STOP)),
            b'data: {"choices": [], "usage": {"prompt_tokens": 1}}\n\ndata: [DONE]\n\n',
        ),
        text="ok",
    ),
    "no usage": Case(behaviour=stream(content("ok"), STOP), text="ok", faults=("usage_missing",)),
    "null usage": Case(
        behaviour=stream(content("ok"), STOP, chunk(choices=[], usage=None)),
        text="ok",
        faults=("usage_null",),
    ),
    "no finish reason": Case(
        behaviour=stream(content("ok"), USAGE_EVENT),
        text="ok",
        faults=("finish_reason_missing",),
    ),
    "two finish reasons": Case(
        behaviour=stream(content("ok"), STOP, chunk(finish_reason="length"), USAGE_EVENT),
        text="ok",
        faults=("finish_reason_changed",),
    ),
    "id changed": Case(
        behaviour=stream(content("o"), content("k") | {"id": "chatcmpl-2"}, STOP, USAGE_EVENT),
        text="ok",
        faults=("id_changed_in_stream",),
    ),
    "model changed": Case(
        behaviour=stream(content("o"), content("k") | {"model": "m2"}, STOP, USAGE_EVENT),
        text="ok",
        faults=("model_changed_in_stream",),
    ),
    "second choice": Case(
        behaviour=stream(
            content("ok"),
            chunk(choices=[{"index": 1, "delta": {"content": "not ours"}}]),
            STOP,
            USAGE_EVENT,
        ),
        text="ok",
        faults=("duplicate_choices",),
    ),
    "damaged event": Case(
        behaviour=stream(content("o"), b'{"choices": [{', content("k"), STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_json",),
    ),
    "event of no kind": Case(
        behaviour=stream(content("ok"), b"[1]", {"hello": 1}, STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_object",),
    ),
    "deep event": Case(
        behaviour=stream(content("ok"), b"[" * 9_000, STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_json",),
    ),
    "invalid utf-8": Case(
        behaviour=stream(
            json.dumps(content("o#")).encode().replace(b"#", b"\xff"), STOP, USAGE_EVENT
        ),
        text="o\ufffd",
        faults=("invalid_utf8",),
    ),
    "surrogate halves": Case(
        behaviour=stream(content("\ud83d"), content("\ude00"), STOP, USAGE_EVENT),
        text="\U0001f600",
    ),
    "wrong type": Case(
        behaviour=raw(JSON_HEAD, CONTENT_LINE, b"data: [DONE]\n\n"),
        text="half an ans",
        faults=("wrong_content_type", "usage_missing", "finish_reason_missing"),
    ),
    "not streamed": Case(behaviour=reply(COMPLETION), text="ok", faults=("not_streamed",)),
    "not streamed, wrong type": Case(
        behaviour=reply(COMPLETION, content_type="text/event-stream"),
        text="ok",
        faults=("wrong_content_type", "not_streamed"),
    ),
    "after done": Case(
        behaviour=raw(
            STREAM_HEAD,
            CONTENT_LINE + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}],'
            b' "usage": {}}\n\ndata: [DONE]\n\n' + CONTENT_LINE,
        ),
        text="half an ans",
        faults=("data_after_done",),
    ),
    "context error": Case(
        behaviour=stream({"error": CONTEXT_ERROR}), failure=FailureKind.REFUSED, code=400
    ),
    "context error, named event": Case(
        behaviour=raw(
            STREAM_HEAD,
            b"event: error\ndata: %s\n\n" % json.dumps(CONTEXT_ERROR).encode(),
        ),
        failure=FailureKind.REFUSED,
        code=400,
    ),
    "error after text": Case(
        behaviour=stream(content("half"), {"error": {"code": 500, "message": "x"}}),
        failure=HTTP,
        code=500,
        text="half",
    ),
    "error without code": Case(behaviour=stream({"error": {"message": "x"}}), failure=PROTOCOL),
    "error as text": Case(behaviour=stream({"error": "x"}), failure=PROTOCOL),
    "400": Case(
        behaviour=reply({"error": CONTEXT_ERROR}, status=400), failure=FailureKind.REFUSED, code=400
    ),
}


@pytest.mark.parametrize("case", STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_comes_to_a_reply(case: Case) -> None:
    check(case, streamed=True)
