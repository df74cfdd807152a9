"""Panels drawn with matplotlib from what they would show: lines, strips, numbers and tables.

A panel keeps to its place: its title stands above, its legend below, and what is too long is cut.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import DateFormatter, HourLocator, date2num
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

Series = list[dict[str, Any]]
Names = Callable[[int, Mapping[str, Any]], str]
_PALETTE = ("#5794F2", "#FF9830", "#B877D9", "#37872D", "#F2CC0C", "#E02F44", "#1F60C4", "#8AB8FF")
_COLOURS = {
    "green": "#56A64B",
    "yellow": "#F2CC0C",
    "orange": "#FF9830",
    "red": "#E02F44",
    "purple": "#A352CC",
    "blue": "#5794F2",
    "light-purple": "#CA95E5",
    "dark-red": "#AD0317",
    "light-red": "#FF7383",
    "dark-orange": "#FA6400",
}
_MOST_STRIPS, _MOST_LINES, _MOST_NUMBERS, _MOST_COLUMNS = 24, 10, 6, 8
_SMALL = 6.5
_GREY, _HATCH = "#6e7681", "▨"
_STEP = 240.0
# In inches: what stands around the axes of a panel, and how wide a character of its words is.
_TITLE, _TICKS, _LINE, _SIDE, _ROW = 0.26, 0.2, 0.15, 0.5, 0.17
_CHARACTER, _MARK = 0.054, 0.42
# The most of a panel's height that a legend may have.
_LEGENDS = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a panel stands on a figure, in inches from its left lower corner."""

    left: float
    bottom: float
    width: float
    height: float

    def axes(self, figure: Figure, *, left: float = 0.0, bottom: float = 0.0) -> Axes:
        """Return axes below the title, with so much left free at two sides."""
        whole, tall = figure.get_size_inches()
        width, height = self.width - left, self.height - bottom - _TITLE
        return figure.add_axes(
            (
                *((self.left + left) / whole, (self.bottom + bottom) / tall),
                *(width / whole, height / tall),
            )
        )


def draw(
    figure: Figure, place: Place, panel: Mapping[str, Any], found: Sequence[Series], names: Names
) -> None:
    """Draw one panel at its place. ``names`` gives the legend of a series of a query."""
    whole, tall = figure.get_size_inches()
    top = place.bottom + place.height - 0.02
    figure.text(
        *(place.left / whole, top / tall, _cut(panel["title"], place.width / 1.35)),
        fontsize=8,
        weight="bold",
        va="top",
    )
    if not any(found):
        _said(place.axes(figure), panel["fieldConfig"]["defaults"]["noValue"])
        return
    drawers = {"timeseries": _lines, "state-timeline": _strips, "stat": _numbers, "table": _table}
    drawers[panel["type"]](figure, place, panel, found, names)


def of_series(panel: Mapping[str, Any], query: int, name: str) -> dict[str, Any]:
    """Return how a series is shown: as all of its panel, but for what is said of it alone."""
    config = dict(panel["fieldConfig"]["defaults"])
    for override in panel["fieldConfig"]["overrides"]:
        kind, options = override["matcher"]["id"], override["matcher"]["options"]
        if (kind == "byFrameRefID" and options == panel["targets"][query]["refId"]) or (
            kind == "byRegexp" and re.fullmatch(options, name)
        ):
            config |= {each["id"]: each["value"] for each in override["properties"]}
    return config


def colour_of(config: Mapping[str, Any], value: float) -> tuple[str, str]:
    """Return the word and the colour of a value: of its mapping, or of the step it is on."""
    for mapping in config["mappings"]:
        if f"{value:g}" in mapping["options"]:
            said = mapping["options"][f"{value:g}"]
            return said["text"], _COLOURS.get(said["color"], said["color"])
    steps = config["thresholds"]["steps"]
    reached = [each for each in steps if each["value"] is None or each["value"] <= value]
    colour = config["color"].get("fixedColor", reached[-1]["color"])
    return written(value, config["unit"]), _COLOURS.get(colour, colour)


def written(value: float, unit: str) -> str:
    """Return a value as people read it."""
    if unit == "percentunit":
        return f"{value * 100:,.0f} %" if abs(value) >= 10 else f"{value * 100:.3g} %"
    if unit == "s":
        scales = ((86_400, "d"), (3_600, "h"), (60, "min"))
        found = next(((value / n, name) for n, name in scales if value >= n), (value, "s"))
        return f"{found[0]:.3g} {found[1]}"
    if unit == "bytes":
        return f"{value / (1 << 30):.3g} GiB"
    if unit.startswith("suffix:"):
        return f"{value:,.0f} {unit.removeprefix('suffix:')}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cut(words: str, inches: float) -> str:
    most = max(4, int(inches / _CHARACTER))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _times(series: Mapping[str, Any]) -> list[datetime]:
    return [datetime.fromtimestamp(float(at), UTC) for at, _ in series["values"]]


def _legend(axes: Axes, place: Place, entries: Mapping[str, Any], rows: int, columns: int) -> None:
    if not rows:
        return
    height = axes.get_position().height * axes.figure.get_size_inches()[1]
    shown = list(entries)[: rows * columns]
    axes.legend(
        [entries[each] for each in shown],
        [_cut(each, place.width / columns - _MARK) for each in shown],
        loc="upper left",
        bbox_to_anchor=(0.0, -_TICKS / height),
        borderaxespad=0.0,
        ncols=columns,
        columnspacing=0.9,
        handlelength=1.2,
        handletextpad=0.4,
        labelspacing=0.25,
        fontsize=_SMALL - 0.5,
        frameon=False,
    )


def _columns(place: Place, names: Sequence[str]) -> tuple[int, int]:
    """Return how many rows and columns a legend has, of all names or of those it has room for."""
    if not names:
        return 0, 1
    widest = max(len(each) for each in names) * _CHARACTER + _MARK
    columns = max(1, min(len(names), int(place.width / widest)))
    room = max(1, int(_LEGENDS * place.height / _LINE))
    return min(room, math.ceil(len(names) / columns)), columns


def _lines(
    figure: Figure, place: Place, panel: Mapping[str, Any], found: Sequence[Series], names: Names
) -> None:
    shown = [
        (query, names(query, each), each)
        for query, result in enumerate(found)
        for each in result[:_MOST_LINES]
    ]
    rows, columns = _columns(place, [name for _, name, _ in shown])
    axes = place.axes(figure, left=_SIDE, bottom=_TICKS + rows * _LINE + 0.05)
    defaults = panel["fieldConfig"]["defaults"]
    entries: dict[str, Any] = {}
    floors: dict[datetime, float] = {}
    others: list[Axes] = []
    for number, (query, name, series) in enumerate(shown):
        config = of_series(panel, query, name)
        at, values = _times(series), [float(value) for _, value in series["values"]]
        colour = config["color"].get("fixedColor", _PALETTE[number % len(_PALETTE)])
        colour = _COLOURS.get(colour, colour)
        if config.get("custom.axisPlacement") == "right":
            if not others:
                others.append(axes.twinx())
            how = {"step": "mid", "alpha": 0.15, "color": colour, "linewidth": 0}
            entries[name] = others[0].fill_between(at, values, **how)
        elif defaults["custom"]["drawStyle"] == "bars":
            floor = [floors.get(each, 0.0) for each in at]
            entries[name] = axes.bar(at, values, 0.0028, bottom=floor, color=colour)
            floors |= {t: low + each for t, low, each in zip(at, floor, values, strict=True)}
        else:
            (entries[name],) = axes.plot(at, values, color=colour, linewidth=1.1)
    _scaled(axes, defaults)
    for other in others:
        other.set_ylim(bottom=0)
        _plain(other)
    _legend(axes, place, entries, rows, columns)


def _scaled(axes: Axes, defaults: Mapping[str, Any]) -> None:
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M"))
    logarithmic = defaults["custom"]["scaleDistribution"]["type"] == "log"
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif "min" in defaults:
        axes.set_ylim(bottom=defaults["min"])
        if not any(top > defaults["min"] for top in (axes.dataLim.ymax,)):
            axes.set_ylim(top=defaults["min"] + 1)
    if "max" in defaults:
        axes.set_ylim(top=1.05 * defaults["max"])
    if defaults["custom"]["thresholdsStyle"]["mode"] == "line":
        for step in defaults["thresholds"]["steps"]:
            if step["value"] is not None:
                axes.axhline(step["value"], color="#E02F44", linewidth=0.7, linestyle="--")
    axes.yaxis.set_major_formatter(lambda value, _: written(value, defaults["unit"]))
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.tick_params(labelsize=_SMALL)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _strips(
    figure: Figure, place: Place, panel: Mapping[str, Any], found: Sequence[Series], names: Names
) -> None:
    joined: dict[str, list[Any]] = {}
    for query, result in enumerate(found):
        for series in result:
            joined.setdefault(names(query, series), []).extend(series["values"])
    shown = sorted(joined)[:_MOST_STRIPS]
    side = min(max(len(each) for each in shown) * _CHARACTER + 0.1, 0.4 * place.width)
    axes = place.axes(figure, left=side, bottom=_TICKS + _LINE + 0.05)
    axes.xaxis_date()
    axes.xaxis.set_major_locator(HourLocator())
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M"))
    config = panel["fieldConfig"]["defaults"]
    legend: dict[str, Any] = {}
    for height, name in enumerate(reversed(shown)):
        for at, value in joined[name]:
            word, colour = colour_of(config, float(value))
            hatched = _HATCH in word
            bar = axes.broken_barh(
                [(date2num(datetime.fromtimestamp(float(at), UTC)), _STEP / 86_400)],
                (height - 0.4, 0.8),
                facecolors=colour,
                edgecolors="white" if hatched else colour,
                linewidth=0.0 if hatched else 0.3,
                hatch="////" if hatched else None,
            )
            legend.setdefault(word.replace(_HATCH, "").strip(), bar)
    row = axes.get_position().height * figure.get_size_inches()[1] / len(shown)
    axes.set_yticks(range(len(shown)), [_cut(each, side) for each in reversed(shown)])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    _plain(axes)
    axes.tick_params(axis="y", length=0, labelsize=min(_SMALL - 0.5, 72 * 0.85 * row))
    _legend(axes, place, legend, 1, len(legend))


def _numbers(
    figure: Figure, place: Place, panel: Mapping[str, Any], found: Sequence[Series], names: Names
) -> None:
    axes = place.axes(figure)
    axes.axis("off")
    shown = [
        (query, names(query, each), float(each["values"][-1][1]))
        for query, result in enumerate(found)
        for each in result
    ][:_MOST_NUMBERS]
    for number, (query, name, value) in enumerate(shown):
        word, colour = colour_of(of_series(panel, query, name), value)
        word = word.replace(_HATCH, "//")
        height = 1 - (number + 0.5) / max(len(shown), 3)
        room = place.width - len(word) * 0.11 - 0.3
        axes.text(
            *(0.0, height, _cut(name, room)),
            fontsize=_SMALL + 0.5,
            va="center",
            transform=axes.transAxes,
        )
        axes.text(
            *(0.97, height, word),
            fontsize=10,
            ha="right",
            va="center",
            color="white",
            weight="bold",
            bbox={"facecolor": colour, "edgecolor": "white", "boxstyle": "round,pad=0.35"},
            transform=axes.transAxes,
        )


def _table(
    figure: Figure, place: Place, panel: Mapping[str, Any], found: Sequence[Series], names: Names
) -> None:
    axes = place.axes(figure)
    axes.axis("off")
    rows = [_row(panel, series) for result in found for series in result]
    columns = list(rows[0])[:_MOST_COLUMNS]
    room = (place.height - _TITLE) / _ROW
    shown = rows[: max(1, int(room) - 1)]
    wide = place.width / len(columns)
    made = axes.table(
        [[_cut(row[name], wide) for name in columns] for row in shown],
        colLabels=[_cut(name, wide) for name in columns],
        bbox=(0.0, 1 - (len(shown) + 1) / room, 1.0, (len(shown) + 1) / room),
        cellLoc="left",
        colLoc="left",
        edges="horizontal",
    )
    made.auto_set_font_size(False)
    made.set_fontsize(_SMALL - 0.5)
    for cell in made.get_celld().values():
        cell.set_linewidth(0.4)
        cell.PAD = 0.02


def _row(panel: Mapping[str, Any], series: Mapping[str, Any]) -> dict[str, str]:
    """Return what a row of a table shows, as words."""
    row = {
        name: "-" if each in (None, "") else str(each) for name, each in series["metric"].items()
    }
    row = {name: re.sub(r"(:\d\d)\.\d+$", r"\1", each) for name, each in row.items()}
    row.pop("__name__", None)
    if series.get("told"):
        return row
    [options] = [e["options"] for e in panel["transformations"] if e["id"] == "organize"]
    if "Value" not in options["excludeByName"]:
        value = written(float(series["values"][-1][1]), panel["fieldConfig"]["defaults"]["unit"])
        row[options["renameByName"].get("Value", "Value")] = value
    return row


def _said(axes: Axes, words: str) -> None:
    axes.axis("off")
    axes.text(
        *(0.0, 0.5, "\n".join(textwrap.wrap(words, 60))), fontsize=8, color=_GREY, va="center"
    )
