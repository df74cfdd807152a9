"""Panels drawn with matplotlib from what they would show: lines, strips, numbers and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import DateFormatter, HourLocator, date2num
from matplotlib.figure import Figure

Series = list[dict[str, Any]]
_PALETTE = ("#5794F2", "#FF9830", "#B877D9", "#37872D", "#F2CC0C", "#E02F44", "#1F60C4", "#8AB8FF")
_COLOURS = {
    "green": "#56A64B",
    "yellow": "#F2CC0C",
    "orange": "#FF9830",
    "red": "#E02F44",
    "purple": "#A352CC",
    "blue": "#5794F2",
}
_MOST_STRIPS, _MOST_LINES, _MOST_ROWS, _MOST_COLUMNS = 24, 10, 8, 7
_SMALL = 6.5
_HATCH = "▨"
_STEP = 240.0
_LEGEND_AT = {"loc": "upper left", "fontsize": _SMALL - 1, "frameon": False}


def draw(
    figure: Figure, place: Any, panel: Mapping[str, Any], found: Sequence[Series], names: Any
) -> None:
    """Draw one panel at a place of the figure's grid. ``names`` gives the legend of a series."""
    axes = figure.add_subplot(place)
    axes.set_title(panel["title"], loc="left", fontsize=8, weight="bold")
    axes.tick_params(labelsize=_SMALL)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if not any(found):
        _said(axes, panel["fieldConfig"]["defaults"]["noValue"], "#6e7681")
        return
    drawers = {"timeseries": _lines, "state-timeline": _strips, "stat": _numbers, "table": _table}
    drawers[panel["type"]](axes, panel, found, names)


def colour_of(panel: Mapping[str, Any], value: float) -> tuple[str, str]:
    """Return the word and the colour of a value: of its mapping, or of the step it is on."""
    defaults = panel["fieldConfig"]["defaults"]
    for mapping in defaults["mappings"]:
        options = mapping["options"]
        if mapping["type"] == "value" and f"{value:g}" in options:
            said = options[f"{value:g}"]
            return said["text"], _COLOURS.get(said["color"], said["color"])
    reached = [
        s for s in defaults["thresholds"]["steps"] if s["value"] is None or s["value"] <= value
    ]
    return written(value, defaults["unit"]), _COLOURS.get(reached[-1]["color"], "#6e7681")


def written(value: float, unit: str) -> str:
    """Return a value as people read it."""
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "s":
        scales = ((86_400, "d"), (3_600, "h"), (60, "min"))
        found = next(((value / n, name) for n, name in scales if value >= n), (value, "s"))
        return f"{found[0]:.3g} {found[1]}"
    if unit == "bytes":
        return f"{value / (1 << 30):.3g} GiB"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _times(series: Mapping[str, Any]) -> list[datetime]:
    return [datetime.fromtimestamp(float(at), UTC) for at, _ in series["values"]]


def _lines(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series], names: Any) -> None:
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M"))
    other = axes.twinx() if panel["title"].endswith("of how many") else axes
    bars = panel["fieldConfig"]["defaults"]["custom"]["drawStyle"] == "bars"
    number = 0
    for query, result in enumerate(found):
        bottom: dict[datetime, float] = {}
        for series in result[:_MOST_LINES]:
            times, values = _times(series), [float(value) for _, value in series["values"]]
            label, colour = names(query, series), _PALETTE[number % len(_PALETTE)]
            number += 1
            if other is not axes and query:
                other.fill_between(
                    times, values, step="mid", alpha=0.15, color="#6e7681", label=label
                )
            elif bars:
                floor = [bottom.get(at, 0.0) for at in times]
                axes.bar(times, values, 0.0027, bottom=floor, color=colour, label=label)
                bottom |= {
                    at: low + each for at, low, each in zip(times, floor, values, strict=True)
                }
            else:
                axes.plot(times, values, color=colour, linewidth=1.1, label=label)
    if other is not axes:
        other.tick_params(labelsize=_SMALL)
        other.set_ylim(bottom=0)
    if panel["fieldConfig"]["defaults"]["custom"]["scaleDistribution"]["type"] == "log":
        axes.set_yscale("log")
    defaults = panel["fieldConfig"]["defaults"]
    if "min" in defaults and "max" in defaults:
        axes.set_ylim(defaults["min"], 1.05 * defaults["max"])
    unit = defaults["unit"]
    axes.yaxis.set_major_formatter(lambda value, _: written(value, unit))
    axes.legend(ncols=2, **_LEGEND_AT)


def _strips(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series], names: Any) -> None:
    axes.xaxis_date()
    axes.xaxis.set_major_locator(HourLocator())
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M"))
    rows = [(names(query, s), s) for query, result in enumerate(found) for s in result]
    joined: dict[str, list[Any]] = {}
    for name, series in rows:
        joined.setdefault(name, []).extend(series["values"])
    shown = sorted(joined)[:_MOST_STRIPS]
    legend: dict[str, Any] = {}
    for height, name in enumerate(reversed(shown)):
        for at, value in joined[name]:
            word, colour = colour_of(panel, float(value))
            when = date2num(datetime.fromtimestamp(float(at), UTC))
            hatch = "////" if _HATCH in word else None
            bar = axes.broken_barh(
                [(when, _STEP / 86_400)],
                (height - 0.4, 0.8),
                facecolors=colour,
                edgecolors="white" if hatch else colour,
                linewidth=0.0 if hatch else 0.3,
                hatch=hatch,
            )
            legend.setdefault(word.replace(_HATCH, "").strip(), bar)
    axes.set_yticks([])
    for height, name in enumerate(reversed(shown)):
        box = {"facecolor": "white", "alpha": 0.75, "pad": 0.6, "linewidth": 0}
        placed = {"transform": axes.get_yaxis_transform(), "va": "center", "bbox": box}
        axes.text(0.004, height, name, fontsize=_SMALL - 0.5, **placed)
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.legend(
        legend.values(),
        legend.keys(),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=8,
        fontsize=_SMALL,
        frameon=False,
    )


def _numbers(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series], names: Any) -> None:
    axes.axis("off")
    shown = [(names(q, s), float(s["values"][-1][1])) for q, r in enumerate(found) for s in r][:4]
    for place, (name, value) in enumerate(shown):
        word, colour = colour_of(panel, value)
        box = {"facecolor": colour, "edgecolor": "white", "boxstyle": "round,pad=0.5"}
        height = 1 - (place + 0.5) / len(shown)
        axes.text(0.02, height, name, fontsize=8, va="center", transform=axes.transAxes)
        axes.text(
            *(0.98, height, word.replace(_HATCH, "//")),
            fontsize=11,
            ha="right",
            va="center",
            color="white",
            weight="bold",
            bbox=box,
            transform=axes.transAxes,
        )


def _table(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series], names: Any) -> None:
    axes.axis("off")
    rows = [{**s["metric"], "value": f"{float(s['values'][-1][1]):g}"} for r in found for s in r]
    columns = [name for name in rows[0] if name not in ("__name__", "value")][:_MOST_COLUMNS]
    columns += [] if "value" not in rows[0] or found[0][0].get("told") else ["value"]
    cells = [
        [str(row.get(name, ""))[: 5 * panel["gridPos"]["w"] // 4] for name in columns]
        for row in rows[:_MOST_ROWS]
    ]
    made = axes.table(
        cells, colLabels=columns, loc="upper left", cellLoc="left", edges="horizontal"
    )
    made.auto_set_font_size(False)
    made.set_fontsize(_SMALL)


def _said(axes: Axes, words: str, colour: str) -> None:
    axes.axis("off")
    axes.text(0.02, 0.5, "\n".join(textwrap.wrap(words, 60)), fontsize=8, color=colour, va="center")
