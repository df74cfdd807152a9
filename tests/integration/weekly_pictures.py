"""Pictures of a weekly report for the docs, made by Chromium of the history that tests use.

``python -m tests.integration.weekly_pictures --out docs/pictures``
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.integration.processes import COMMAND
from tests.integration.weekly_history import LEAKING, WEEKS, labs, write_history

# The week in which a target leaks.
WEEK = WEEKS[1]
PAGE, MAP = (1320, 760), (1000, 740)


def main() -> None:
    """Write the first page and a coverage map as pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    with TemporaryDirectory() as name:
        folder = Path(name)
        page = _report(folder)
        _photograph(folder, page, PAGE, out / "weekly-report.png")
        only_map = folder / "map.html"
        only_map.write_text(_map_of(page.read_text("utf-8")), encoding="utf-8")
        _photograph(folder, only_map, MAP, out / "weekly-report-map.png")


def _report(folder: Path) -> Path:
    with labs() as places:
        config = write_history(folder, places)
    made = folder / "report"
    command = [COMMAND, "report", "build", "--config", str(config.file), "--week", WEEK.label]
    subprocess.run([*command, "--format", "html", "--out", str(made)], check=True)
    return made / "report.html"


def _map_of(page: str) -> str:
    """Return a page of the coverage map of the target that leaks, in the report's own dress."""
    [style] = re.findall(r"<style.*?</style>", page, re.DOTALL)
    [symbols] = re.findall(r"<svg[^>]*><defs>.*?</defs></svg>", page, re.DOTALL)
    pattern = rf'(<h2 id="coverage">.*?<h3>{LEAKING}</h3>.*?</svg>)'
    [shown] = re.findall(pattern, page, re.DOTALL)
    return f"<!doctype html><meta charset=utf-8>{style}<body>{symbols}{shown}"


def _photograph(folder: Path, page: Path, size: tuple[int, int], picture: Path) -> None:
    width, height = size
    command = [
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={folder / 'browser'}", f"--window-size={width},{height}"),
        *(f"--screenshot={picture.resolve()}", page.as_uri()),
    ]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
