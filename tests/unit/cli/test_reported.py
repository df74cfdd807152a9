"""Reported answers as they come in: every line is read or said to be broken."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.cli import reported
from monitor.cli.reported import BadLine, read_lines, read_text
from monitor.errors import UsageError
from monitor.scanning import Reported


def lines(text: str | bytes) -> list:
    raw = text.encode() if isinstance(text, str) else text
    return list(read_lines(io.BytesIO(raw), {"victim-b"}))


def test_an_answer_with_everything() -> None:
    line = {"answer": "Yes.", "prompt": "Really?", "tenant": "victim-b", "name": "case 7"}
    assert lines(json.dumps(line)) == [Reported(**line)]


def test_lines_are_named_by_their_number_and_blank_ones_are_none() -> None:
    found = lines('{"answer": "a"}\n\n{"answer": "b", "prompt": null}\n')
    assert [(each.name, each.answer, each.prompt) for each in found] == [
        ("line 1", "a", None),
        ("line 3", "b", None),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "no JSON"),
        ("[1]", "no object"),
        ('{"answer": ""}', "no answer"),
        ('{"prompt": "x"}', "no answer"),
        ('{"answer": 7}', "must be text"),
        ('{"answer": "x", "secret-key": "y"}', "1 unknown keys"),
        ("[" * 100_000, "no JSON"),
        ('{"answer": "x", "answer": "y"}', "each key once"),
        ('{"answer": "x", "tenant": "victim-B"}', "its tenant is none"),
    ],
)
def test_a_broken_line_is_said_with_its_number_and_the_next_is_read(line, why) -> None:
    bad, good = lines(f'{line}\n{{"answer": "fine"}}\n')
    assert isinstance(bad, BadLine)
    assert bad.number == 1
    assert why in bad.why
    assert "secret-key" not in bad.why
    assert good.answer == "fine"


def test_a_line_without_end_is_skipped_in_bounded_memory(monkeypatch) -> None:
    monkeypatch.setattr(reported, "MOST_BYTES", 100)
    bad, good = lines('{"answer": "' + "x" * 1000 + '"}\n{"answer": "fine"}\n')
    assert isinstance(bad, BadLine)
    assert good.answer == "fine"


def test_bytes_that_are_no_utf8_are_read_as_damaged() -> None:
    assert "\ufffd" in read_text(io.BytesIO(b"caf\xe9 au lait"), None, "").answer


def test_half_a_character_is_read_as_damage_and_a_whole_one_kept() -> None:
    [found] = lines('{"answer": "a \\ud83d b \\ud83d\\ude00"}')
    assert found.answer == "a \ufffd b \U0001f600"


@pytest.mark.parametrize("raw", [b"", b" \n"])
def test_an_empty_answer_is_refused(raw) -> None:
    with pytest.raises(UsageError, match="empty"):
        read_text(io.BytesIO(raw), None, "")


def test_a_prompt_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_text(io.BytesIO(b"x"), tmp_path / "none", "")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_line_by_line(raw) -> None:
    found = lines(raw)
    assert len(found) <= raw.count(b"\n") + 1
    assert all(isinstance(each, Reported | BadLine) for each in found)
