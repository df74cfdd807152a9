"""How vendors say "too long", with a status or within a stream, and what only looks like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from monitor.engines.refusals import classify_error_in_200, classify_refusal, classify_status
from monitor.model import FailureKind
from tests.fakes.hostile import STREAM_HEAD, raw
from tests.unit.engines.asking import ask_once, content

if TYPE_CHECKING:
    from tests.fakes.hostile import Behaviour


def _lines(name: str) -> list[str]:
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _wording(line: str) -> tuple[int, str, int | None, int | None]:
    status, limit, prompt, wording = line.split(" ", 3)
    return int(status), wording, _number(limit), _number(prompt)


def _look_alike(line: str) -> tuple[int, object]:
    status, _, body = line.partition(" ")
    return int(status), json.loads(body) if body.startswith("{") else body.encode()


WORDINGS = [_wording(line) for line in _lines("refusal_wordings.txt")]
LOOK_ALIKES = [_look_alike(line) for line in _lines("refusal_look_alikes.txt")]
CODES: list[tuple[int, object]] = [
    (400, {"error": {"code": "context_window_exceeded", "message": "no"}}),
    (400, {"error": {"code": "prompt_too_long", "message": "no"}}),
    (400, {"error": {"code": "model_max_prompt_tokens_exceeded", "message": "no"}}),
    (400, {"object": "error", "message": "no", "type": "CONTEXT_LENGTH_EXCEEDED", "code": 400}),
    (413, {"type": "error", "error": {"type": "request_too_large", "message": "too big"}}),
    (400, {"code": 10907, "message": "no"}),
    (413, b"<html><head><title>413 Request Entity Too Large</title></head></html>"),
    (
        422,
        {
            "detail": [
                {
                    "type": "string_too_long",
                    "loc": ["body", "messages", 0, "content"],
                    "msg": "String should have at most 100000 characters",
                    "input": "…",
                    "ctx": {"max_length": 100000},
                }
            ]
        },
    ),
]


def _envelopes(message: str) -> list[object]:
    return [
        {"error": {"message": message, "type": "invalid_request_error", "code": None}},
        {"error": message},
        {"message": message},
        {"code": "InvalidParameter", "message": message, "request_id": "r-1"},
        {"object": "error", "message": message, "type": "BadRequest"},
        {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
        {"error": {"message": "Provider returned error", "metadata": {"raw": message}}},
        json.dumps({"error": {"message": message}}).encode(),
    ]


@pytest.mark.parametrize(("status", "message", "limit", "prompt"), WORDINGS)
def test_each_wording_is_a_refusal(
    status: int, message: str, limit: int | None, prompt: int | None
) -> None:
    for body in _envelopes(message):
        failure = classify_refusal(status, body)
        assert failure is not None, body
        assert failure.kind is FailureKind.REFUSED
        assert (failure.limit_tokens, failure.prompt_tokens) == (limit, prompt), body


@pytest.mark.parametrize(
    ("message", "limit", "prompt"), [each[1:] for each in WORDINGS if each[0] == 400]
)
def test_each_wording_within_a_stream_is_a_refusal(
    message: str, limit: int | None, prompt: int | None
) -> None:
    for body in (
        {"error": {"message": message, "type": "invalid_request_error"}},
        {"error": {"object": "error", "message": message, "code": 400}},
        {"error": message, "error_type": "validation"},
        {"error": {"message": message, "http_status_code": 422}},
        {"code": "InvalidParameter", "message": message},
        {"choices": [{"index": 0, "error": {"message": message, "code": 400}}]},
        {"base_resp": {"status_code": 2013, "status_msg": message}},
    ):
        failure = classify_error_in_200(body)
        assert failure is not None, body
        assert failure.kind is FailureKind.REFUSED, body
        assert (failure.limit_tokens, failure.prompt_tokens) == (limit, prompt)


@pytest.mark.parametrize(("status", "body"), CODES)
def test_codes_alone_are_refusals(status: int, body: object) -> None:
    failure = classify_status(status, body)
    assert (failure.kind, failure.code) == (FailureKind.REFUSED, status)


@pytest.mark.parametrize(("status", "body"), LOOK_ALIKES)
def test_what_only_looks_like_it_is_no_refusal(status: int, body: object) -> None:
    failure = classify_status(status, body)
    assert (failure.kind, failure.code) == (FailureKind.HTTP_STATUS, status)


@pytest.mark.parametrize("body", [body for status, body in LOOK_ALIKES if status in (400, 422)])
def test_what_only_looks_like_it_is_none_within_a_stream_either(body: object) -> None:
    if isinstance(body, bytes):
        body = {"error": body.decode()}
    failure = classify_error_in_200(body, event_name="error")
    assert failure is not None
    assert failure.kind is not FailureKind.REFUSED


LONG = "prompt is too long: 9000 tokens > 8192 maximum"
STREAMS: dict[str, bytes] = {
    "openai": b'data: {"error": {"message": "%s", "code": 400}}\n\n',
    "llama.cpp of old": b'error: {"code": 400, "message": "%s"}\n\n',
    "dashscope": b'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"code":"P","message":"%s"}\n\n',
    "anthropic": b'event: error\ndata: {"type": "error", "error": {"message": "%s"}}\n\n',
    "tgi": b'data: {"error": "%s", "error_type": "validation"}\n\n',
    "minimax": b'data: {"base_resp": {"status_code": 2013, "status_msg": "%s"}}\n\n',
    "workers ai": b'data: {"success": false, "errors": [{"code": 5021, "message": "%s"}]}\n\n',
    "event alone": b'event: error\ndata: {"detail": "%s"}\n\n',
}


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_a_refusal_in_a_stream_that_began_with_200(name: str, *, started: bool) -> None:
    first = b"data: " + json.dumps(content("")).encode() + b"\n\n" if started else b""
    behaviour: Behaviour = raw(STREAM_HEAD, first + STREAMS[name] % LONG.encode())
    failure = ask_once(behaviour, streamed=True).failure
    assert failure is not None
    assert failure.kind is FailureKind.REFUSED
    assert (failure.limit_tokens, failure.prompt_tokens) == (8192, 9000)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 1002, "status_code": 1002}, 401),
        ({"type": "overloaded_error", "message": "Overloaded"}, 529),
        ({"type": "server_error", "message": "x"}, 500),
        ({"code": "rate_limit_exceeded", "message": "x"}, 429),
        ({"type": "InternalServerError", "message": "x", "code": 500}, 500),
    ],
)
def test_other_errors_in_a_200_have_the_status_they_mean(error: object, status: int) -> None:
    failure = classify_error_in_200({"error": error})
    assert failure is not None
    assert (failure.kind, failure.code) == (FailureKind.HTTP_STATUS, status)


@pytest.mark.parametrize(
    ("code", "status"), [(1002, 429), (1008, 402), (1004, 401), (1039, 429), (1024, 500)]
)
def test_minimax_says_it_in_the_body(code: int, status: int) -> None:
    failure = classify_error_in_200({"base_resp": {"status_code": code, "status_msg": "x"}})
    assert failure is not None
    assert (failure.kind, failure.code) == (FailureKind.HTTP_STATUS, status)


def test_a_body_that_says_all_is_well_is_no_error() -> None:
    fine = {"base_resp": {"status_code": 0, "status_msg": ""}, "choices": []}
    assert classify_error_in_200(fine) is None
