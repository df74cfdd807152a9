"""What was measured, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.store.rows import TABLES
from tests.bench.store.asking import Asked
from tests.bench.store.inserting import Rate
from tests.bench.store.measure import megabytes, said, table
from tests.bench.store.passes import Pass, rows_of
from tests.bench.store.sized import Weighed
from tests.bench.store.spooling import Found

_PUTTING = (
    "Eight threads put, each verdict when it is due; a late one counts from when it was due. A "
    "reader looks every 0.1 s."
)
_OLDER = "The sums of older days, for what looks back 400 days, are copies of those."


def of_a_pass(passes: Sequence[Pass]) -> list[str]:
    """Say how many rows a verdict is."""
    healthy = passes[0]
    verdicts = len(healthy.judged)
    counts = {kind: len(rows) / verdicts for kind, rows in rows_of(healthy).items()}
    rows = [(f"`{TABLES[kind]}`", f"{each:.2f}") for kind, each in counts.items() if each]
    return [
        "",
        "## Rows a verdict",
        "",
        f"A standard pass over a healthy lab gives {verdicts} verdicts, and of each:",
        "",
        *table(("table", "rows"), rows),
    ]


def of_inserts(rates: Sequence[Rate]) -> list[str]:
    """Say how fast rows are inserted."""
    naive = rates[-1].rows
    rows = [
        (
            each.way,
            f"{each.rows:,.0f}",
            f"{each.verdicts:,.1f}",
            f"{each.rows / naive:,.0f}",
            f"{each.processor_seconds * 1e6:,.0f}",
        )
        for each in rates
    ]
    heads = ("way, one thread", "rows a second", "verdicts a second", "x", "processor µs a row")
    return ["", "## Insert rate", "", *table(heads, rows)]


def of_spooling(found: Mapping[str, Found], rate: float) -> list[str]:
    """Say how long it is from a put to a row that can be read, and what memory does."""
    rows = [
        (
            name,
            f"{each.rate:,.0f}",
            f"{said(each.put_p50)}, {said(each.put_p99)}",
            f"{said(each.row_p50)}, {said(each.row_p99)}",
            f"{each.processor_share:.0%}" if each.processor_share else "-",
            ", ".join(megabytes(size) for size in each.memory),
            each.parts,
            "yes" if each.exactly_once else "NO",
        )
        for name, each in found.items()
    ]
    heads = (
        *("verdicts", "put a second", "put p50, p99", "put to readable p50, p99"),
        *("processor, of one core", "memory at each quarter", "parts", "each once"),
    )
    return [
        "",
        f"## From a put to its row, at {rate:g} verdicts a second",
        "",
        _PUTTING,
        "",
        *table(heads, rows),
    ]


def of_a_size(weighed: Weighed) -> list[str]:
    """Say what a store of this size takes and how soon it answers."""
    return [
        "",
        f"## {weighed.verdicts:,} verdicts in {weighed.days} days",
        "",
        f"Made in {said(weighed.made_seconds)}. {_left_out(weighed)} {_OLDER}",
        "",
        *_sizes(weighed),
        "",
        *_panels(weighed),
        "",
        *_answers(weighed),
    ]


def _left_out(weighed: Weighed) -> str:
    if not weighed.every:
        return "Every table has the rows of every pass."
    left = ", ".join(f"`{name}` of one in {every:,}" for name, every in weighed.every.items())
    return f"Not every table has the rows of every pass: {left}; the others have all."


def _sizes(weighed: Weighed) -> list[str]:
    rows = [
        (
            f"`{each.table}`",
            f"{each.rows:,}",
            megabytes(each.size),
            f"{each.size / each.rows:.1f}",
            f"{each.parts} in {each.partitions}",
            ", ".join(f"{name} {size:.1f}" for name, size in each.columns) or "-",
        )
        for each in weighed.sizes
    ]
    return table(
        ("table", "rows", "size", "bytes a row", "parts in partitions", "largest columns"), rows
    )


def _panels(weighed: Weighed) -> list[str]:
    rows = [_panel(each) for each in weighed.asked]
    return table(("panel", "over", "rows", "p50", "p99", "naive", "x", "the same"), rows)


def _panel(each: Asked) -> tuple[object, ...]:
    times, naive = each.times, each.naive_seconds
    same = {None: "-", True: "yes", False: "NO"}[each.same]
    return (
        f"`{each.panel}`",
        each.span,
        f"{each.rows:,}",
        said(times.p50),
        said(times.p99),
        each.naive_failed or ("-" if naive is None else said(naive)),
        "-" if naive is None else f"{naive / times.p50:.1f}",
        same,
    )


def _answers(weighed: Weighed) -> list[str]:
    rows = [("opening the store", "-", said(weighed.open_seconds), "-")]
    rows += [
        (each.question, f"{each.found:,}", said(each.times.p50), said(each.times.p99))
        for each in weighed.answers
    ]
    return table(("question", "found", "p50", "p99"), rows)
