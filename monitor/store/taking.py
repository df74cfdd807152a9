"""Taking an answer from the engine, whole or not at all.

The engine writes it into a pipe, as if that were a file, and a thread of ours into a file. Given
the file itself, the engine would say nothing of a disk that is full, and leave half an answer.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from typing import IO

from monitor.errors import StoreError

MOST_BYTES = 2 * 1024 * 1024 * 1024
_PIPE_BYTES = 1024 * 1024


class TooLargeError(StoreError):
    """An answer has more bytes than one may have."""


class NoRoomError(StoreError):
    """The disk took less than the whole answer."""


class Taking:
    """One answer on its way; ``place`` is where the engine must write it."""

    def __init__(self, file: IO[bytes], most_bytes: int = MOST_BYTES) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._failure: StoreError | None = None
        self._taken = 0
        self._read, self._write = os.pipe()
        with contextlib.suppress(OSError):  # only quicker
            fcntl.fcntl(self._write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._thread = threading.Thread(target=self._take, name="store-answer", daemon=True)

    @property
    def place(self) -> str:
        """The name by which the engine opens the pipe."""
        return f"/proc/self/fd/{self._write}"

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Take what is written while entered.

        Raises ``TooLargeError`` or ``NoRoomError`` at the end if it could not be kept. Half an
        answer is none.
        """
        self._thread.start()
        try:
            yield
        finally:
            os.close(self._write)
            self._thread.join()
            os.close(self._read)
        if self._failure is not None:
            raise self._failure

    def _take(self) -> None:
        """Copy to the end; what cannot be kept is still taken, so that the engine comes to its."""
        while piece := os.read(self._read, _PIPE_BYTES):
            if self._failure is None:
                self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        self._taken += len(piece)
        if self._taken > self._most_bytes:
            self._failure = TooLargeError(f"an answer may have {self._most_bytes} bytes")
            return
        left = memoryview(piece)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._failure = NoRoomError((error.strerror or "unknown reason").lower())
