"""Ending the process beside threads that a library does not give back.

A thread deep in a library cannot be ended from outside. Python waits for no daemon thread, but the
library's own end would then pull the ground from under it, and the process would crash instead.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable


class Leavable(threading.Thread):
    """A thread that nobody waits for at the end, if what it calls does not return."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        super().__init__(target=work, name=name, daemon=True)


def leave(code: int) -> None:
    """Exit with ``code``, at once if such a thread still runs; all must be written and closed."""
    if any(isinstance(each, Leavable) for each in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
