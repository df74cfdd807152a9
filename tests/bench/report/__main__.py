"""``make bench-report``: how long a weekly report takes over a store of so many verdicts.

The rows are those of ``bench-store``: real passes over labs, copied inside the engine over ninety
days (``--days`` says otherwise). Each size is made and reported in a process of its own. With
``--store`` it stays in a folder, and the same command reports it again: best on a machine that has
come to rest since.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.report.measuring import MADE, Found, Task, measured
from tests.bench.store import generate
from tests.bench.store.apart import apart
from tests.bench.store.passes import real_passes
from tests.bench.store.sized import what_fits


def main(arguments: Sequence[str]) -> None:
    """Measure each size and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1e6", help="verdicts: 1e6,1e7")
    parser.add_argument("--days", type=int, default=generate.DAYS)
    parser.add_argument("--store", help="a folder to make the one size in, once, and to report it")
    asked = parser.parse_args(arguments)
    whole = bool(asked.store) and (Path(asked.store) / MADE).exists()
    passes = () if whole else real_passes()
    say(f"load of the machine at the beginning: {os.getloadavg()[1]:.1f}, {os.cpu_count()} cores")
    say("| verdicts | of the week | compute | write | build | page | all files | memory |")
    say("|---|---|---|---|---|---|---|---|")
    for text in asked.sizes.split(","):
        verdicts = int(float(text))
        every = {} if whole else what_fits(verdicts, passes)
        folder = asked.store or ""
        task = Task(verdicts=verdicts, days=asked.days, every=every, folder=folder)
        say(_line(apart(measured, task, passes)))


def _line(found: Found) -> str:
    return (
        f"| {found.verdicts:,} | {found.in_week:,} | {found.compute_seconds:.2f} s "
        f"| {found.write_seconds:.2f} s | {found.build_seconds:.2f} s "
        f"| {found.html_bytes / 1e6:.2f} MB | {found.all_bytes / 1e6:.2f} MB "
        f"| {found.peak_bytes / 1e6:,.0f} MB |"
    )


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
