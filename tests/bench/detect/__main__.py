"""``make bench-detect``: write the page and the picture of what detectors do. Some minutes."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

from monitor import __version__
from tests.bench.detect.page import page
from tests.bench.detect.picture import picture
from tests.bench.detect.results import measured


def main() -> None:
    """Measure, write and say so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder of page and picture")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the runs, default all")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    asked = parser.parse_args()
    began = time.monotonic()
    results = measured(asked.scale, lambda name: _say(f"{name} ({_since(began)})"), jobs=asked.jobs)
    less = "" if asked.scale == 1 else f" With {asked.scale:.2g} of the runs only."
    place = (
        f"Measured on {time.strftime('%Y-%m-%d')} with Davylamp {__version__}, {os.cpu_count()} "
        f"cores, Python {platform.python_version()}.{less}"
    )
    (asked.out / "detect-measured.md").write_text(page(results, place), encoding="utf-8")
    (asked.out / "detect.svg").write_text(picture(results.settings), encoding="utf-8")
    _say(f"wrote {asked.out}/detect-measured.md and detect.svg after {_since(began)}")


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
