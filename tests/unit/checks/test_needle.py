"""NEEDLE: an answer is read once, however many needles are looked for."""

from __future__ import annotations

import pytest

from monitor.canaries import Echoes
from monitor.checks import needle
from monitor.model import Needle
from tests.builders import Bench, an_exchange


def test_an_answer_is_read_once_however_many_needles_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = [Bench(seed).mint("tenant-b") for seed in range(3)]
    needles = tuple(
        Needle(place=place, text=code)
        for place, code in zip(("head", "middle", "tail"), codes, strict=True)
    )
    read: list[str] = []

    def counted(answer: str) -> Echoes:
        read.append(answer)
        return Echoes(answer)

    monkeypatch.setattr(needle, "Echoes", counted)
    exchange = an_exchange("Which codes?", f"{codes[0]} {codes[2]}", needles=needles)
    assert needle.lost_places(exchange) == ["middle"]
    assert len(read) == 1
