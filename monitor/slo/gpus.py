"""Alerts on GPUs: one that is lost, memory that is not to be trusted, and what nobody can read.

They keep whatever labels Prometheus gave an exporter: a GPU is one of its machine.
"""

from __future__ import annotations

from monitor.conventions import gpu as names
from monitor.conventions.gpu import DriverState, EccKind, GpuState, RemapKind
from monitor.slo.alert import Alert
from monitor.slo.links import NODES_DASHBOARD
from monitor.slo.promql import equals, fits, last_said, quoted, selector

# Prometheus gives ``instance``: of a fleet it is what names the machine.
_MACHINE = ("env", "instance")
_GPU = (*_MACHINE, "gpu")
_NAMED = "GPU {{ $labels.gpu }} of {{ $labels.instance }} in {{ $labels.env }}"
_GONE = f"{GpuState.LOST}|{GpuState.RESET_REQUIRED}"
_FATAL = "|".join(str(xid) for xid in names.FATAL_XIDS)
_FAILURE = selector(names.GPU_REMAPPED_ROWS.name, equals("kind", RemapKind.FAILURE))
_UNMENDED = selector(names.GPU_ECC_ERRORS.name, equals("kind", EccKind.UNCORRECTED))
_SILENT_SECONDS = 600
# For how long an exporter that is gone is missed.
_REMEMBERED = "1d"
# For how long a machine that shows no GPU any more is held to have one: over a weekend and more.
_SEEN = "7d"
_WORKS = selector(names.GPU_DRIVER_STATE.name, equals("state", DriverState.OK))
_WELL = f"{DriverState.OK}|{DriverState.NO_GPU}"
_NONE = selector(names.GPU_DRIVER_STATE.name, equals("state", DriverState.NO_GPU))
_UNTOLD = f"{GpuState.FAILED}|{GpuState.NO_PERMISSION}"

GPU_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="DavylampGpuLost",
        # What it last said holds on while its exporter is away.
        expr=f"{last_said(selector(names.GPU_STATE.name, fits('state', _GONE)))} == 1",
        wait="1m",
        severity="critical",
        summary=f"{_NAMED}: {{{{ $labels.state }}}}",
        description=(
            "The driver no longer reaches it, or says that it has to be reset. Whatever runs on "
            "it has failed or will."
        ),
        evidence=(names.GPU_STATE.name, (*_GPU, "state")),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGpuFatalXid",
        expr=f"increase({selector(names.GPU_XIDS.name, fits('code', _FATAL))}[1h]) > 0",
        severity="critical",
        summary=f"{_NAMED}: Xid {{{{ $labels.code }}}}",
        description=(
            "The driver reported an error of its memory, its NVLink or its bus. What it computed "
            "meanwhile may be wrong, KV cache included."
        ),
        evidence=(names.GPU_XIDS.name, (*_GPU, "code")),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGpuMemoryErrors",
        expr=f"increase({_UNMENDED}[1h]) > 0\nor {last_said(_FAILURE)} > 0",
        severity="critical",
        summary=f"{_NAMED}: memory fails ({{{{ $labels.kind }}}})",
        description=(
            "Errors of its memory could not be corrected, or a bad row could not be replaced. "
            "What is stored there, weights and KV cache, is not to be trusted."
        ),
        evidence=(f"{names.GPU_ECC_ERRORS.name}|{names.GPU_REMAPPED_ROWS.name}", (*_GPU, "kind")),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGpusNotRead",
        expr=(
            "sum without (state) (\n"
            f"  {names.GPU_DRIVER_STATE.name}{{state!~{quoted(_WELL)}}}\n"
            ") > 0\n"
            # A machine that has none is well, unless one was seen on it.
            f"or sum without (state) ({_NONE}) > 0\n"
            f"  and max without (gpu) (max_over_time({names.GPU_UP.name}[{_SEEN}])) >= 0\n"
            f"or time() - last_over_time({names.GPU_LAST_READ.name}[{_REMEMBERED}])"
            f" > {_SILENT_SECONDS}"
        ),
        wait="10m",
        severity="warning",
        summary=(
            "GPUs of {{ $labels.instance }} in {{ $labels.env }} are not read: whether they are "
            "well is not known"
        ),
        description=(
            "The exporter cannot ask the driver or DCGM, is not scraped any more, or sees no GPU "
            "where there was one this week. A lost GPU and errors of memory would not be seen."
        ),
        evidence=(names.GPU_DRIVER_STATE.name, _MACHINE),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGpuFailed",
        # Where the driver itself fails, all do: that is DavylampGpusNotRead.
        expr=(
            f"{selector(names.GPU_STATE.name, fits('state', _UNTOLD))} == 1\n"
            f"and ignoring (gpu, state) {_WORKS} == 1"
        ),
        wait="10m",
        severity="warning",
        summary=f"{_NAMED} is not read ({{{{ $labels.state }}}}): whether it is well is not known",
        description=(
            "The driver answers, and this GPU does not: no figure of it is read, and errors of its "
            "memory would not be seen."
        ),
        evidence=(names.GPU_STATE.name, (*_GPU, "state")),
        dashboard=NODES_DASHBOARD,
    ),
)
