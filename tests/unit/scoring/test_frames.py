"""Frames between a scorer and its worker: an end that is gone is an end, not a crash."""

from __future__ import annotations

import socket

import pytest

from monitor.scoring.frames import Line


def test_what_is_sent_is_received_and_an_end_that_is_gone_is_told() -> None:
    here, there = (Line(end) for end in socket.socketpair())
    here.send({"answers": ["ü", "\ud800"]})
    assert there.receive(seconds=5) == {"answers": ["ü", "\ud800"]}
    here.close()
    with pytest.raises(EOFError):
        there.receive(seconds=5)
    there.close()


@pytest.mark.parametrize("seconds", [None, 5.0])
def test_an_end_that_was_closed_here_is_gone_too(seconds) -> None:
    here, there = (Line(end) for end in socket.socketpair())
    here.close()
    with pytest.raises(EOFError):
        here.receive(seconds=seconds)
    with pytest.raises(EOFError):
        here.send({}, seconds=seconds)
    there.close()


def test_nothing_in_time_is_said_as_such() -> None:
    here, there = (Line(end) for end in socket.socketpair())
    with pytest.raises(TimeoutError):
        there.receive(seconds=0.01)
    with pytest.raises(TimeoutError):
        there.send({"large": "x" * 50_000_000}, seconds=0.01)
    here.close()
    there.close()
