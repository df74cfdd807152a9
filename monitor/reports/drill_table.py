"""The drill's report as lines for a terminal and as a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from monitor.reports.drill import DrillReport, FaultReport, NullReport, RunReport
from monitor.reports.terminal import printable

_VERDICTS = {0: "EVERY PROMISE KEPT", 1: "A PROMISE BROKEN", 3: "COULD NOT TELL"}
_MOST_NAMED = 12

FAULT_HEAD = (
    "fault",
    "detected",
    "95 % interval",
    "class",
    "right owner",
    "first seen after",
    "in stratum",
    "allowed",
    "HTTP alone",
)
NULL_HEAD = ("null", "false alarms", "at most", "tolerated", "HTTP alone")

_PAGE_HEAD = """# The drill: what is caught, how soon, and what stays silent

Measured by `make drill` (`davylamp drill`), not written by hand. Every row is a fault or a null of
the lab with {seeds} seeds from {first_seed}; each run is one pass of the profile `{profile}` over a
fresh lab of {context} tokens whose parameters (boundary, rate, tenant, onset) its seed draws.
Columns are explained in [drill-json.md](drill-json.md), which documents the same as JSON.

- *Detected*: a verdict that is bad whatever the tolerance, or ordinary mistakes that exceed it at
  the end of the pass; the interval is Wilson's.
- *Right owner*: of the verdicts LEAK and CROSSED that named one, compared with whose words the lab
  knows to have put into that answer.
- *First seen after*: medians over the detected runs.
- *In stratum* and *allowed*: exchanges the fault could strike, its rate fixed before the run, and
  the chance of a detection they allow: 1 - (1 - rate)^n, or for faults seen as ordinary mistakes
  (marked ~) the power of the rule of the tolerance.
- *HTTP alone*: runs in which at least 1 % of the exchanges failed, or the 95th percentile of their
  time was above 1 s.

![Detected and allowed, per fault](drill.svg)
"""


def render_drill(report: DrillReport) -> list[str]:
    """Return the lines for a terminal."""
    lines = []
    if report.faults:
        lines += [*_columns(FAULT_HEAD, [fault_cells(row) for row in report.faults]), ""]
    if report.nulls:
        lines += [*_columns(NULL_HEAD, [null_cells(row) for row in report.nulls]), ""]
    for promise in report.promises:
        lines.append(f"{'KEPT  ' if promise.kept else 'BROKEN'}  {promise.words}")
    lines.append(f"TOKENS  {price_words(report)}")
    lines += [f"FALSE ALARM  {words}" for words in alarm_words(report.runs)]
    lines += [f"COULD NOT TELL  {words}" for words in untold_words(report.runs)]
    lines.append(f"{_VERDICTS[report.exit_code]} (exit {report.exit_code})")
    return [printable(line) for line in lines]


def drill_page(report: DrillReport) -> str:
    """Return the page in Markdown."""
    head = _PAGE_HEAD.format(
        seeds=report.seeds,
        first_seed=report.first_seed,
        profile=report.profile,
        context=report.context_tokens,
    )
    lines = [head]
    if report.faults:
        rows = [_code(fault_cells(row)) for row in report.faults]
        lines += ["## Faults\n", *_markdown(FAULT_HEAD, rows), ""]
    if report.nulls:
        rows = [_code(null_cells(row)) for row in report.nulls]
        lines += ["## Nulls: peculiar, but not wrong\n", *_markdown(NULL_HEAD, rows), ""]
    lines.append("## Promises\n")
    for promise in report.promises:
        lines.append(f"- {'Kept' if promise.kept else '**Broken**'}: {promise.words}.")
    lines += [f"- Tokens: {price_words(report)}.", ""]
    for title, said in (
        ("False alarms", alarm_words(report.runs)),
        ("Could not tell", untold_words(report.runs)),
    ):
        if said:
            lines += [f"## {title}\n", *(f"- {words}" for words in said), ""]
    return "\n".join(lines)


def fault_cells(row: FaultReport) -> tuple[str, ...]:
    """Return the cells of one fault."""
    classes = ", ".join(
        name if len(row.classes) == 1 else f"{name} {count}" for name, count in row.classes.items()
    )
    named = row.right_owners + row.wrong_owners
    owners = f"{row.right_owners} of {named}" if named else "-"
    if row.false_claims:
        owners = f"{row.false_claims} FALSE, {owners}"
    first = "-"
    if row.seconds is not None:
        first = f"{row.seconds:.1f} s, {row.exchanges:.0f} exchanges, {row.tokens:.0f} tokens"
    return (
        row.fault,
        f"{row.detected} of {row.told}" + ("" if row.kept else " (!)"),
        f"{row.share_low:.2f}-{row.share_high:.2f}",
        classes or "-",
        owners,
        first,
        "-" if row.exposed is None else f"{row.exposed:.0f}",
        f"{'' if row.hard else '~'}{row.allowed:.2f}",
        f"{row.baseline} of {row.told}",
    )


def null_cells(row: NullReport) -> tuple[str, ...]:
    """Return the cells of one null."""
    classes = ", ".join(f"{name} {count}" for name, count in row.classes.items())
    loud = f" ({classes})" if row.alarms and classes else ""
    return (
        row.null,
        f"{row.alarms} of {row.told}{loud}",
        f"{row.share_high:.2f}",
        f"{row.tolerated} of {row.valid}",
        f"{row.baseline} of {row.told}",
    )


def price_words(report: DrillReport) -> str:
    """Say what plans came to, and what all runs spent."""
    price = report.price
    total = sum(run.spent.total for run in report.runs if run.spent)
    words = f"{total} reported over all runs"
    if price.planned_to_charged is None or price.planned_to_reported is None:
        return words
    unaffordable = sum(run.unaffordable for run in report.runs)
    return (
        f"{words}; in {price.runs} null runs, where all was answered, plans came to "
        f"{price.planned_to_charged:.2f} of what was charged and "
        f"{price.planned_to_reported:.2f} of what was reported; "
        f"{unaffordable} trials were beyond the day's budget"
    )


def alarm_words(runs: Sequence[RunReport]) -> list[str]:
    """Return a line for each run of a null that was not silent, with the signals, the first few."""
    return _first(
        f"{run.fault} with seed {run.seed}: {run.worst}, {run.findings} findings, signals "
        + ", ".join(f"{sign} ({count})" for sign, count in run.signs.items())
        for run in runs
        if run.null and run.told and not run.silent
    )


def untold_words(runs: Sequence[RunReport]) -> list[str]:
    """Return a line for each run of which nothing can be said, the first few."""
    return _first(f"{run.fault} with seed {run.seed}: {run.reason}" for run in runs if not run.told)


def _first(said: Iterable[str]) -> list[str]:
    every = list(said)
    more = len(every) - _MOST_NAMED
    return [*every[:_MOST_NAMED], f"and {more} more"] if more > 0 else every


def _code(cells: tuple[str, ...]) -> tuple[str, ...]:
    return (f"`{cells[0]}`", *cells[1:])


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
