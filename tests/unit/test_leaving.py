"""How a process ends beside threads that do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from monitor.leaving import Leavable, leave

_PROGRAM = """
import atexit, sys, threading
from monitor.leaving import Leavable, leave
atexit.register(print, "the end of the interpreter")
begun, end = threading.Event(), threading.Event()
work = Leavable(lambda: (begun.set(), end.wait()), "stuck")
work.start()
begun.wait()
if {ends}:
    end.set()
    work.join()
sys.stdout.write("written")
leave({code})
"""


def ended(code: int, *, ends: bool) -> tuple[int, str]:
    program = _PROGRAM.format(code=code, ends=ends)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("code", [0, 3])
def test_nobody_waits_for_what_does_not_end(code: int) -> None:
    assert ended(code, ends=False) == (code, "written")


def test_without_such_a_thread_the_end_is_python_s() -> None:
    assert ended(2, ends=True) == (2, "writtenthe end of the interpreter\n")
    with pytest.raises(SystemExit) as caught:
        leave(1)
    assert caught.value.code == 1


def test_such_a_thread_is_one_that_python_does_not_wait_for() -> None:
    assert Leavable(lambda: None, "x").daemon
