"""``make bench-checks``: rates of every check on labelled sets, beside the default each replaces.

Sets are built from text that installed packages carry, and by mutation; nothing is downloaded.
Seeds are fixed, so that rates come out the same; the throughput is a ratio within one run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from monitor import __version__
from monitor.checks import CHECKS_VERSION
from monitor.detect.binomial import wilson
from tests.bench.checks.table import Row

HERE = Path(__file__).parent
NOT_CHECKS = {"__init__", "__main__", "faults", "judging", "packaged", "table", "throughput"}
HEAD = """# What the checks catch, and how often they are wrong

<!-- Written by `make bench-checks`; do not edit. -->

Each check on labelled sets: how many faulty inputs it fails (true positives) and how many healthy
ones (false positives), with Wilson intervals of 95 %, beside the popular default it replaces. The
sets are built from text of installed packages and by mutation, with fixed seeds
(`tests/bench/checks`). They are our idea of faults, not a sample of incidents.
"""


def main() -> None:
    """Run the modules that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="modules of tests/bench/checks, default all")
    parser.add_argument("--out", type=Path, help="write the page to this file")
    parser.add_argument("--no-throughput", action="store_true")
    asked = parser.parse_args()
    lines = [HEAD, _place(), "", *_HEADINGS]
    say("\n".join(lines[2:]))
    for name in asked.only or sorted(_names()):
        for line in _rows(name):
            say(line)
            lines.append(line)
    if not asked.no_throughput:
        for line in _throughput():
            say(line)
            lines.append(line)
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


_COLUMNS = (
    "check",
    "labelled set",
    "faulty inputs failed",
    "healthy inputs failed",
    "the naive way",
    "faulty failed",
    "healthy failed",
)
_HEADINGS = (f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|")


def _names() -> set[str]:
    return {file.stem for file in HERE.glob("*.py")} - NOT_CHECKS


def _place() -> str:
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    return (
        f"Measured on {time.strftime('%Y-%m-%d')} with Davylamp {__version__}, checks version "
        f"{CHECKS_VERSION}, {machine}."
    )


def _rows(name: str) -> Iterator[str]:
    module = importlib.import_module(f"tests.bench.checks.{name}")
    for row in module.rows():
        yield _line(row)


def _line(row: Row) -> str:
    naive = (
        [
            row.naive_name,
            _share(row.naive_true_positives, row.positives),
            _share(row.naive_false_positives, row.negatives),
        ]
        if row.naive_name
        else ["-", "-", "-"]
    )
    cells = [
        row.check,
        row.input_set,
        _share(row.true_positives, row.positives),
        _share(row.false_positives, row.negatives),
        *naive,
    ]
    return f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    if not whole:
        return "-"
    low, high = wilson(part, whole)
    return f"{part:,} of {whole:,} ({low:.2%} to {high:.2%})"


def _throughput() -> Iterator[str]:
    module = importlib.import_module("tests.bench.checks.throughput")
    yield ""
    yield "## Throughput"
    yield ""
    yield from module.lines()


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
