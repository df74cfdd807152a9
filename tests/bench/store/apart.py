"""A part of the bench in a process of its own: its memory is its own, and so is its one store."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_ROOT = Path(__file__).resolve().parents[3]
_MODULE = "tests.bench.store.apart"
_LONGEST_SECONDS = 12 * 3600


def apart(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function of a module in a fresh process and return what it returns.

    What it says on stderr is shown as it comes. Ends this process too if it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, said = Path(folder) / "asked", Path(folder) / "said"
        asked.write_bytes(pickle.dumps((work, arguments, named)))
        done = subprocess.run(
            [sys.executable, "-m", _MODULE, str(asked), str(said)],
            check=False,
            cwd=_ROOT,
            timeout=_LONGEST_SECONDS,
        )
        if done.returncode:
            sys.exit(f"{work.__module__}.{work.__name__} failed (exit {done.returncode})")
        found: T = pickle.loads(said.read_bytes())  # noqa: S301 - our own file
        return found


def main(asked: str, said: str) -> None:
    """Do what one file asks and write what comes of it to the other."""
    logging.disable(logging.INFO)
    work, arguments, named = pickle.loads(Path(asked).read_bytes())  # noqa: S301 - our own file
    Path(said).write_bytes(pickle.dumps(work(*arguments, **named)))


if __name__ == "__main__":
    main(*sys.argv[1:])
