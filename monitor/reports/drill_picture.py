"""The drill as a picture (SVG): a bar for each fault, its interval, and what was allowed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from monitor.detect.binomial import wilson
from monitor.reports.drill import DrillReport, FaultReport, NullReport

_LEFT, _SCALE, _RIGHT = 230, 480, 110
_ROW, _BAR, _TOP, _BOTTOM = 22, 12, 56, 34
_TICKS = (0, 25, 50, 75, 100)
_INK, _FAINT, _SEEN, _MISSED, _ALARM = "#1f2933", "#cbd2d9", "#2b6cb0", "#9b2c2c", "#c53030"
_LINE = f'stroke="{_INK}" fill="none"'


def drill_picture(report: DrillReport) -> str:
    """Return the picture as the text of an SVG file, dark on white, one row a fault or null."""
    rows = len(report.faults) + len(report.nulls)
    width, height = _LEFT + _SCALE + _RIGHT, _TOP + rows * _ROW + _BOTTOM
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">'
    )
    parts = [
        opening,
        "<title>Share of runs in which each fault was detected, beside what was allowed</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 18, "detected (bar, with Wilson's 95 % interval), allowed (diamond)"),
        *_axis(rows),
    ]
    for place, fault in enumerate(report.faults):
        parts.extend(_fault(fault, _TOP + place * _ROW))
    for place, null in enumerate(report.nulls, start=len(report.faults)):
        parts.extend(_null(null, _TOP + place * _ROW))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axis(rows: int) -> Iterator[str]:
    bottom = _TOP + rows * _ROW
    for percent in _TICKS:
        x = _x(percent / 100)
        yield f'<line x1="{x}" y1="{_TOP - 8}" x2="{x}" y2="{bottom}" stroke="{_FAINT}"/>'
        yield _text(x, _TOP - 14, f"{percent} %", anchor="middle")


def _fault(row: FaultReport, y: int) -> Iterator[str]:
    share = row.detected / row.told if row.told else 0.0
    colour = _SEEN if row.kept else _MISSED
    yield from _bar(row.fault, share, (row.share_low, row.share_high), y, colour)
    x, middle = _x(row.allowed), y + _ROW // 2
    points = f"{x - 5},{middle} {x},{middle - 5} {x + 5},{middle} {x},{middle + 5}"
    yield f'<polygon points="{points}" fill="#ffffff" stroke="{_INK}"/>'
    yield _text(_LEFT + _SCALE + 14, y + 15, f"{row.detected} of {row.told}")


def _null(row: NullReport, y: int) -> Iterator[str]:
    share = row.alarms / row.told if row.told else 0.0
    interval = wilson(row.alarms, row.told)
    yield from _bar(f"{row.null} (null)", share, interval, y, _ALARM)
    yield _text(_LEFT + _SCALE + 14, y + 15, f"{row.alarms} of {row.told}")


def _bar(
    name: str, share: float, interval: tuple[float, float], y: int, colour: str
) -> Iterator[str]:
    top, middle = y + (_ROW - _BAR) // 2, y + _ROW // 2
    low, high = (_x(end) for end in interval)
    yield _text(_LEFT - 10, y + 15, name, anchor="end")
    yield (
        f'<rect x="{_LEFT}" y="{top}" width="{_x(share) - _LEFT}" height="{_BAR}" fill="{colour}"/>'
    )
    yield f'<path d="M{low} {middle}H{high}M{low} {top}v{_BAR}M{high} {top}v{_BAR}" {_LINE}/>'


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{_INK}">{escape(words)}</text>'


def _x(share: float) -> int:
    return _LEFT + round(_SCALE * share)
