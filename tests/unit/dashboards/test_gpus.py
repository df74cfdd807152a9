"""GPUs of two machines have the same numbers, and never a line in common."""

from __future__ import annotations

import re

import pytest

from dashboards.__main__ import GENERATED
from monitor.conventions import gpu
from monitor.conventions.metric import Label, Metric
from monitor.grafana import dashboards_in

OF_GPUS = {
    each.name
    for each in vars(gpu).values()
    if isinstance(each, Metric) and Label.TARGET not in each.labels
}
OF_ONE = {
    each.name
    for each in vars(gpu).values()
    if isinstance(each, Metric) and Label.GPU in each.labels
}
_GROUPED = re.compile(r"\b(?:sum|min|max|avg|count) by \(([^)]*)\) \(")
TARGETS = [
    pytest.param(target, id=f"{dashboard.uid}-{panel['id']}-{target['refId']}")
    for dashboard in dashboards_in(GENERATED)
    for panel in dashboard.data["panels"]
    for target in panel.get("targets", ())
    if any(name in target.get("expr", "") for name in OF_GPUS)
]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_told_of_a_gpu_is_told_of_its_machine(target: dict[str, str]) -> None:
    groups = [set(found.split(", ")) for found in _GROUPED.findall(target["expr"])]
    assert groups
    assert all({"env", "instance"} <= group for group in groups)
    of_one = sum(target["expr"].count(f"{name}{{") for name in OF_ONE)
    assert sum("gpu" in group for group in groups) == of_one


@pytest.mark.parametrize("target", TARGETS)
def test_a_line_of_a_gpu_is_called_by_its_machine(target: dict[str, str]) -> None:
    legend = target.get("legendFormat", "")
    if "{{" in legend:
        assert "{{instance}}" in legend


def test_there_are_panels_of_gpus() -> None:
    assert len(TARGETS) > 15
