"""What Grafana puts in for variables and macros, as it and its ClickHouse plugin document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

# https://grafana.com/docs/grafana/latest/dashboards/variables/variable-syntax/
VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)")
# What Grafana puts in for all of them, if it is told so.
ALL = ".*"
_INTERVALS = {"__interval": "240s", "__rate_interval": "16m"}


def promql(expr: str, chosen: Mapping[str, str]) -> str:
    """Return an expression with its variables put in; raises ``KeyError`` for an unknown one."""
    known = {**_INTERVALS, **chosen}
    return VARIABLE.sub(lambda found: _written(known[found[1] or found[3]], found[2]), expr)


def sql(statement: str, chosen: Mapping[str, str], since: datetime, until: datetime) -> str:
    """Return a statement with macros and variables put in, as the plugin of version 4 does.

    https://github.com/grafana/clickhouse-datasource#macros
    """
    first, last = (f"toDateTime({int(each.timestamp())})" for each in (since, until))
    statement = re.sub(
        r"\$__timeFilter\((\w+)\)",
        lambda found: f"{found[1]} >= {first} AND {found[1]} <= {last}",
        statement,
    )
    statement = statement.replace("$__fromTime", first).replace("$__toTime", last)
    return VARIABLE.sub(lambda found: _written(chosen[found[1] or found[3]], found[2]), statement)


def _written(value: str, form: str | None) -> str:
    if form is None or (form == "regex" and value == ALL):
        return value
    if form == "regex":
        return re.sub(r"([\\^$*+?.()|\[\]{}/])", r"\\\1", value)
    if form == "percentencode":
        return quote(value, safe="")
    raise KeyError(form)
