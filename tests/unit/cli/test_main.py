"""The command as a module is the command."""

from __future__ import annotations

import subprocess
import sys

import pytest

import monitor


@pytest.mark.parametrize(
    ("verb", "code", "words"), [("version", 0, monitor.__version__), ("no", 2, "")]
)
def test_it_runs_as_a_module_too(verb: str, code: int, words: str) -> None:
    command = [sys.executable, "-m", "monitor.cli.main", verb]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert words in done.stdout
