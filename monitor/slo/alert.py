"""An alert as we write it, and the rule it becomes: the same labels and annotations for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.slo.links import DASHBOARD, MONITOR_DASHBOARD, Links, evidence
from monitor.slo.rules import AlertRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. ``verdict_class`` is empty if the series itself has the label.

    ``evidence`` names the metric it rests on (or several, with ``|`` between) and the labels that
    pick its series; the dashboard is opened at those of them that it has as variables. Left out, it
    is that of the target, or of the monitor itself where no target is picked.
    """

    name: str
    expr: str
    severity: str
    summary: str
    description: str
    evidence: tuple[str, tuple[str, ...]]
    wait: str = ""
    verdict_class: str = "none"
    dashboard: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def rule(self, links: Links) -> AlertRule:
        """Return it as a rule."""
        classed = {"class": self.verdict_class} if self.verdict_class else {}
        metric, picked = self.evidence
        shown = [label for label in ("env", "target") if label in picked]
        fitting = DASHBOARD if "target" in shown else MONITOR_DASHBOARD
        return AlertRule(
            alert=self.name,
            expr=self.expr,
            wait=self.wait,
            labels={"severity": self.severity, **classed, **self.labels},
            annotations={
                "summary": self.summary,
                "description": self.description,
                "runbook_url": links.runbook(self.name),
                "dashboard_url": links.dashboard(shown, self.dashboard or fitting),
                "evidence_url": evidence(metric, picked),
            },
        )
