"""The pictures of the page, as SVG: days, the coverage map, findings over time.

A page has some thousand cells of few kinds. Each kind is drawn once, in ``SYMBOLS``, which stand
before the pictures; these refer to them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from xml.sax.saxutils import escape

from monitor.weekly.cells import percent
from monitor.weekly.record import CellRow, CellState, DayRow, FindingRow

_INK, _FAINT, _PAPER = "#1f2933", "#cbd2d9", "#ffffff"
_GOOD, _BAD, _ERROR, _INVALID = "#2f855a", "#9b2c2c", "#b7791f", "#718096"
_CLEAN, _GREY, _SAND = "#c6e7d4", "#d9dee4", "#f4e3b2"
_LEFT, _CELL, _ROW, _LINE = 170, 104, 26, 14
_WIDE, _TALL = _CELL - 4, _ROW - 4
_DAY_WIDTH, _DAY_HEIGHT = 84, 90
_BAR = _DAY_WIDTH - 24
_TIME_WIDTH = 720
_LONGEST_LABEL = 28
# So many bold characters fit into a cell.
_FITS = 12
_HATCH = 10
# The symbol of a day without an answer; the others are named as states of cells are.
_DAY = "day"
# About how wide a character is.
_SMALL_CHARACTER, _CHARACTER = 5.5, 7.0


def days_picture(days: Sequence[DayRow]) -> str:
    """Return the outcomes of each day of one target as stacked bars; an empty day is hatched."""
    most = max((_total(day) for day in days), default=0)
    width, height = 60 + _DAY_WIDTH * len(days), _DAY_HEIGHT + 56
    of = days[0].target if days else ""
    parts = [*_opening(width, height, f"Exchanges of each day by outcome: {of}")]
    parts += [_text(4, 24, f"{most:,}", within=52), _text(4, 36, "exchanges", small=True)]
    for number, day in enumerate(days):
        x = 60 + number * _DAY_WIDTH
        parts += _day(day, x, most)
    return _closed(parts)


def _day(day: DayRow, x: int, most: int) -> Iterator[str]:
    base = _DAY_HEIGHT + 14
    total = _total(day)
    if not total:
        yield _use(_DAY, x, 14)
    top = base
    shares = ((day.good, _GOOD), (day.invalid, _INVALID), (day.errors, _ERROR), (day.bad, _BAD))
    for number, colour in shares:
        if number:
            # Whatever happened at all can be seen.
            tall = max(3, round(_DAY_HEIGHT * number / most))
            top -= tall
            yield _rect(x, top, _BAR, tall, colour)
    yield _text(x, base + 16, f"{day.day:%a %d %b}")
    if total:
        words = f"{day.bad:,} bad of {day.good + day.bad:,}"
        yield _text(x, base + 32, words, small=True, within=_DAY_WIDTH - 6)


def _total(day: DayRow) -> int:
    return day.good + day.bad + day.errors + day.invalid


def map_picture(cells: Sequence[CellRow]) -> str:
    """Return the coverage map of one target: a block a concurrency, a row a shape.

    What was never probed is hatched with a thick edge, as easily seen as what fails. Shapes that no
    plan asks at a concurrency share one hatched row, with their names below it.
    """
    lengths = list(dict.fromkeys(cell.length for cell in cells))
    width = _LEFT + _CELL * len(lengths) + 10
    parts: list[str] = []
    top = 4
    for concurrency in dict.fromkeys(cell.concurrency for cell in cells):
        block = [cell for cell in cells if cell.concurrency == concurrency]
        parts.append(_text(4, top + 18, f"concurrency {concurrency}", bold=True, within=_LEFT - 12))
        parts += [
            _text(_LEFT + place * _CELL + 4, top + 18, length, within=_WIDE - 6)
            for place, length in enumerate(lengths)
        ]
        drawn, top = _block(block, lengths, top + _ROW, width)
        parts += drawn
    title = f"Coverage map of {cells[0].target}: shape, length, concurrency"
    opening = _opening(width, top + 6, title)
    return _closed([*opening, *parts])


def _block(
    cells: Sequence[CellRow], lengths: Sequence[str], top: int, width: int
) -> tuple[list[str], int]:
    """Return the rows of one concurrency, and where the next one begins."""
    shapes: dict[str, list[CellRow]] = {}
    for cell in cells:
        shapes.setdefault(cell.shape, []).append(cell)
    unplanned = [
        shape
        for shape, row in shapes.items()
        if all(cell.state is CellState.NOT_PLANNED for cell in row)
    ]
    gathered = unplanned if len(unplanned) > 1 else []
    parts: list[str] = []
    for shape, row in shapes.items():
        if shape not in gathered:
            parts.append(_text(4, top + 18, shape, within=_LEFT - 12))
            for cell in row:
                parts += _cell(cell, _LEFT + lengths.index(cell.length) * _CELL, top)
            top += _ROW
    if gathered:
        known = {cell.length for shape in gathered for cell in shapes[shape]}
        parts.append(_text(4, top + 18, f"{len(gathered)} other shapes", bold=True))
        parts += [
            _use("not_planned", _LEFT + place * _CELL, top)
            for place, length in enumerate(lengths)
            if length in known
        ]
        top += _ROW
        names = f"no plan asks these here: {', '.join(gathered)}"
        for line in textwrap.wrap(names, max(20, int((width - 8) / _SMALL_CHARACTER))):
            parts.append(_text(4, top + 10, line, small=True))
            top += _LINE
    return parts, top + 8


def _cell(cell: CellRow, x: int, y: int) -> Iterator[str]:
    yield _use(cell.state.value, x, y)
    match cell.state:
        case CellState.FAILING:
            words = f"{cell.bad:,} bad ≤{percent(cell.bad_at_most)}"
            small, within = len(words) > _FITS, _WIDE - 12
            yield _text(x + 6, y + 15, words, _PAPER, bold=True, small=small, within=within)
        case CellState.CLEAN:
            yield _text(x + 6, y + 15, f"≤ {percent(cell.bad_at_most)}")
        case CellState.FEW:
            yield _text(x + 6, y + 15, f"few ≤ {percent(cell.bad_at_most)}")


def _symbols() -> Iterator[str]:
    yield '<svg xmlns="http://www.w3.org/2000/svg" class="symbols" aria-hidden="true" '
    yield 'width="0" height="0"><defs>'
    yield _symbol("failing", [_rect(0, 0, _WIDE, _TALL, _BAD, _INK, 3)])
    yield _symbol("clean", [_rect(0, 0, _WIDE, _TALL, _CLEAN, _GOOD)])
    grey = _rect(0, 0, _WIDE, _TALL, _GREY, _INVALID)
    yield _symbol("few", [grey])
    yield _symbol("partly", [grey, _text(6, 15, "only in part")])
    unseen = {"not_answered": "no answer", "never_probed": "never", "not_planned": "no plan"}
    for name, words in unseen.items():
        label = _rect(16, 3, _CELL - 36, _ROW - 10, _PAPER)
        yield _symbol(name, [*_hatched(_WIDE, _TALL), label, _text(20, 15, words, bold=True)])
    label = _rect(2, _DAY_HEIGHT - 30, _BAR - 4, 20, _PAPER)
    nothing = _text(6, _DAY_HEIGHT - 16, "nothing", bold=True)
    yield _symbol(_DAY, [*_hatched(_BAR, _DAY_HEIGHT), label, nothing])
    yield "</defs></svg>"


def _symbol(name: str, parts: Sequence[str]) -> str:
    return f'<g id="{_id(name)}">{"".join(parts)}</g>'


def _use(name: str, x: int, y: int) -> str:
    return f'<use href="#{_id(name)}" x="{x}" y="{y}"/>'


def _id(name: str) -> str:
    """Return the id of a symbol: short, since maps of many targets use them ten thousand times."""
    return f"p{[*CellState, _DAY].index(name)}"


def _hatched(wide: int, tall: int) -> Iterator[str]:
    """Yield a rectangle with a thick edge and diagonal lines, which print as they look."""
    yield _rect(0, 0, wide, tall, _SAND, _INK, 3)
    lines = []
    for start in range(_HATCH - tall, wide, _HATCH):
        # From the lower edge up to the right, cut off at the sides.
        left, right = max(0, start), min(wide, start + tall)
        lines.append(f"M{left} {tall + start - left}L{right} {tall + start - right}")
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
        named = f"{finding.finding_class} {finding.target}"
        parts.append(_text(4, y + 14, named, within=_LEFT - 12))
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
    """Return a mark of a bar's middle: a diamond on its upper edge, a triangle on its lower.

    A page often goes out in the second of its detection: neither may hide the other.
    """
    points = f"{x - 5},{y - 6} {x},{y - 11} {x + 5},{y - 6} {x},{y - 1}"
    if shape == "triangle":
        points = f"{x - 5},{y + 11} {x},{y + 1} {x + 5},{y + 11}"
    return f'<polygon points="{points}" fill="{_PAPER}" stroke="{_INK}" stroke-width="2"/>'


def _opening(width: int, height: int, title: str) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" '
        f'fill="{_INK}" role="img">'
    )
    yield f"<title>{escape(title)}</title>"
    yield _rect(0, 0, width, height, _PAPER)


def _closed(parts: Sequence[str]) -> str:
    return "\n".join([*parts, "</svg>"])


def _rect(x: int, y: int, wide: int, tall: int, fill: str, edge: str = "", thick: int = 1) -> str:
    stroke = f' stroke="{edge}" stroke-width="{thick}"' if edge else ""
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" fill="{fill}"{stroke}/>'


def _text(
    x: int,
    y: int,
    words: str,
    colour: str = "",
    *,
    bold: bool = False,
    small: bool = False,
    within: int = 0,
) -> str:
    """Return a text; one that is surely wider than ``within`` is drawn as wide as that."""
    shown = words if len(words) <= _LONGEST_LABEL or small else words[: _LONGEST_LABEL - 1] + "…"
    more = f' fill="{colour}"' if colour else ""
    more += (' font-weight="bold"' if bold else "") + (' font-size="10"' if small else "")
    if within and len(shown) * (_SMALL_CHARACTER if small else _CHARACTER) > within:
        # A figure that is cut is another figure.
        more += f' textLength="{within}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x}" y="{y}"{more}>{escape(shown)}</text>'


# Each kind of cell once; whatever shows pictures has these before them.
SYMBOLS = "".join(_symbols())
