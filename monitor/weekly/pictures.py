"""The pictures of the page, as SVG: days, the coverage map, findings over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from xml.sax.saxutils import escape

from monitor.weekly.cells import percent
from monitor.weekly.record import CellRow, CellState, DayRow, FindingRow

_INK, _FAINT, _PAPER = "#1f2933", "#cbd2d9", "#ffffff"
_GOOD, _BAD, _ERROR, _INVALID = "#2f855a", "#9b2c2c", "#b7791f", "#718096"
_LEFT, _CELL, _ROW = 170, 104, 26
_DAY_WIDTH, _DAY_HEIGHT = 84, 90
_TIME_WIDTH = 720
_LONGEST_LABEL = 28
_HATCH = 10


def days_picture(days: Sequence[DayRow]) -> str:
    """Return the outcomes of each day of one target as stacked bars; an empty day is hatched."""
    most = max((_total(day) for day in days), default=0)
    width, height = 60 + _DAY_WIDTH * len(days), _DAY_HEIGHT + 56
    parts = [*_opening(width, height, "Exchanges of each day by outcome")]
    parts.append(_text(4, 24, f"{most:,}"))
    for number, day in enumerate(days):
        x = 60 + number * _DAY_WIDTH
        parts += _day(day, x, most)
    return _closed(parts)


def _day(day: DayRow, x: int, most: int) -> Iterator[str]:
    base = _DAY_HEIGHT + 14
    total = _total(day)
    if not total:
        yield from _hatched(x, 14, _DAY_WIDTH - 24, _DAY_HEIGHT)
        yield _rect(x + 2, base - 30, _DAY_WIDTH - 28, 20, _PAPER)
        yield _text(x + 6, base - 16, "nothing", bold=True)
    top = base
    shares = ((day.good, _GOOD), (day.invalid, _INVALID), (day.errors, _ERROR), (day.bad, _BAD))
    for number, colour in shares:
        if number:
            # Whatever happened at all can be seen.
            tall = max(3, round(_DAY_HEIGHT * number / most))
            top -= tall
            yield _rect(x, top, _DAY_WIDTH - 24, tall, colour)
    yield _text(x, base + 16, f"{day.day:%a %d %b}")
    if total:
        yield _text(x, base + 32, f"{day.bad} bad of {day.good + day.bad:,}", small=True)


def _total(day: DayRow) -> int:
    return day.good + day.bad + day.errors + day.invalid


def map_picture(cells: Sequence[CellRow]) -> str:
    """Return the coverage map of one target: a block a concurrency, a row a shape.

    What was never probed is hatched with a thick edge, as easily seen as what fails.
    """
    lengths = list(dict.fromkeys(cell.length for cell in cells))
    concurrencies = list(dict.fromkeys(cell.concurrency for cell in cells))
    shapes = list(dict.fromkeys(cell.shape for cell in cells))
    block = _ROW * (len(shapes) + 1) + 12
    width, height = _LEFT + _CELL * len(lengths) + 10, block * len(concurrencies) + 10
    parts = [*_opening(width, height, "Coverage map: shape, length, concurrency")]
    for number, concurrency in enumerate(concurrencies):
        top = number * block + 4
        parts.append(_text(4, top + 18, f"concurrency {concurrency}", bold=True))
        parts += [
            _text(_LEFT + place * _CELL + 4, top + 18, length)
            for place, length in enumerate(lengths)
        ]
        parts += [
            _text(4, top + 18 + _ROW * (place + 1), shape) for place, shape in enumerate(shapes)
        ]
        for cell in (cell for cell in cells if cell.concurrency == concurrency):
            x = _LEFT + lengths.index(cell.length) * _CELL
            parts += _cell(cell, x, top + _ROW * (shapes.index(cell.shape) + 1))
    return _closed(parts)


def _cell(cell: CellRow, x: int, y: int) -> Iterator[str]:
    wide, tall = _CELL - 4, _ROW - 4
    match cell.state:
        case CellState.FAILING:
            yield _rect(x, y, wide, tall, _BAD, _INK, 3)
            yield _text(
                x + 6, y + 15, f"{cell.bad} bad ≤{percent(cell.bad_at_most)}", _PAPER, bold=True
            )
        case CellState.CLEAN:
            yield _rect(x, y, wide, tall, "#c6e7d4", _GOOD)
            yield _text(x + 6, y + 15, f"≤ {percent(cell.bad_at_most)}")
        case CellState.FEW:
            yield _rect(x, y, wide, tall, "#d9dee4", _INVALID)
            yield _text(x + 6, y + 15, f"few ≤ {percent(cell.bad_at_most)}")
        case CellState.PARTLY:
            yield _rect(x, y, wide, tall, "#d9dee4", _INVALID)
            yield _text(x + 6, y + 15, "only in part")
        case CellState.NOT_ANSWERED:
            yield from _unseen(x, y, "no answer")
        case CellState.NEVER_PROBED:
            yield from _unseen(x, y, "never")
        case CellState.NOT_PLANNED:
            yield from _unseen(x, y, "no plan")


def _unseen(x: int, y: int, words: str) -> Iterator[str]:
    yield from _hatched(x, y, _CELL - 4, _ROW - 4)
    yield _rect(x + 16, y + 3, _CELL - 36, _ROW - 10, _PAPER)
    yield _text(x + 20, y + 15, words, bold=True)


def _hatched(x: int, y: int, wide: int, tall: int) -> Iterator[str]:
    """Yield a rectangle with a thick edge and diagonal lines, which print as they look."""
    yield _rect(x, y, wide, tall, "#f4e3b2", _INK, 3)
    lines = []
    for start in range(_HATCH - tall, wide, _HATCH):
        # From the lower edge up to the right, cut off at the sides.
        left, right = max(0, start), min(wide, start + tall)
        low, high = y + tall + start - left, y + tall + start - right
        lines.append(f"M{x + left} {low}L{x + right} {high}")
    yield f'<path d="{"".join(lines)}" stroke="{_INK}" stroke-width="3"/>'


def findings_picture(findings: Sequence[FindingRow], since: datetime, until: datetime) -> str:
    """Return findings over a week: onset, detection (diamond), page (triangle), end."""
    width, height = _LEFT + _TIME_WIDTH + 20, 34 + _ROW * len(findings) + 24
    parts = [*_opening(width, height, "Findings over the week")]
    seconds = (until - since).total_seconds()

    def at(moment: datetime) -> int:
        share = (moment - since).total_seconds() / seconds
        return _LEFT + round(_TIME_WIDTH * min(1.0, max(0.0, share)))

    for number in range(8):
        x = _LEFT + round(_TIME_WIDTH * number / 7)
        parts.append(f'<line x1="{x}" y1="26" x2="{x}" y2="{height - 20}" stroke="{_FAINT}"/>')
        if number < 7:  # noqa: PLR2004 - days of a week
            day = since + (until - since) * number / 7
            parts.append(_text(x + 4, 18, f"{day:%a %d %b}"))
    for number, finding in enumerate(findings):
        y = 34 + number * _ROW
        parts.append(_text(4, y + 14, f"{finding.finding_class} {finding.target}"))
        start, end = at(finding.onset_at), at(finding.closed_at or until)
        parts.append(_rect(start, y + 4, max(3, end - start), 12, "#e8b4b4", _BAD))
        for moment, shape in ((finding.detected_at, "diamond"), (finding.paged_at, "triangle")):
            if moment is not None:
                parts.append(_mark(at(moment), y + 10, shape))
        if finding.closed_at is not None:
            parts.append(_text(min(end + 4, width - 60), y + 14, "closed", small=True))
    legend = "bar: from onset to its end; diamond: detected; triangle: paged"
    return _closed([*parts, _text(_LEFT, height - 6, legend, small=True)])


def _mark(x: int, y: int, shape: str) -> str:
    points = f"{x - 6},{y} {x},{y - 6} {x + 6},{y} {x},{y + 6}"
    if shape == "triangle":
        points = f"{x - 6},{y + 7} {x},{y - 7} {x + 6},{y + 7}"
    return f'<polygon points="{points}" fill="{_PAPER}" stroke="{_INK}" stroke-width="2"/>'


def _opening(width: int, height: int, title: str) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">'
    )
    yield f"<title>{escape(title)}</title>"
    yield _rect(0, 0, width, height, _PAPER)


def _closed(parts: Sequence[str]) -> str:
    return "\n".join([*parts, "</svg>"])


def _rect(x: int, y: int, wide: int, tall: int, fill: str, edge: str = "", thick: int = 1) -> str:
    stroke = f' stroke="{edge}" stroke-width="{thick}"' if edge else ""
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" fill="{fill}"{stroke}/>'


def _text(
    x: int, y: int, words: str, colour: str = _INK, *, bold: bool = False, small: bool = False
) -> str:
    shown = words if len(words) <= _LONGEST_LABEL or small else words[: _LONGEST_LABEL - 1] + "…"
    more = (' font-weight="bold"' if bold else "") + (' font-size="10"' if small else "")
    return f'<text x="{x}" y="{y}" fill="{colour}"{more}>{escape(shown)}</text>'
