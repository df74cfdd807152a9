"""What the GPUs of one machine said, whoever asked them.

Everything is optional apart from everything else: ``None`` was not read, and ``unread`` says why.
Bytes are bytes, ratios 0 to 1, counts since the driver was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.conventions.gpu import (
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    RetiredKind,
    Unread,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMemory:
    """Memory in bytes. ``reserved`` is the driver's own, where it is told apart from ``used``."""

    total: int | None = None
    used: int | None = None
    free: int | None = None
    reserved: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigInstance:
    """A part of a divided GPU: its profile (such as ``1g.10gb``) where told, and its memory."""

    instance: str
    profile: str = ""
    memory: GpuMemory = field(default_factory=GpuMemory)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One GPU. ``gpu`` is the index it had when it was first seen.

    ``process_bytes`` adds up processes by a cleaned name; ``processes`` counts those that were
    seen. In a container a driver often lists none although some run, so no process is no proof.
    """

    gpu: str
    state: GpuState
    error_code: int = 0
    uuid: str = ""
    name: str = ""
    memory: GpuMemory = field(default_factory=GpuMemory)
    utilization: float | None = None
    memory_utilization: float | None = None
    ecc: Mapping[EccKind, int] = field(default_factory=dict)
    remapped_rows: Mapping[RemapKind, int] = field(default_factory=dict)
    retired_pages: Mapping[RetiredKind, int] = field(default_factory=dict)
    mig_enabled: bool | None = None
    mig: tuple[MigInstance, ...] = ()
    processes: int | None = None
    process_bytes: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[Quantity, Unread] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusReading:
    """All GPUs of one machine at one instant. Without an answer there is a state and no GPU.

    ``why`` says more of a state than its name, in words of ours, where there is more to say.
    ``xids`` counts the errors that were reported while we listened, by GPU and Xid.
    """

    read_at: datetime
    driver_state: DriverState
    error_code: int = 0
    why: str = ""
    driver: str = ""
    gpus: tuple[GpuReading, ...] = ()
    xids: Mapping[tuple[str, int], int] = field(default_factory=dict)
