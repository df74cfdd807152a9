"""Metrics of GPUs, and of KV pools as bytes.

``gpu`` is the index a GPU had when it was first seen; names of processes are few and cleaned. Every
series of a GPU is there only while its quantity can be read: what cannot be read has a series of
``gpu_unread`` with the reason instead, never a 0.
"""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import TARGET, L, counter, gauge

MAX_PROCESS_NAMES = 32
OTHER = "other"
"""The label of what has no bounded name: a process, or an XID outside the catalogue."""


class DriverState(StrEnum):
    """Whether what tells of GPUs can be asked: the NVIDIA library, or a DCGM exporter."""

    OK = "ok"
    NO_GPU = "no_gpu"
    NO_LIBRARY = "no_library"
    NO_DRIVER = "no_driver"
    NO_PERMISSION = "no_permission"
    VERSION_MISMATCH = "version_mismatch"
    SYMBOL_MISSING = "symbol_missing"
    UNREACHABLE = "unreachable"
    STALE = "stale"
    FAILED = "failed"


class GpuState(StrEnum):
    """How one GPU answers."""

    OK = "ok"
    LOST = "lost"
    RESET_REQUIRED = "reset_required"
    NO_PERMISSION = "no_permission"
    FAILED = "failed"


class Quantity(StrEnum):
    """What is read of a GPU, each apart from the others."""

    IDENTITY = "identity"
    MEMORY = "memory"
    UTILIZATION = "utilization"
    ECC = "ecc"
    REMAPPED_ROWS = "remapped_rows"
    RETIRED_PAGES = "retired_pages"
    XID = "xid"
    MIG = "mig"
    PROCESSES = "processes"


class Unread(StrEnum):
    """Why a quantity was not read."""

    NOT_SUPPORTED = "not_supported"
    NO_PERMISSION = "no_permission"
    VERSION_MISMATCH = "version_mismatch"
    SYMBOL_MISSING = "symbol_missing"
    NOT_EXPORTED = "not_exported"
    FAILED = "failed"


class EccKind(StrEnum):
    """Memory errors that were mended, and those that were not."""

    CORRECTED = "corrected"
    UNCORRECTED = "uncorrected"


class RemapKind(StrEnum):
    """Rows of memory that were replaced, and whether that waits for a reset or failed."""

    CORRECTABLE = "correctable"
    UNCORRECTABLE = "uncorrectable"
    PENDING = "pending"
    FAILURE = "failure"


class RetiredKind(StrEnum):
    """Pages of memory that are not used any more, by what was wrong with them."""

    SINGLE_BIT = "single_bit"
    DOUBLE_BIT = "double_bit"


class PoolBytes(StrEnum):
    """Which bytes of a KV pool."""

    RESERVED = "reserved"
    USED = "used"


class Unattributed(StrEnum):
    """Why tokens of a KV pool cannot be told as bytes on a GPU."""

    NO_TOKENS = "no_tokens"
    NO_MODEL_CONFIG = "no_model_config"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_PARALLELISM = "unknown_parallelism"
    UNKNOWN_DTYPE = "unknown_dtype"
    NO_GPU = "no_gpu"
    NO_PROCESS_MEMORY = "no_process_memory"
    EXCEEDS_PROCESS_MEMORY = "exceeds_process_memory"


# Xids after which memory or the connection of a GPU is not to be trusted: an uncorrected memory
# error (48, 94 contained, 95 not contained, 140 unrecovered), rows or pages that could not be
# replaced (64), a fault of NVLink (74), a GPU that fell off its bus (79). Source:
# https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
FATAL_XIDS = (48, 64, 74, 79, 94, 95, 140)
MOST_XID = 199
"""Xids up to this have a series of their own; the catalogue ends below it."""

_GPU = (L.ENV, L.GPU)
_MIG = (*_GPU, L.MIG, L.PROFILE)

GPU_DRIVER_STATE = gauge(
    "gpu_driver_state",
    "1 for how the source of the GPU metrics answers, 0 for every other state.",
    *(L.ENV, L.STATE),
)
GPU_DRIVER_ERROR = gauge(
    "gpu_driver_error_code",
    "The code NVML gave as a whole, 0 if none; the number of a code we have no name for.",
    L.ENV,
)
GPU_LAST_READ = gauge(
    "gpu_last_read_timestamp_seconds",
    "When GPUs were last read, whatever came of it, in seconds since 1970; 0 before the first.",
    L.ENV,
)
GPU_UP = gauge("gpu_up", "1 if a GPU that was once seen answers, else 0.", *_GPU)
GPU_STATE = gauge(
    "gpu_state", "1 for how a GPU answers, 0 for every other state.", *(*_GPU, L.STATE)
)
GPU_ERROR = gauge(
    "gpu_error_code", "The code NVML gave of a GPU as a whole, 0 if it answers.", *_GPU
)
GPU_INFO = gauge("gpu_info", "Always 1; what a GPU is.", *(*_GPU, L.UUID, L.NAME, L.DRIVER))
GPU_UNREAD = gauge(
    "gpu_unread",
    "1 for a quantity of a GPU that could not be read, and why.",
    *(*_GPU, L.KIND, L.REASON),
)
GPU_MEMORY_TOTAL = gauge("gpu_memory_total_bytes", "Memory a GPU has.", *_GPU)
GPU_MEMORY_USED = gauge(
    "gpu_memory_used_bytes",
    "Memory that is allocated. Engines reserve their KV pool at start, so this says nothing of "
    "how full the pool is.",
    *_GPU,
)
GPU_MEMORY_FREE = gauge("gpu_memory_free_bytes", "Memory that is not allocated.", *_GPU)
GPU_MEMORY_RESERVED = gauge(
    "gpu_memory_reserved_bytes", "Memory the driver keeps for itself.", *_GPU
)
GPU_UTILIZATION = gauge(
    "gpu_utilization_ratio", "The share of the last sample in which a kernel ran, 0 to 1.", *_GPU
)
GPU_MEMORY_UTILIZATION = gauge(
    "gpu_memory_utilization_ratio",
    "The share of the last sample in which memory was read or written, 0 to 1.",
    *_GPU,
)
GPU_ECC_ERRORS = counter(
    "gpu_ecc_errors_total",
    "Memory errors of one card since the driver was loaded, mended or not; by its `uuid`, since "
    "`gpu` may be another one after a restart of the exporter.",
    *(*_GPU, L.UUID, L.KIND),
)
GPU_REMAPPED_ROWS = gauge(
    "gpu_remapped_rows",
    "Rows of memory that were replaced; 1 for pending and failure if there are such.",
    *(*_GPU, L.KIND),
)
GPU_RETIRED_PAGES = gauge(
    "gpu_retired_pages", "Pages of memory that are not used any more.", *(*_GPU, L.KIND)
)
GPU_XIDS = counter(
    "gpu_xid_events_total",
    "Errors the driver reported of a GPU while we listened, by Xid; those that matter start at 0.",
    *(*_GPU, L.CODE),
)
GPU_MIG_ENABLED = gauge("gpu_mig_enabled", "1 if a GPU is divided into instances (MIG).", *_GPU)
GPU_MIG_DEVICES = gauge("gpu_mig_devices", "Instances a GPU is divided into.", *_GPU)
GPU_MIG_MEMORY_TOTAL = gauge(
    "gpu_mig_memory_total_bytes", "Memory an instance of a divided GPU has.", *_MIG
)
GPU_MIG_MEMORY_USED = gauge(
    "gpu_mig_memory_used_bytes", "Memory that is allocated in an instance.", *_MIG
)
GPU_PROCESSES = gauge("gpu_processes", "Processes that compute on a GPU, as far as seen.", *_GPU)
GPU_PROCESS_MEMORY = gauge(
    "gpu_process_memory_bytes",
    "Memory of the processes of one name.",
    *(*_GPU, L.PROCESS),
)
KV_POOL_BYTES = gauge(
    "kv_pool_bytes",
    "A node's KV pool on each of its GPUs by the model's shape: what grows with every token.",
    *(*TARGET, L.NODE, L.STATE),
)
KV_POOL_UNATTRIBUTED = gauge(
    "kv_pool_unattributed",
    "1 where a node's KV pool cannot be told as bytes, or does not fit what its GPUs say.",
    *(*TARGET, L.NODE, L.REASON),
)
