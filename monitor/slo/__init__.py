"""Objectives and the Prometheus rules made of them: windows, burn rates, alerts. Pure.

Prometheus evaluates the rules and Alertmanager routes what fires; nothing here runs while a daemon
does. What a detector decides is only read here (`davylamp_alarm_active`).
"""

from monitor.slo.build import Built, own_rules, shipped_rules
from monitor.slo.compare import Difference, differences
from monitor.slo.links import Links
from monitor.slo.objective import Objective, Sli
from monitor.slo.sources import (
    Sources,
    objectives_of,
    own_sources,
    sources_folder,
    sources_of,
    stated_volume,
)

__all__ = [
    "Built",
    "Difference",
    "Links",
    "Objective",
    "Sli",
    "Sources",
    "differences",
    "objectives_of",
    "own_rules",
    "own_sources",
    "shipped_rules",
    "sources_folder",
    "sources_of",
    "stated_volume",
]
