"""Probes: one module a shape. Order is the order of a pass: cheap and ordinary first."""

from monitor.probes import (
    abort,
    border,
    boundary,
    burst,
    canary,
    combined,
    golden,
    pair,
    prefix,
    repeat,
    tenant,
    turns,
)
from monitor.probes.base import Probe

PROBES: dict[str, Probe] = {
    module.PROBE.name: module.PROBE
    for module in (
        golden,
        canary,
        border,
        tenant,
        burst,
        prefix,
        repeat,
        turns,
        pair,
        combined,
        abort,
        boundary,
    )
}

__all__ = ["PROBES", "Probe"]
