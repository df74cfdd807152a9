"""GPUs as metrics: beside the daemon's own, or served by a process on each node."""

from __future__ import annotations

from monitor.exporter.opening import gpu_watch, pool_models
from monitor.exporter.serving import Exporter, run_exporter
from monitor.exporter.tokens import tokens_of

__all__ = ["Exporter", "gpu_watch", "pool_models", "run_exporter", "tokens_of"]
