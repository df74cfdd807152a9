"""What alerts on GPUs say and link to: which machine, and the series they rest on."""

from __future__ import annotations

import pytest

from monitor.slo.gpus import GPU_ALERTS
from monitor.slo.links import NODES_DASHBOARD, Links, evidence
from monitor.slo.nodes import NODE_SIGNALS, SIGHT_OF_NODES
from monitor.slo.rules import AlertRule

LINKS = Links(dashboards="https://grafana.example")
GPU_RULES = {each.name: each.rule(LINKS) for each in GPU_ALERTS}


@pytest.mark.parametrize("rule", GPU_RULES.values(), ids=GPU_RULES)
def test_an_alert_on_a_gpu_names_its_machine(rule: AlertRule) -> None:
    assert "{{ $labels.instance }}" in rule.annotations["summary"]
    assert "instance=%q" in rule.annotations["evidence_url"]
    assert "$labels.instance" in rule.annotations["evidence_url"]


def test_memory_errors_show_the_series_of_their_kind() -> None:
    link = GPU_RULES["DavylampGpuMemoryErrors"].annotations["evidence_url"]
    metrics = "davylamp_gpu_ecc_errors_total|davylamp_gpu_remapped_rows"
    assert f'{{__name__=~"{metrics}",env=%q,instance=%q,gpu=%q,kind=%q}}' in link
    assert "$labels.env $labels.instance $labels.gpu $labels.kind" in link


def test_alerts_on_nodes_and_gpus_open_the_dashboard_of_nodes() -> None:
    for alert in (*GPU_ALERTS, *NODE_SIGNALS, *SIGHT_OF_NODES):
        opened = alert.rule(LINKS).annotations["dashboard_url"]
        place = f"https://grafana.example/d/{NODES_DASHBOARD}?var-env={{{{ $labels.env }}}}"
        named = "target" in alert.evidence[1]
        assert opened == place + ("&var-target={{ $labels.target }}" if named else "")


def test_evidence_of_one_metric_is_its_selector() -> None:
    assert "`up{env=%q}` $labels.env" in evidence("up", ("env",))
    assert "`up` |" in evidence("up", ())
