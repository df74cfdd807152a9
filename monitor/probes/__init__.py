"""Probes: one module a shape. Order is the order of a pass: cheap and ordinary first."""

from monitor.probes import boundary, burst, canary, golden, prefix, tenant
from monitor.probes.base import Probe

PROBES: dict[str, Probe] = {
    module.PROBE.name: module.PROBE for module in (golden, canary, tenant, burst, prefix, boundary)
}

__all__ = ["PROBES", "Probe"]
