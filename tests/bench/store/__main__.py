"""``make bench-store``: what the store takes, how fast it takes it, and how soon it answers.

Everything is measured on this machine in one run, its parts in processes of their own.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from monitor import __version__
from tests.bench.store import inserting, sized, spooling
from tests.bench.store.apart import apart
from tests.bench.store.page import of_a_pass, of_a_size, of_inserts, of_spooling
from tests.bench.store.passes import Pass, one_exchange, real_passes

HEAD = """# The store, measured

<!-- Written by `make bench-store`; do not edit. -->

Rows are those of real passes over labs, healthy and faulty, copied inside the engine with ids,
hashes and times of their own (`tests/bench/store`). Panels are asked through the engine that
serves readers, with its limits. The naive ways stand beside ours in the same run. p99 of fewer
than a hundred runs is the longest of them."""
_INSERT_SECONDS = 3.0


def main(arguments: Sequence[str]) -> None:
    """Measure what is asked for and print the page, part by part."""
    asked = _parser().parse_args(arguments)
    lines = [HEAD, "", f"{_place()} Run: `{' '.join([_COMMAND, *arguments])}`."]
    say(lines)
    for part in _parts(asked):
        say(part)
        lines += part
    end = ["", f"Load of the machine at the end: {os.getloadavg()[1]:.1f}."]
    say(end)
    if asked.out:
        asked.out.write_text("\n".join(lines + end) + "\n", encoding="utf-8")


_COMMAND = "python -m tests.bench.store"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_COMMAND, description=__doc__)
    parser.add_argument("--sizes", type=_numbers, default=[1_000_000], help="verdicts: 1e6,1e7")
    parser.add_argument("--rate", type=float, default=500.0, help="verdicts a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each run at that rate")
    parser.add_argument("--long", type=float, default=0.0, help="seconds of one more, for memory")
    parser.add_argument("--folder", default="", help="where stores are made, and removed again")
    parser.add_argument("--out", type=Path, help="write the page to this file")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(float(each)) for each in text.split(",") if each]


def _place() -> str:
    return (
        f"Measured on {time.strftime('%Y-%m-%d')} with Davylamp {__version__}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}; load of the machine at the "
        f"beginning: {os.getloadavg()[1]:.1f}."
    )


def _parts(asked: argparse.Namespace) -> Iterator[list[str]]:
    passes = real_passes()
    yield of_a_pass(passes)
    yield of_inserts(apart(inserting.measured, passes[0].judged, _INSERT_SECONDS))
    yield of_spooling(_spooled(asked, passes[0]), asked.rate)
    for verdicts in asked.sizes:
        every = sized.what_fits(verdicts, passes)
        task = sized.Task(verdicts=verdicts, folder=asked.folder, every=every)
        yield of_a_size(apart(sized.measured, task, passes))


def _spooled(asked: argparse.Namespace, healthy: Pass) -> dict[str, spooling.Found]:
    rate, seconds = asked.rate, asked.seconds
    usual = spooling.Task(rate=rate, seconds=seconds)
    tasks = {
        "as a pass gives them, fsync": (usual, healthy.judged),
        "as a pass gives them, no fsync": (
            spooling.Task(rate=rate, seconds=seconds, fsync=False),
            healthy.judged,
        ),
        "trials of one exchange, fsync": (usual, one_exchange(healthy)),
        "naive: each verdict inserted at once, no spool": (
            spooling.Task(rate=rate, seconds=seconds / 4, one_by_one=True),
            healthy.judged,
        ),
    }
    if asked.long:
        long = spooling.Task(rate=rate / 2, seconds=asked.long)
        tasks[f"for {asked.long / 60:g} minutes at {rate / 2:g} a second"] = (long, healthy.judged)
    return {name: apart(spooling.measured, *each) for name, each in tasks.items()}


def say(lines: Sequence[str]) -> None:
    """Write lines at once."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
