"""A simulated serving cluster whose faults are mechanisms. It shares no code with the monitor."""

from __future__ import annotations

from monitor.lab.command import main

__all__ = ["main"]
