"""The worker's own side: loads the instruments, measures what comes, ends with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from pathlib import Path

from monitor.scoring.base import InstrumentKind, ScoringSettings
from monitor.scoring.frames import Line, asked_from_json, measured_as_json
from monitor.scoring.inline import InlineScorer

# Probing goes first: its times are evidence.
NICENESS = 10
# From linux/prctl.h: the signal this process gets when its parent dies, however it dies.
_PR_SET_PDEATHSIG = 1


def main(end: int, parent: int) -> None:
    """Serve the parent at the other end of this socket until it closes it or dies."""
    _end_with(parent)
    # Ctrl-C reaches every process of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    line = Line(socket.socket(fileno=end))
    try:
        _serve(line)
    except EOFError:
        return
    except Exception as error:
        line.send({"died": type(error).__name__})
        raise


def _serve(line: Line) -> None:
    started = line.receive()
    scorer = InlineScorer(
        ScoringSettings(instruments={code: s["settings"] for code, s in started.items()}),
        kinds={
            code: InstrumentKind(module=s["module"], build=s["build"], needs=lambda _: {})
            for code, s in started.items()
        },
    )
    while True:
        asked = asked_from_json(line.receive()["asked"])
        measured = scorer.measure_now(asked)
        line.send({"measured": measured_as_json(measured), "bytes": resident_bytes()})


def _end_with(parent: int) -> None:
    """Die when the parent does, also in the middle of a measurement that never ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def resident_bytes() -> int:
    """Return the memory this process holds now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
