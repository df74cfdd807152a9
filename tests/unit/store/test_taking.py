"""Answers on their way from the engine: whole, or an error."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.store.taking import NoRoomError, Taking, TooLargeError


def written(place: str, data: bytes) -> None:
    """Write as the engine does: by opening the place as a file."""
    with Path(place).open("wb") as file:
        file.write(data)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_001])
def test_what_was_written_is_kept(size: int) -> None:
    data = os.urandom(size)
    with tempfile.TemporaryFile(buffering=0) as file:
        before = open_files()
        taking = Taking(file)
        with taking.open():
            written(taking.place, data)
        assert open_files() == before
        file.seek(0)
        assert file.read() == data


def test_a_full_disk_is_an_error_however_little_it_lacked() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        taking = Taking(full)
        with pytest.raises(NoRoomError, match="no space left on device"), taking.open():
            written(taking.place, b"x" * 3_000_000)


class Narrow:
    """A file that takes a few bytes at a time, and then no more."""

    def __init__(self, room: int) -> None:
        self.kept = b""
        self._room = room

    def write(self, data: bytes) -> int:
        taken = bytes(data[: min(1000, self._room - len(self.kept))])
        if not taken:
            raise OSError(28, "No space left on device")
        self.kept += taken
        return len(taken)


def test_a_file_may_take_less_than_it_is_given() -> None:
    narrow = Narrow(100_000)
    taking = Taking(narrow)  # type: ignore[arg-type]
    with taking.open():
        written(taking.place, b"ab" * 50_000)
    assert narrow.kept == b"ab" * 50_000
    taking = Taking(Narrow(99_999))  # type: ignore[arg-type]
    with pytest.raises(NoRoomError), taking.open():
        written(taking.place, b"ab" * 50_000)


def test_an_answer_has_a_bound() -> None:
    with tempfile.TemporaryFile(buffering=0) as file:
        for size, fits in ((1000, True), (1001, False)):
            taking = Taking(file, most_bytes=1000)
            if fits:
                with taking.open():
                    written(taking.place, b"x" * size)
            else:
                with pytest.raises(TooLargeError, match="have 1000 bytes"), taking.open():
                    written(taking.place, b"x" * size)


def test_what_the_engine_says_comes_before_what_the_disk_says() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        before = open_files()
        with pytest.raises(StoreError, match="the engine's own"):
            fail_half_way(Taking(full))
        assert open_files() == before


def fail_half_way(taking: Taking) -> None:
    with taking.open():
        written(taking.place, b"half")
        raise StoreError("the engine's own")
