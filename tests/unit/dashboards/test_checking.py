"""Whatever stands in a file, it is checked and not crashed of."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboards.__main__ import GENERATED
from monitor.grafana import Dashboard, faults_of, known_names, schema_of
from monitor.grafana.checking import metrics_in, tables_in
from monitor.slo import sources_folder

MONITOR = json.loads((GENERATED / "monitor.json").read_text("utf-8"))
SCHEMA, KNOWN = schema_of(), known_names(sources_folder() / "rules")
# The first row, and a panel of each kind that is drawn of numbers.
_KINDS = ("row", "table", "stat", "timeseries", "state-timeline")
SMALL = MONITOR | {
    "panels": [next(p for p in MONITOR["panels"] if p["type"] == kind) for kind in _KINDS]
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=4), below),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to everything within a value."""
    found = [path] if path else []
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inside:
        found += places(each, (*path, key))
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(places(SMALL)), JSON)
def test_anything_at_any_place_is_checked(place: tuple[Any, ...], value: Any) -> None:
    data = copy.deepcopy(SMALL)
    within = data
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = value
    dashboard = Dashboard(file=Path("x.json"), data=data)
    for fault in faults_of(dashboard, SCHEMA, KNOWN):
        assert fault.where
        assert 0 < len(fault.words) < 400


def test_names_are_read_out_of_what_is_asked() -> None:
    expr = (
        'sum(rate(davylamp_verdicts_total{class="LEAK"}[5m])) / davylamp:slo_known > my_davylamp_x'
    )
    assert metrics_in(expr) == {"davylamp_verdicts_total", "davylamp:slo_known"}
    statement = "SELECT 1 FROM verdicts FINAL LEFT JOIN (SELECT 2 FROM trials) AS t USING (id)"
    assert tables_in(statement) == {"verdicts", "trials"}


def test_the_tables_are_those_of_the_store() -> None:
    assert {"verdicts", "verdicts_hourly", "node_snapshots", "audit_log"} <= KNOWN.tables
    assert not [name for name in KNOWN.tables if name.endswith("_view")]
