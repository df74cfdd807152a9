"""``python -m tests.dashboards.pictures --out DIR``: the dashboards, drawn from a lab run.

They show what the panels show of real data. They are not screenshots of Grafana.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.dashboards.asking import Shown, asked, legend, of_the_store, panels_of, store_of
from tests.dashboards.backfilled import backfilled
from tests.dashboards.drawing import draw
from tests.dashboards.history import make

DRAWN = {
    "overview": "Semantic SLO overview",
    "nodes": "Nodes and KV pools",
    "leak": "Leak investigation",
}
_CAPTION = (
    "Drawn with matplotlib from a lab run of eight hours (make dashboard-pictures), "
    "not a screenshot of Grafana."
)
# A lab has no users and no drafts: what stands for theirs is made up.
_MADE_UP = {"overview": " What users' servers say is made up."}
_LEFT_OUT = "Speculative decoding"
_WIDTH, _ROW = 15.0, 0.26
_MOST_ROWS = {"overview": 68, "nodes": 62, "leak": 90}


def main() -> int:
    """Make a history, ask every panel, draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.dashboards.pictures")
    parser.add_argument("--out", type=Path, required=True)
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as name:
        history = make(Path(name))
        with backfilled(Path(name) / "prometheus", history) as served, store_of(history) as store:
            for dashboard, title in DRAWN.items():
                found = []
                for shown in panels_of(dashboard):
                    kind, words = shown.panel["type"], shown.panel["title"]
                    if kind in ("row", "text") or words.startswith(_LEFT_OUT):
                        continue
                    from_store = "rawSql" in shown.panel["targets"][0]
                    result = (
                        of_the_store(shown, store, history)
                        if from_store
                        else asked(shown, served, history)
                    )
                    found.append((shown, result))
                file = folder / f"dashboard-{dashboard}.png"
                caption = f"{_CAPTION}{_MADE_UP.get(dashboard, '')}"
                _drawn(title, caption, found, _MOST_ROWS[dashboard]).savefig(file, dpi=100)
                sys.stdout.write(f"{file}\n")
    return 0


def _drawn(title: str, caption: str, found: list[tuple[Shown, Any]], rows: int) -> Figure:
    fitting = [
        (shown, result)
        for shown, result in found
        if shown.panel["gridPos"]["y"] + shown.panel["gridPos"]["h"] <= rows
    ]
    height = max(s.panel["gridPos"]["y"] + s.panel["gridPos"]["h"] for s, _ in fitting)
    figure = Figure(figsize=(_WIDTH, height * _ROW + 1.0), layout=None)
    top = 1 - 0.55 / (height * _ROW + 1.0)
    grid = figure.add_gridspec(
        height, 24, left=0.05, right=0.975, top=top, bottom=0.03, hspace=6.5, wspace=3.2
    )
    figure.text(0.02, 0.995, title, fontsize=13, weight="bold", va="top")
    figure.text(0.98, 0.995, caption, fontsize=8, color="#6e7681", va="top", ha="right")
    for shown, result in fitting:
        at = shown.panel["gridPos"]
        place = grid[at["y"] : at["y"] + at["h"] - 1, at["x"] : at["x"] + at["w"]]
        targets = shown.panel["targets"]

        def name(query: int, series: Any, targets: Any = targets) -> str:
            return legend(targets[query], series) or json.dumps(series["metric"])

        draw(figure, place, shown.panel, result, name)
    return figure


if __name__ == "__main__":
    sys.exit(main())
