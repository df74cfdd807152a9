"""The report as one page: no script, nothing loaded from anywhere, printable."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from monitor.findings import FindingState
from monitor.model import VerdictClass
from monitor.weekly.cells import cell, heading
from monitor.weekly.judging import LONGEST_UNKNOWN_HOURS, MOST_UNKNOWN_SHARE
from monitor.weekly.pictures import SYMBOLS, days_picture, findings_picture, map_picture
from monitor.weekly.record import (
    Attainment,
    CellState,
    FindingRow,
    Judgement,
    WeeklyReport,
)
from monitor.weekly.tables import Table, tables_of

MOST_BYTES = 3_000_000
# Of a longer table the page shows so many rows, the machine formats all.
MOST_ROWS = 400
MOST_PICTURES = 40
_HERE = Path(__file__).parent
# Columns of which a value is marked by its own name.
_MARKED = frozenset({"judgement", "state", "attainment", "conformity", "trend", "expired"})
# Ids of ours stay in one line, and what is said in words gets room.
_DRESSED = {"finding": "id", "counted": "words"}
_WORST = list(Judgement)
_UNSEEN = "not_looked_at"
_CLASSES = {each.label: int(each) for each in VerdictClass}
# Numbers, the least of which is the worst.
Worth = tuple[float, ...]


def _class(row: Mapping[str, Any], name: str = "verdict_class") -> float:
    """Return the worst class first; a name of another version stands before all we know."""
    return -_CLASSES.get(row[name], len(_CLASSES))


def _finding(row: Mapping[str, Any]) -> Worth:
    """Return the worst class first, of those the open ones; what was dismissed is no fault."""
    dismissed = row["state"] == FindingState.DISMISSED
    return (dismissed, _class(row, "finding_class"), row["closed_at"] is not None)


# Of a table that is cut, rows of the least of these stay.
_STAYS: Mapping[str, Callable[[Mapping[str, Any]], Worth]] = {
    "targets": lambda row: (_WORST.index(row["judgement"]),),
    "findings": _finding,
    "leaks": lambda row: (_class(row), -row["answers"]),
    "rescored": lambda row: (_class(row), -row["answers"]),
    "without_finding": lambda row: (_class(row), -row["verdicts"]),
    "coverage": lambda row: (list(CellState).index(row["state"]),),
    "objectives": lambda row: (list(Attainment).index(row["attainment"]),),
    "strata": lambda row: (-row["bad"], row["good"]),
    "nodes": lambda row: (-row["failing"], -row["unknown_ratio"]),
    # What no finding tells of stands nowhere else; then the newest.
    "drift": lambda row: (row["finding"] != "", -row["at"].timestamp()),
    # Those that alarmed, then those that see least.
    "streams": lambda row: (
        row["alarmed_at"] is None,
        -(inf if row["alarms_at_least"] is None else row["alarms_at_least"]),
    ),
}


# What was well when it was last looked at is grey where that says little of the week.
_OLD: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "context": lambda row: not row["in_week"],
    "nodes": lambda row: (
        row["longest_unknown_hours"] > LONGEST_UNKNOWN_HOURS
        or row["unknown_ratio"] > MOST_UNKNOWN_SHARE
    ),
}
_WELL, _GREY = frozenset({"pass", "verified-as-advertised"}), "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A table as the page shows it: texts, each with the class of its cell."""

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    left_out: int
    rest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pictures:
    """The pictures of a target, as SVG of our own making."""

    target: str
    days: str
    map: str


def html_of(report: WeeklyReport, beside: Sequence[str] = ()) -> bytes:
    """Return the page, smaller than ``MOST_BYTES`` whatever the report holds.

    Rows that it leaves out are said to stand in the formats that are written ``beside`` it.
    """
    rows, pictures = MOST_ROWS, MOST_PICTURES
    page = _page(report, rows, pictures, beside)
    while len(page) >= MOST_BYTES and rows:
        rows, pictures = rows // 2, pictures // 2
        page = _page(report, rows, pictures, beside)
    return page


def _page(report: WeeklyReport, most_rows: int, most_pictures: int, beside: Sequence[str]) -> bytes:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(_HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    css = (_HERE / "report.css").read_text(encoding="utf-8")
    targets = len(report.targets)
    head, *tables = (_shown(table, most_rows, targets, beside) for table in tables_of(report))
    drawn = _drawn(report, min(most_rows, MOST_PICTURES))
    page = environment.get_template("report.html.j2").render(
        report=report,
        head=head,
        tables=tables,
        pictures=_pictures(report, most_pictures),
        without_pictures=max(0, len(report.targets) - most_pictures),
        findings_picture=findings_picture(drawn, report.since, report.until) if drawn else "",
        findings_drawn=len(drawn),
        symbols=SYMBOLS,
        css=Markup(css),  # noqa: S704 - our own file
        css_hash=_hash_of(css),
        svg=Markup,
    )
    return page.encode()


def _hash_of(css: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()}"


def _drawn(report: WeeklyReport, most: int) -> Sequence[FindingRow]:
    """Return the findings that are drawn: all of them, or the worst."""
    shown = report.findings
    if len(shown) > most:
        return sorted(shown, key=lambda each: _finding(asdict(each)))[:most]
    return shown


def _pictures(report: WeeklyReport, most: int) -> tuple[_Pictures, ...]:
    """Return the pictures of the worst targets."""
    worst = sorted(report.targets, key=lambda row: (_WORST.index(row.judgement), row.target))
    return tuple(
        _Pictures(
            target=row.target,
            days=days_picture([d for d in report.days if d.target == row.target]),
            map=_map(report, row.target),
        )
        for row in worst[:most]
    )


def _map(report: WeeklyReport, target: str) -> str:
    cells = [each for each in report.coverage if each.target == target]
    return map_picture(cells) if cells else ""


def _shown(table: Table, most: int, targets: int, beside: Sequence[str]) -> _Shown:
    names = [column.name for column in table.columns]
    rows, left_out = _rows(table, names, most, targets)
    return _Shown(
        name=table.name,
        title=table.title,
        headings=tuple(map(heading, names)),
        rows=tuple(_cells(table.name, names, row) for row in rows),
        left_out=left_out,
        rest=_rest(table, beside),
    )


def _rest(table: Table, beside: Sequence[str]) -> str:
    """Return where the rows of a table are that the page leaves out."""
    files = [f"{table.name}.{each}" for each in ("csv", "parquet") if each in beside]
    if "json" in beside:
        files.append("report.json")
    if not files:
        return "are left out: build with json for the rest"
    last = files.pop()
    return f"stand in {', '.join(files)} and {last}" if files else f"stand in {last}"


def _rows(
    table: Table, names: Sequence[str], most: int, targets: int
) -> tuple[Sequence[tuple[Any, ...]], int]:
    """Return the rows that are shown, and how many of the table's are not among them."""
    if table.name == _UNSEEN:
        gathered = list(_gathered(table.rows, targets))
        return [row for row, _ in gathered[:most]], sum(n for _, n in gathered[most:])
    rows, worth = table.rows, _STAYS.get(table.name)
    if len(rows) > most and worth is not None:
        rows = tuple(sorted(rows, key=lambda row: worth(dict(zip(names, row, strict=True)))))
    return rows[:most], max(0, len(rows) - most)


def _gathered(
    rows: Sequence[tuple[Any, ...]], targets: int
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield each row once with all the targets it is told of, and how many rows that were."""
    of: dict[tuple[Any, ...], list[str]] = {}
    for target, *said in rows:
        of.setdefault(tuple(said), []).append(target)
    for shared, names in of.items():
        # In a report of one target its name is more than "all".
        every = len(set(names)) == targets > 1
        yield ((f"all {targets} targets" if every else ", ".join(names)), *shared), len(names)


def _cells(table: str, names: Sequence[str], row: Sequence[object]) -> tuple[tuple[str, str], ...]:
    of = dict(zip(names, row, strict=True))
    classes = [_class_of(name, value) for name, value in of.items()]
    if table in _OLD and _OLD[table](of):
        classes = [_GREY if each in _WELL else each for each in classes]
    texts = (cell(name, value) for name, value in of.items())
    return tuple(zip(texts, classes, strict=True))


def _class_of(name: str, value: object) -> str:
    if name in _MARKED:
        shown = cell(name, value).replace(" ", "-")
        # A word of others is no class of ours.
        return shown if shown.replace("-", "").isalpha() and shown.isascii() else ""
    if isinstance(value, datetime):
        return "t"
    if name in _DRESSED:
        return _DRESSED[name]
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return "n" if numeric else ""
