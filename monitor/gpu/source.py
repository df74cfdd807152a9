"""What every source of GPU readings can do."""

from __future__ import annotations

from threading import Event
from typing import Protocol

from monitor.gpu.record import GpusReading


class GpuSource(Protocol):
    """Reads the GPUs of one machine. Used by one thread at a time."""

    def read(self) -> GpusReading:
        """Return what they say now. What they do wrong is a state, never an exception."""

    def wait(self, seconds: float, stopping: Event) -> None:
        """Return after ``seconds``, or soon once ``stopping`` is set; listen meanwhile."""

    def close(self) -> None:
        """Let go of the driver."""
