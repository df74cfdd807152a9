"""The page of NVIDIA's ``dcgm-exporter`` as the same record that NVML gives.

Fields and units: https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv
(framebuffer in MiB, utilisation in percent). A field DCGM has no value for is exported as one of
its blank values, a huge number, and absent here:
https://github.com/NVIDIA/DCGM/blob/master/dcgmlib/dcgm_structs.h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client.parser import text_string_to_metric_families

from monitor.conventions.gpu import (
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    RetiredKind,
    Unread,
)
from monitor.gpu.naming import cleaned
from monitor.gpu.record import GpuMemory, GpuReading, GpusReading, MigInstance

MOST_LINES = 50_000
MOST_LINE_CHARS = 8_192
MOST_GPUS = 64
MOST_MIG = 64
_MIB = 1_048_576
_PERCENT = 100
_BLANK_INT32 = range(0x7FFF_FFF0, 0x8000_0000)
_LEAST_BLANK = 2.0**47
_PREFIX = "DCGM_FI_"
_FB = {
    "DCGM_FI_DEV_FB_TOTAL": "total",
    "DCGM_FI_DEV_FB_USED": "used",
    "DCGM_FI_DEV_FB_FREE": "free",
    "DCGM_FI_DEV_FB_RESERVED": "reserved",
}
_ECC = {
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": EccKind.CORRECTED,
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": EccKind.UNCORRECTED,
}
_ROWS = {
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": RemapKind.CORRECTABLE,
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": RemapKind.UNCORRECTABLE,
    "DCGM_FI_DEV_ROW_REMAP_PENDING": RemapKind.PENDING,
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": RemapKind.FAILURE,
}
_PAGES = {
    "DCGM_FI_DEV_RETIRED_SBE": RetiredKind.SINGLE_BIT,
    "DCGM_FI_DEV_RETIRED_DBE": RetiredKind.DOUBLE_BIT,
}
_UTILIZATION, _MEMORY_UTILIZATION = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL"
_PERCENTS = frozenset({_UTILIZATION, _MEMORY_UTILIZATION})
_XID, _MIG_MODE = "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_MIG_MODE"
_FIELDS = frozenset({*_FB, *_ECC, *_ROWS, *_PAGES, *_PERCENTS, _XID, _MIG_MODE})
# Of one GPU each has one value.
_IDENTITY = ("uuid", "hostname")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value of one field. ``instance`` is empty but for a part of a divided GPU."""

    name: str
    gpu: str
    value: float
    instance: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class _Found:
    """What was found of one GPU."""

    labels: dict[str, str] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    instances: dict[str, dict[str, float]] = field(default_factory=dict)
    profiles: dict[str, str] = field(default_factory=dict)


def samples_of(page: str) -> Iterator[Sample]:
    """Yield the fields we know of a page; lines that cannot be read, or mean nothing, are not."""
    for number, line in enumerate(page.splitlines()):
        if number >= MOST_LINES:
            return
        if line.startswith(_PREFIX) and len(line) <= MOST_LINE_CHARS:
            sample = _sample(line)
            if sample is not None:
                yield sample


def _sample(line: str) -> Sample | None:
    try:
        found = [s for family in text_string_to_metric_families(line) for s in family.samples]
    except (ValueError, IndexError, KeyError):
        return None
    if len(found) != 1:
        return None
    [only] = found
    labels = {key.lower(): text for key, text in only.labels.items()}
    gpu, value = labels.get("gpu", ""), float(only.value)
    most = _PERCENT if only.name in _PERCENTS else math.nextafter(_LEAST_BLANK, 0)
    usable = math.isfinite(value) and 0 <= value <= most and value not in _BLANK_INT32
    if only.name not in _FIELDS or not usable or not _is_index(gpu):
        return None
    return Sample(
        name=only.name,
        gpu=str(int(gpu)),
        value=value,
        instance=_short(labels.get("gpu_i_id", "")),
        labels=labels,
    )


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4  # noqa: PLR2004 - digits


def _short(text: str) -> str:
    return cleaned(text)[:16]


def reading_of(page: str, at: datetime) -> tuple[GpusReading, Mapping[str, int]]:
    """Return what a page says, and the last Xid of each GPU that tells it; 0 is none so far.

    A page without a field we know of a GPU is a failure: it is no page of DCGM. So is one that has
    GPUs of several machines under one index, whose figures nobody can tell apart, and one of more
    GPUs than a machine has, of which only the first are read.
    """
    found: dict[str, _Found] = {}
    why = ""
    driver = ""
    for sample in samples_of(page):
        if sample.gpu not in found and len(found) >= MOST_GPUS:
            why = f"its page names more than {MOST_GPUS} GPUs"
            continue
        of = found.setdefault(sample.gpu, _Found())
        if _is_another(of, sample):
            why = f"its page has two GPUs {sample.gpu}: is it of several machines?"
            return GpusReading(read_at=at, driver_state=DriverState.FAILED, why=why), {}
        of.labels |= {key: text for key, text in sample.labels.items() if text}
        driver = driver or cleaned(sample.labels.get("dcgm_fi_driver_version", ""))
        _note(of, sample)
    why = why if found else "its page names no GPU"
    gpus = tuple(_gpu(gpu, found[gpu]) for gpu in sorted(found, key=int))
    state = DriverState.FAILED if why else DriverState.OK
    reading = GpusReading(read_at=at, driver_state=state, why=why, driver=driver, gpus=gpus)
    last = {gpu: int(each.values[_XID]) for gpu, each in found.items() if _XID in each.values}
    return reading, last


def _is_another(of: _Found, sample: Sample) -> bool:
    """Tell whether a sample is of another GPU than those before it under the same index."""
    pairs = [(of.labels.get(key), sample.labels.get(key)) for key in _IDENTITY]
    return any(one and other and one != other for one, other in pairs)


def _note(of: _Found, sample: Sample) -> None:
    if sample.name == _XID:
        of.values[_XID] = max(of.values.get(_XID, 0.0), sample.value)
    elif not sample.instance:
        of.values[sample.name] = sample.value
    elif sample.instance in of.instances or len(of.instances) < MOST_MIG:
        of.instances.setdefault(sample.instance, {})[sample.name] = sample.value
        of.profiles[sample.instance] = _short(sample.labels.get("gpu_i_profile", ""))


def _gpu(gpu: str, of: _Found) -> GpuReading:
    values = of.values
    memory = _memory(values)
    ecc = {kind: int(values[name]) for name, kind in _ECC.items() if name in values}
    rows = {kind: int(values[name]) for name, kind in _ROWS.items() if name in values}
    pages = {kind: int(values[name]) for name, kind in _PAGES.items() if name in values}
    read = {
        Quantity.MEMORY: memory.used is not None or bool(of.instances),
        Quantity.UTILIZATION: _UTILIZATION in values,
        Quantity.ECC: len(ecc) == len(_ECC),
        Quantity.REMAPPED_ROWS: bool(rows),
        Quantity.RETIRED_PAGES: bool(pages),
        Quantity.XID: _XID in values,
        Quantity.MIG: bool(of.instances) or _MIG_MODE in values,
        Quantity.PROCESSES: False,
    }
    return GpuReading(
        gpu=gpu,
        state=GpuState.OK,
        uuid=cleaned(of.labels.get("uuid", "")),
        name=cleaned(of.labels.get("modelname", "")),
        memory=memory,
        utilization=_ratio(values.get(_UTILIZATION)),
        memory_utilization=_ratio(values.get(_MEMORY_UTILIZATION)),
        ecc=ecc,
        remapped_rows=rows,
        retired_pages=pages,
        mig_enabled=_divided(of),
        mig=tuple(_instance(name, of) for name in sorted(of.instances)),
        unread={each: Unread.NOT_EXPORTED for each, there in read.items() if not there},
    )


def _divided(of: _Found) -> bool | None:
    if of.instances:
        return True
    return of.values[_MIG_MODE] == 1 if _MIG_MODE in of.values else None


def _instance(name: str, of: _Found) -> MigInstance:
    memory = _memory(of.instances[name])
    return MigInstance(instance=name, profile=of.profiles[name], memory=memory)


def _memory(values: Mapping[str, float]) -> GpuMemory:
    """Return bytes; the total is the sum of its parts where it is not exported."""
    told = {part: int(values[name] * _MIB) for name, part in _FB.items() if name in values}
    if "total" not in told and {"used", "free"} <= told.keys():
        told["total"] = sum(told.values())
    return GpuMemory(**told)


def _ratio(percent: float | None) -> float | None:
    return None if percent is None else percent / _PERCENT
