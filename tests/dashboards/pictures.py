"""``python -m tests.dashboards.pictures --out DIR``: the dashboards, drawn from a lab run.

They show what the panels show of real data. They are not screenshots of Grafana.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.dashboards.asking import Shown, asked, legend, of_the_store, panels_of, store_of
from tests.dashboards.backfilled import backfilled
from tests.dashboards.drawing import Place, draw
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
# In inches.
_WIDTH, _ROW, _HEAD, _SIDES, _MARGIN = 15.0, 0.27, 0.5, 0.3, 0.14
_MOST_ROWS = {"overview": 78, "nodes": 62, "leak": 90}


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
    last = max(s.panel["gridPos"]["y"] + s.panel["gridPos"]["h"] for s, _ in fitting)
    height = last * _ROW + _HEAD
    figure = Figure(figsize=(_WIDTH, height), layout=None)
    figure.text(0.02, 1 - 0.1 / height, title, fontsize=13, weight="bold", va="top")
    figure.text(
        *(0.98, 1 - 0.12 / height, caption), fontsize=8, color="#6e7681", va="top", ha="right"
    )
    for shown, result in fitting:
        targets = shown.panel["targets"]

        def name(query: int, series: Any, targets: Any = targets) -> str:
            return legend(targets[query], series) or json.dumps(series["metric"], default=str)

        draw(figure, place_of(shown.panel, height), shown.panel, result, name)
    return figure


def place_of(panel: Mapping[str, Any], height: float) -> Place:
    """Return the place of a panel on a figure of this height, with margins at right and foot."""
    at, column = panel["gridPos"], (_WIDTH - 2 * _SIDES) / 24
    return Place(
        left=_SIDES + at["x"] * column,
        bottom=height - _HEAD - (at["y"] + at["h"]) * _ROW + _MARGIN,
        width=at["w"] * column - 2 * _MARGIN,
        height=at["h"] * _ROW - _MARGIN,
    )


if __name__ == "__main__":
    sys.exit(main())
