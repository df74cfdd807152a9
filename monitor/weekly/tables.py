"""The tables of a report: in which order, under which title, and with which types."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from monitor.weekly.record import ChainHead, WeeklyReport

Row = Mapping[str, Any]

# What was not looked at stands directly below the judgement.
TITLES: Mapping[str, str] = {
    "targets": "Targets",
    "not_looked_at": "What was not looked at",
    "findings": "Findings",
    "leaks": "Leaks, and whose text it was",
    "rescored": "Kept answers that were found bad when judged again",
    "without_finding": "Bad verdicts that are in no finding",
    "coverage": "Coverage map",
    "objectives": "Objectives and error budgets",
    "trend": "The last weeks",
    "days": "The days of the week",
    "context": "Context: verified against advertised",
    "nodes": "Nodes: conformity and days exposed",
    "drift": "Drift: what detectors said",
    "streams": "Least fault that each detector sees",
    "strata": "Strata: none bad in n means at most …",
    "drill": "The drill: what is caught, and how soon",
    "unjudged": "What could not be judged",
    "noisiest_checks": "Noisiest checks",
    "http": "What HTTP said",
    "costs": "Costs",
    "accepted": "Accepted deviations",
    "changes": "Changes of prompts, calibrations, versions and targets",
    "decisions": "What people did, by the audit chain",
    "methods": "Methods and limits",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table: its name, the kind of its values, and whether one may be missing."""

    name: str
    kind: type
    optional: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a report; its rows hold values of the columns' types, in their order."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


def tables_of(report: WeeklyReport) -> tuple[Table, ...]:
    """Return every table of a report, the one of its head first: together they are all of it."""
    return (_head(report), *(_table(name, getattr(report, name)) for name in TITLES))


def _head(report: WeeklyReport) -> Table:
    said = {
        field.name: getattr(report, field.name)
        for field in dataclasses.fields(report)
        if field.name not in TITLES and field.name != "chain"
    }
    chain = report.chain
    columns = [Column(name=name, kind=type(value)) for name, value in said.items()]
    columns += [
        Column(name=f"chain_{each.name}", kind=each.kind, optional=True)
        for each in columns_of(ChainHead)
    ]
    of_chain = (chain.seq, chain.hash, chain.at) if chain is not None else (None, None, None)
    return Table(
        name="report",
        title="The report",
        columns=tuple(columns),
        rows=((*said.values(), *of_chain),),
    )


def _table(name: str, rows: Sequence[Any]) -> Table:
    columns = columns_of(row_type(name))
    return Table(
        name=name,
        title=TITLES[name],
        columns=columns,
        rows=tuple(tuple(getattr(row, column.name) for column in columns) for row in rows),
    )


def row_type(name: str) -> type:
    """Return the record that the rows of a table are."""
    found: type = typing.get_args(typing.get_type_hints(WeeklyReport)[name])[0]
    return found


@cache
def columns_of(record: type) -> tuple[Column, ...]:
    """Return the columns of a record, in order."""
    return tuple(_column(name, hint) for name, hint in typing.get_type_hints(record).items())


def _column(name: str, hint: Any) -> Column:
    if isinstance(hint, types.UnionType):
        [plain] = [each for each in typing.get_args(hint) if each is not types.NoneType]
        return Column(name=name, kind=plain, optional=True)
    if typing.get_origin(hint) is tuple:
        return Column(name=name, kind=tuple)
    return Column(name=name, kind=hint)


def instant_text(instant: datetime) -> str:
    """Return an instant as every text of a report has it: UTC, to the millisecond."""
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{instant.microsecond // 1000:03d}Z"
