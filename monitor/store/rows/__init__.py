"""The rows of each table as flat records: their fields are its columns, in order.

A test compares them with the schema. Only ``encode`` and ``decode`` turn records into rows.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from monitor.store.client import Row
from monitor.store.rows.judged import (
    ExchangeRow,
    ExchangeVerdictRow,
    SignalRow,
    TrialRow,
    VerdictRow,
)
from monitor.store.rows.known import (
    AuditRow,
    BodyRow,
    CalibrationRow,
    FindingChangeRow,
    FindingRow,
    MarkerRow,
    TargetRow,
)
from monitor.store.rows.running import (
    BudgetRow,
    DetectorStateRow,
    LadderRow,
    NodeSnapshotRow,
    PageRow,
    RungRow,
    ScheduleEventRow,
)

AnyRow = (
    TrialRow
    | ExchangeRow
    | VerdictRow
    | ExchangeVerdictRow
    | SignalRow
    | TargetRow
    | MarkerRow
    | CalibrationRow
    | FindingRow
    | FindingChangeRow
    | AuditRow
    | BodyRow
    | BudgetRow
    | ScheduleEventRow
    | LadderRow
    | RungRow
    | NodeSnapshotRow
    | DetectorStateRow
    | PageRow
)
TABLES: dict[type[AnyRow], str] = {
    TrialRow: "trials",
    ExchangeRow: "exchanges",
    VerdictRow: "verdicts",
    ExchangeVerdictRow: "exchange_verdicts",
    SignalRow: "signals",
    TargetRow: "targets",
    MarkerRow: "markers",
    CalibrationRow: "calibrations",
    FindingRow: "findings",
    FindingChangeRow: "finding_changes",
    AuditRow: "audit_log",
    BodyRow: "bodies",
    BudgetRow: "budget_spent",
    ScheduleEventRow: "schedule_events",
    LadderRow: "context_ladders",
    RungRow: "context_rungs",
    NodeSnapshotRow: "node_snapshots",
    DetectorStateRow: "detector_states",
    PageRow: "pages_sent",
}
# ``class`` is a Python keyword.
_COLUMN_OF_FIELD = {"verdict_class": "class"}
_COLUMNS = {
    kind: tuple(_COLUMN_OF_FIELD.get(field.name, field.name) for field in fields(kind))
    for kind in TABLES
}


def columns(kind: type[AnyRow]) -> tuple[str, ...]:
    """Return the columns of a kind of row, in order."""
    return _COLUMNS[kind]


def values(row: AnyRow) -> Row:
    """Return the row as the client takes it; text is made valid UTF-8."""
    return tuple(_value(getattr(row, field.name)) for field in fields(row))


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    return value


__all__ = [
    "TABLES",
    "AnyRow",
    "AuditRow",
    "BodyRow",
    "BudgetRow",
    "CalibrationRow",
    "DetectorStateRow",
    "ExchangeRow",
    "ExchangeVerdictRow",
    "FindingChangeRow",
    "FindingRow",
    "LadderRow",
    "MarkerRow",
    "NodeSnapshotRow",
    "PageRow",
    "RungRow",
    "ScheduleEventRow",
    "SignalRow",
    "TargetRow",
    "TrialRow",
    "VerdictRow",
    "columns",
    "values",
]
