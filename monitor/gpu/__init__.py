"""GPUs of one machine: what the driver or DCGM says of them, and KV pools as bytes.

Independent of how nodes are read: what their engines say of pools comes as plain numbers.
"""

from __future__ import annotations

from monitor.gpu.collector import GpuCollector
from monitor.gpu.dcgm_source import DcgmSource
from monitor.gpu.kv_bytes import CannotTellError, KvBytes, Parallelism, kv_bytes
from monitor.gpu.model_shape import (
    ModelShape,
    UnknownShapeError,
    UnreadableShapeError,
    read_shape,
    shape_of,
)
from monitor.gpu.nvml import NvmlSource, installed
from monitor.gpu.pool import KvPool, NodeTokens, PoolModel, joined
from monitor.gpu.record import GpuMemory, GpuReading, GpusReading
from monitor.gpu.source import GpuSource
from monitor.gpu.watch import GpuPage, GpuWatch

__all__ = [
    "CannotTellError",
    "DcgmSource",
    "GpuCollector",
    "GpuMemory",
    "GpuPage",
    "GpuReading",
    "GpuSource",
    "GpuWatch",
    "GpusReading",
    "KvBytes",
    "KvPool",
    "ModelShape",
    "NodeTokens",
    "NvmlSource",
    "Parallelism",
    "PoolModel",
    "UnknownShapeError",
    "UnreadableShapeError",
    "installed",
    "joined",
    "kv_bytes",
    "read_shape",
    "shape_of",
]
