"""A line says a column at once, and what all its rows have in common only once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest

from monitor.canaries import InstallationKey
from monitor.store.encode import signal_rows
from monitor.store.private import EvidenceHasher
from monitor.store.rows import SignalRow, columns, values
from monitor.store.segment import Piece, UnreadableError, decoded, line_of, pieces
from tests.unit.store.samples import NOW, trial, verdict

HASHER = EvidenceHasher(InstallationKey(bytes(32)))


def signals(number: int) -> list[SignalRow]:
    (row, *_) = signal_rows(verdict(), trial(), HASHER)
    assert isinstance(row, SignalRow)
    return [replace(row, position=place) for place in range(number)]


def said(line: bytes) -> dict[str, Any]:
    (piece,) = pieces(line)
    found: dict[str, Any] = json.loads(piece.content)
    return found


def read(payload: dict[str, Any]) -> tuple[tuple[Any, ...], ...]:
    content = json.dumps(payload).encode()
    (block,) = decoded(Piece(start=0, end=len(content), content=content, whole=True)).blocks
    return block.rows


def test_what_all_rows_have_in_common_is_said_once() -> None:
    rows = signals(40)

    line = line_of(rows, NOW)

    laid = said(line)["tables"]["signals"]
    assert laid["number"] == 40
    assert laid["columns"]["verdict"] == [rows[0].verdict]
    assert laid["columns"]["position"] == list(range(40))
    (block,) = decoded(next(pieces(line))).blocks
    assert block.columns == columns(SignalRow)
    assert block.rows == tuple(values(row) for row in rows)


@pytest.mark.parametrize("scores", [(1.0, None), (0.0, 0.5), (None, None), (2.0, 2.0)])
def test_a_column_keeps_its_values_apart(scores: tuple[float | None, ...]) -> None:
    rows = [replace(row, score=score) for row, score in zip(signals(2), scores, strict=True)]

    (block,) = decoded(next(pieces(line_of(rows, NOW)))).blocks

    assert [row[columns(SignalRow).index("score")] for row in block.rows] == list(scores)


def test_what_is_no_character_becomes_a_question_mark() -> None:
    rows = [replace(row, explanation="half \ud83d of one") for row in signals(2)]

    (block,) = decoded(next(pieces(line_of(rows, NOW)))).blocks

    assert block.rows == tuple(values(row) for row in rows)
    assert "half ? of one" in block.rows[0]


@pytest.mark.parametrize(
    ("column", "worse"),
    [
        ("position", [0, 1]),
        ("position", [0, 1, True]),
        ("position", [0, 1, 2.0]),
        ("position", []),
        ("position", "012"),
        ("verdict", [1]),
        ("decided_at", ["2026-11-02"]),
        ("span_starts", [["6"]]),
    ],
)
def test_a_column_that_does_not_fit_is_not_read(column: str, worse: object) -> None:
    payload = said(line_of(signals(3), NOW))
    assert len(read(payload)) == 3
    payload["tables"]["signals"]["columns"][column] = worse

    with pytest.raises(UnreadableError):
        read(payload)


def test_the_checksum_is_of_the_whole_line() -> None:
    line = line_of(signals(3), NOW)
    length, checksum, payload = line[:8], line[9:17], line[18:-1]
    assert int(length, 16) == len(payload)
    assert int(checksum, 16) == crc32(payload, crc32(length))
