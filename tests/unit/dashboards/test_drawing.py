"""Pictures of dashboards: whatever a panel has to say, it keeps to its own place."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.table import Table
from matplotlib.text import Text

from tests.dashboards.drawing import Place, draw

SINCE = 1_790_000_000
PLACE = Place(left=2.0, bottom=2.0, width=4.5, height=2.2)
LONG = "a name that is longer than any place that a panel of a dashboard could have for it"


def panel(kind: str, **more: Any) -> dict[str, Any]:
    custom = {
        "drawStyle": "line",
        "scaleDistribution": {"type": "linear"},
        "thresholdsStyle": {"mode": "off"},
    }
    mapping = {"options": {"1": {"text": "▨ not asked", "color": "#6e7681"}}}
    defaults = {
        "mappings": [mapping] if kind == "state-timeline" else [],
        "thresholds": {"steps": [{"value": None, "color": "green"}]},
        "color": {"mode": "thresholds"},
        "unit": "short",
        "noValue": f"{LONG}. {LONG}.",
        "custom": custom,
        "min": 0,
    }
    return {
        "type": kind,
        "title": LONG,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [{"refId": "A"}],
        "transformations": [
            {"id": "organize", "options": {"excludeByName": {}, "renameByName": {}}}
        ],
        **more,
    }


def series(number: int) -> list[dict[str, Any]]:
    values = [(SINCE + 240 * tick, "1") for tick in range(20)]
    return [
        {"metric": {"name": f"{each} {LONG}", "other": LONG}, "values": values}
        for each in range(number)
    ]


def written_on(figure: Figure) -> list[Text]:
    """Return all words of a figure that are drawn: those of a tick beyond the axes are not."""
    found = [cell.get_text() for table in figure.findobj(Table) for cell in cells(table)]
    beyond = {
        id(tick.label1)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    found += [each for each in figure.findobj(Text) if id(each) not in beyond]
    return [each for each in found if each.get_visible() and each.get_text()]


def cells(table: Any) -> Any:
    return table.get_celld().values()


@pytest.mark.parametrize("kind", ["timeseries", "state-timeline", "stat", "table"])
@pytest.mark.parametrize("number", [0, 1, 6, 24])
def test_what_a_panel_says_keeps_to_its_place(kind: str, number: int) -> None:
    figure = Figure(figsize=(9.0, 6.0), dpi=100)
    canvas = FigureCanvasAgg(figure)
    draw(figure, PLACE, panel(kind), [series(number)], lambda _, each: each["metric"]["name"])
    canvas.draw()
    words = written_on(figure)
    assert len(words) > 1
    slack = 8
    for each in words:
        box = each.get_window_extent(canvas.get_renderer())
        assert box.x0 >= 100 * PLACE.left - slack, each
        assert box.x1 <= 100 * (PLACE.left + PLACE.width) + slack, each
        assert box.y0 >= 100 * PLACE.bottom - slack, each
        assert box.y1 <= 100 * (PLACE.bottom + PLACE.height) + slack, each
