"""How soon each rule pages, as a picture (SVG): a panel a tolerance, both axes in steps of ten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from tests.bench.detect.delays import BLIND, HORIZON, NAMES, OURS, RATES, Delay, Setting

_LEFT, _TOP, _PANEL, _HEIGHT, _BETWEEN, _BOTTOM = 92, 76, 290, 320, 26, 84
_INK, _FAINT = "#1f2933", "#d5dbe1"
_COLOURS = dict(zip(NAMES, ("#2b6cb0", "#c05621", "#6b46c1", "#2f855a", "#718096"), strict=True))
# A score every five minutes.
_TICKS = {1: "5 min", 12: "1 h", 72: "6 h", 288: "1 day", 2016: "1 week", HORIZON: "90 days"}
_NEVER = -14


def picture(settings: Sequence[Setting]) -> str:
    """Return the text of an SVG file: medians as points, nine of ten as the end of a line."""
    width = _LEFT + len(settings) * (_PANEL + _BETWEEN)
    height = _TOP + _HEIGHT + _BOTTOM
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">'
    )
    parts = [
        opening,
        "<title>Time from a fault to a page, at the same measured rate of false pages</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 18, "From a fault to a page, at the same measured rate of false pages"),
    ]
    for number, setting in enumerate(settings):
        parts.extend(_panel(setting, _LEFT + number * (_PANEL + _BETWEEN), first=number == 0))
    parts.extend(_legend(height - 14))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(setting: Setting, left: int, *, first: bool) -> Iterator[str]:
    yield _text(left, _TOP - 36, f"{setting.y0:.2%} may fail")
    for scores, words in _TICKS.items():
        y = _y(scores)
        yield f'<line x1="{left}" y1="{y}" x2="{left + _PANEL}" y2="{y}" stroke="{_FAINT}"/>'
        if first:
            yield _text(left - 8, y + 4, words, anchor="end")
    if first:
        yield _text(left - 8, _TOP + _NEVER + 4, "not in 90 days", anchor="end", size=10)
    for rate in RATES:
        words = f"{rate:.1%}" if rate < 0.01 else f"{rate:.0%}"
        yield _text(_x(left, rate, 2), _TOP + _HEIGHT + 18, words, anchor="middle", size=11)
    yield _text(left + _PANEL // 2, _TOP + _HEIGHT + 36, "fail", anchor="middle")
    for place, name in enumerate(NAMES):
        for delay in (each for each in setting.delays if each.rule == name):
            yield from _mark(delay, left, place)


def _mark(delay: Delay, left: int, place: int) -> Iterator[str]:
    colour, x = _COLOURS[delay.rule], _x(left, delay.rate, place)
    median, most = _y(delay.median), _y(delay.most)
    yield f'<path d="M{x} {median}V{most}" stroke="{colour}" stroke-width="2" fill="none"/>'
    size = 5 if delay.rule == OURS else 4
    yield _cross(x, median) if delay.rule == BLIND else _point(x, median, size, colour)


def _legend(y: int) -> Iterator[str]:
    x = _LEFT
    for name in NAMES:
        yield _cross(x, y - 4) if name == BLIND else _point(x, y - 4, 5, _COLOURS[name])
        yield _text(x + 10, y, name)
        x += 34 + 7 * len(name)
    yield _text(x, y, "point: median, line: up to nine of ten runs", size=11)


def _point(x: int, y: int, size: int, colour: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{size}" fill="{colour}"/>'


def _cross(x: int, y: int) -> str:
    return f'<path d="M{x - 4} {y - 4}l8 8m0 -8l-8 8" stroke="{_COLOURS[BLIND]}" fill="none"/>'


def _x(left: int, rate: float, place: int) -> int:
    step = _PANEL / len(RATES)
    return round(left + step * (RATES.index(rate) + 0.5) + (place - 2) * 8)


def _y(scores: float) -> int:
    """Return the height of a delay; what did not page within 90 days stands above the scale."""
    if not math.isfinite(scores):
        return _TOP + _NEVER
    return round(_TOP + _HEIGHT * (1 - math.log10(max(1.0, scores)) / math.log10(HORIZON)))


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{_INK}">'
        f"{escape(words)}</text>"
    )
