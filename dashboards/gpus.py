"""The shelf of GPUs: KV pools as bytes, memory, faults, and what cannot be read."""

from __future__ import annotations

from dashboards.panels import (
    GREEN,
    RED,
    YELLOW,
    Look,
    Said,
    Shelf,
    now,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
    values,
)
from dashboards.questions import of
from monitor.conventions import gpu

# Of one machine, of one GPU, and how that is called: machines number theirs alike.
_MACHINE, _GPU, _NAME = "env, instance", "env, instance, gpu", "{{instance}} {{gpu}}"
_NO_GPU = "No GPU is read here: run davylamp exporter where the GPUs are."
_pool_bytes = time_series(
    Said(
        "KV pools in bytes",
        "bytes",
        "Reserved, and used by the model's shape: the part of GPU memory that is the pool.",
        "No pool can be told as bytes: what is missing stands on the right.",
    ),
    [
        prometheus(
            f"sum by (target, node, state) ({of(gpu.KV_POOL_BYTES)})",
            "{{target}} {{node}} {{state}}",
        )
    ],
    Look(low=0),
)
_unattributed = table(
    Said(
        "Pools that cannot be told as bytes",
        "none",
        "Which, and why: without it, bytes on a GPU belong to nobody.",
        "Every pool that is read can be told as bytes, or no GPU is read.",
    ),
    [rows_of(f"max by (target, node, reason) ({of(gpu.KV_POOL_UNATTRIBUTED)}) == 1")],
)
_memory = time_series(
    Said(
        "GPU memory",
        "bytes",
        "Total, allocated, free and kept by the driver, by NVML. Allocated is not occupied.",
        _NO_GPU,
    ),
    [
        prometheus(f"max by ({_GPU}) ({of(metric)})", f"{_NAME} {word}")
        for metric, word in (
            (gpu.GPU_MEMORY_TOTAL, "total"),
            (gpu.GPU_MEMORY_USED, "allocated"),
            (gpu.GPU_MEMORY_FREE, "free"),
            (gpu.GPU_MEMORY_RESERVED, "driver"),
        )
    ],
    Look(low=0),
)
_busy = time_series(
    Said("GPU at work", "percentunit", "Shares of the last sample, 0 to 1.", _NO_GPU),
    [
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_UTILIZATION)})", f"{_NAME} kernels"),
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_MEMORY_UTILIZATION)})", f"{_NAME} memory"),
    ],
    Look(low=0, high=1),
)
_faults = time_series(
    Said(
        "GPU faults, a day",
        "short",
        "Memory errors and errors the driver reported, by kind and Xid.",
        _NO_GPU,
    ),
    [
        prometheus(
            f"sum by ({_GPU}, kind) (increase({of(gpu.GPU_ECC_ERRORS)}[1d]))",
            f"{_NAME} {{{{kind}}}}",
        ),
        prometheus(
            f"sum by ({_GPU}, code) (increase({of(gpu.GPU_XIDS)}[1d]))", f"{_NAME} Xid {{{{code}}}}"
        ),
    ],
    Look(low=0, bars=True),
)
_worn = table(
    Said(
        "Memory that was replaced or retired",
        "short",
        "Rows and pages by kind; pending and failed ones ask for a reset or a new card.",
        _NO_GPU,
    ),
    [
        rows_of(
            f"max by ({_GPU}, kind) ({of(gpu.GPU_REMAPPED_ROWS)}) "
            f"or max by ({_GPU}, kind) ({of(gpu.GPU_RETIRED_PAGES)})"
        )
    ],
)
_gpus = state_timeline(
    Said("GPUs that answer", "none", "Whether each GPU that was once seen answers.", _NO_GPU),
    [
        prometheus(f"min by ({_GPU}) ({of(gpu.GPU_UP)})", _NAME),
    ],
    Look(mappings=(values({0: ("lost", RED), 1: ("answers", GREEN)}),), palette=False),
)
_driver = table(
    Said(
        "The driver, and how each GPU answers",
        "none",
        "What holds now: why nothing is read stands here.",
        _NO_GPU,
    ),
    [
        rows_of(
            f"max by ({_MACHINE}, state) ({of(gpu.GPU_DRIVER_STATE)}) == 1 "
            f"or max by ({_GPU}, state) ({of(gpu.GPU_STATE)}) == 1"
        )
    ],
)
_codes = time_series(
    Said("Error codes of NVML", "none", "Of the driver and of each GPU; 0 is none.", _NO_GPU),
    [
        prometheus(
            f"max by ({_MACHINE}) ({of(gpu.GPU_DRIVER_ERROR)})", "{{env}} {{instance}} driver"
        ),
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_ERROR)})", _NAME),
    ],
    Look(low=0, stairs=True),
)
_unread = table(
    Said(
        "Quantities that cannot be read",
        "none",
        "What cannot be read is here, never a 0 elsewhere.",
        "Every quantity can be read, or no GPU is read.",
    ),
    [rows_of(f"max by ({_GPU}, kind, reason) ({of(gpu.GPU_UNREAD)}) == 1")],
)
_cards = table(
    Said("What each GPU is", "none", "Name and driver; the id is NVML's own.", _NO_GPU),
    [rows_of(f"max by ({_GPU}, name, driver, uuid) ({of(gpu.GPU_INFO)})")],
)
_processes = time_series(
    Said(
        "Memory by process",
        "bytes",
        "Of the processes of one name; few names, the rest is other.",
        _NO_GPU,
    ),
    [
        prometheus(
            f"sum by ({_GPU}, process) ({of(gpu.GPU_PROCESS_MEMORY)})", f"{_NAME} {{{{process}}}}"
        )
    ],
    Look(low=0, stacked=True),
)
_counts = time_series(
    Said(
        "Processes, and instances of divided GPUs", "short", "As far as NVML shows them.", _NO_GPU
    ),
    [
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_PROCESSES)})", f"{_NAME} processes"),
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_MIG_ENABLED)})", f"{_NAME} divided"),
        prometheus(f"max by ({_GPU}) ({of(gpu.GPU_MIG_DEVICES)})", f"{_NAME} instances"),
    ],
    Look(low=0, stairs=True),
)

_MIG_WHY = "No GPU is divided into instances (MIG), or none is read."
_mig = time_series(
    Said("Memory of instances", "bytes", "Of divided GPUs: total and allocated.", _MIG_WHY),
    [
        prometheus(f"sum by ({_GPU}) ({of(gpu.GPU_MIG_MEMORY_TOTAL)})", f"{_NAME} total"),
        prometheus(f"sum by ({_GPU}) ({of(gpu.GPU_MIG_MEMORY_USED)})", f"{_NAME} allocated"),
    ],
    Look(low=0),
)
_gpu_age = stat(
    Said("Age of the last reading of GPUs", "s", "Whatever came of it.", _NO_GPU),
    [now(f"time() - max by ({_MACHINE}) ({of(gpu.GPU_LAST_READ)} > 0)", "{{env}} {{instance}}")],
    Look(steps=((None, GREEN), (120, YELLOW), (600, RED))),
)


GPUS = Shelf(
    title="GPUs",
    panels=(
        *((12, 7, _pool_bytes), (12, 7, _unattributed)),
        *((12, 8, _memory), (12, 8, _busy)),
        *((10, 6, _gpus), (8, 6, _driver), (6, 6, _codes)),
        *((12, 7, _faults), (6, 7, _worn), (6, 7, _unread)),
        *((12, 7, _processes), (8, 7, _counts), (4, 7, _gpu_age)),
        *((12, 7, _cards), (12, 7, _mig)),
    ),
)
