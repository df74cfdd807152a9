"""Text that comes in pieces outside the answer is searched in one."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from monitor.engines.pieces import MAX_FIELDS, joined_pieces

TEXT = "kulob-fisag-novat-tipum"
PIECES = ["kul", "ob-fi", "sag-no", "vat-", "tipum"]


def events(*documents: object) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in documents)


def chunk(**choice: object) -> Mapping[str, object]:
    return {"id": "x", "choices": [{"index": 0, "delta": {}, **choice}]}


def tokens(pieces: list[str]) -> list[Mapping[str, object]]:
    return [
        {"token": each, "logprob": -0.1, "top_logprobs": [{"token": "a", "logprob": -3.0}]}
        for each in pieces
    ]


IN_PIECES = {
    "unknown-field": [chunk(delta={"thoughts": each}) for each in PIECES],
    "refusal": [chunk(delta={"refusal": each}) for each in PIECES],
    "deep": [chunk(delta={"audio": {"parts": [{"transcript": each}]}}) for each in PIECES],
    "outside-choices": [{"choices": [], "debug": {"prompt": each}} for each in PIECES],
    "tokens-of-a-stream": [chunk(logprobs={"content": tokens([each])}) for each in PIECES],
    "second-choice": [
        {"choices": [{"index": n, "delta": {"content": each}} for n, each in enumerate(pair)]}
        for pair in zip(["It", " ", "is", " ", "so."], PIECES, strict=True)
    ],
    "another-choice-between": [
        {"choices": [{"index": n, "delta": {"content": each}}]}
        for pair in zip(["It", " ", "is", " ", "so."], PIECES, strict=True)
        for n, each in enumerate(pair)
    ],
}


@pytest.mark.parametrize("name", IN_PIECES)
def test_pieces_of_a_stream_are_put_together(name: str) -> None:
    assert TEXT in joined_pieces(events(*IN_PIECES[name]) + b"data: [DONE]\n\n")


def test_tokens_of_a_whole_answer_are_put_together() -> None:
    answer = {"choices": [{"index": 0, "logprobs": {"content": tokens(PIECES)}}]}
    assert TEXT in joined_pieces(json.dumps(answer).encode())


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>no</html>", b"data: no\n\n", b'{"a": "one"}', b'{"a": "x', b"[" * 100_000],
    ids=["nothing", "page", "no-json", "one-piece", "cut", "deep"],
)
def test_what_holds_no_pieces_gives_none(body: bytes) -> None:
    assert joined_pieces(body) == []


def test_only_so_many_fields_are_put_together() -> None:
    fields = {f"field-{number}": ["a", "b"] for number in range(2 * MAX_FIELDS)}
    assert joined_pieces(json.dumps(fields).encode()) == ["ab"] * MAX_FIELDS
