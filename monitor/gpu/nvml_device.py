"""One GPU through NVML: every quantity asked for itself, so that one refusal costs only that one.

Calls and structures are those of the package ``nvidia-ml-py`` (module ``pynvml``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from monitor.conventions.gpu import EccKind, GpuState, Quantity, RemapKind, RetiredKind, Unread
from monitor.gpu import codes
from monitor.gpu.naming import ProcessNames, cleaned
from monitor.gpu.record import GpuMemory, GpuReading, MigInstance

T = TypeVar("T")

MOST_MIG = 64
MOST_PROCESSES = 512
_PERCENT = 100
_PROFILE = re.compile(r"MIG ([0-9][A-Za-z0-9.+]*)")
# Old drivers have no second version; a newer library may take another one.
_TRY_OLDER = frozenset({codes.FUNCTION_NOT_FOUND, codes.ARGUMENT_VERSION_MISMATCH})


class WholeGpuError(Exception):
    """NVML speaks of the GPU as a whole: lost, or waiting for a reset."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class NvmlDevice:
    """Reads one GPU once. ``nvml`` is the binding's module, ``handle`` what it calls the GPU."""

    def __init__(self, nvml: Any, handle: Any, names: ProcessNames) -> None:
        self._nvml = nvml
        self._handle = handle
        self._names = names
        self._unread: dict[Quantity, Unread] = {}
        self._memory_code = 0

    def read(self, gpu: str, uuid: str, name: str, silent: dict[Quantity, Unread]) -> GpuReading:
        """Return all that can be read; ``silent`` is what is known not to be, and why."""
        self._unread = dict(silent)
        try:
            reading = self._all(gpu, uuid, name)
        except WholeGpuError as whole:
            state = codes.gpu_state(whole.code)
            return GpuReading(gpu=gpu, state=state, error_code=whole.code, uuid=uuid, name=name)
        return reading

    def _all(self, gpu: str, uuid: str, name: str) -> GpuReading:
        memory = self._memory()
        rates = self._ask(Quantity.UTILIZATION, self._rates)
        counted, by_name = self._processes()
        enabled, instances = self._mig()
        failed = self._unread.get(Quantity.MEMORY) is Unread.FAILED
        return GpuReading(
            gpu=gpu,
            state=GpuState.FAILED if failed else GpuState.OK,
            error_code=self._memory_code if failed else 0,
            uuid=uuid,
            name=name,
            memory=memory or GpuMemory(),
            utilization=rates[0] if rates else None,
            memory_utilization=rates[1] if rates else None,
            ecc=self._ecc(),
            remapped_rows=self._ask(Quantity.REMAPPED_ROWS, self._remapped) or {},
            retired_pages=self._ask(Quantity.RETIRED_PAGES, self._retired) or {},
            mig_enabled=enabled,
            mig=instances,
            processes=counted,
            process_bytes=by_name,
            unread=dict(self._unread),
        )

    def _ask(self, quantity: Quantity, call: Callable[[], T]) -> T | None:
        """Return what a call gives, or note why it gives nothing."""
        answer, code = answered(self._nvml, call)
        if answer is None:
            if quantity is Quantity.MEMORY:
                self._memory_code = code
            self._unread[quantity] = codes.unread(code)
        return answer

    def _memory(self) -> GpuMemory | None:
        return self._ask(Quantity.MEMORY, lambda: memory_of(self._nvml, self._handle))

    def _rates(self) -> tuple[float, float]:
        rates = self._nvml.nvmlDeviceGetUtilizationRates(self._handle)
        return rates.gpu / _PERCENT, rates.memory / _PERCENT

    def _ecc(self) -> dict[EccKind, int]:
        kinds = {
            EccKind.CORRECTED: self._nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED,
            EccKind.UNCORRECTED: self._nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        }
        counts = {kind: self._ask(Quantity.ECC, self._total(code)) for kind, code in kinds.items()}
        return {kind: count for kind, count in counts.items() if count is not None}

    def _total(self, error_type: int) -> Callable[[], int]:
        volatile = self._nvml.NVML_VOLATILE_ECC
        ask = self._nvml.nvmlDeviceGetTotalEccErrors
        return lambda: int(ask(self._handle, error_type, volatile))

    def _remapped(self) -> dict[RemapKind, int]:
        kinds = (
            *(RemapKind.CORRECTABLE, RemapKind.UNCORRECTABLE),
            *(RemapKind.PENDING, RemapKind.FAILURE),
        )
        told = self._nvml.nvmlDeviceGetRemappedRows(self._handle)
        return {kind: int(count) for kind, count in zip(kinds, told, strict=True)}

    def _retired(self) -> dict[RetiredKind, int]:
        nvml = self._nvml
        causes = {
            RetiredKind.SINGLE_BIT: nvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
            RetiredKind.DOUBLE_BIT: nvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
        }
        ask = nvml.nvmlDeviceGetRetiredPages
        return {kind: len(ask(self._handle, cause)) for kind, cause in causes.items()}

    def _processes(self) -> tuple[int | None, dict[str, int]]:
        """Return how many there are, and the bytes of each name all of whose bytes are told."""
        found = self._ask(Quantity.PROCESSES, self._running)
        if found is None:
            return None, {}
        sums: dict[str, int] = {}
        untold = set()
        for number, each in enumerate(found):
            name = self._name_of(each.pid) if number < MOST_PROCESSES else self._names.bounded("")
            if each.usedGpuMemory is None:
                untold.add(name)
            else:
                sums[name] = sums.get(name, 0) + int(each.usedGpuMemory)
        if untold:
            self._unread[Quantity.PROCESSES] = Unread.NOT_SUPPORTED
        return len(found), {name: size for name, size in sums.items() if name not in untold}

    def _running(self) -> list[Any]:
        nvml = self._nvml
        newer, code = answered(
            nvml, lambda: nvml.nvmlDeviceGetComputeRunningProcesses_v3(self._handle)
        )
        if newer is None and code in _TRY_OLDER:
            return list(nvml.nvmlDeviceGetComputeRunningProcesses_v2(self._handle))
        if newer is None:
            raise nvml.NVMLError(code)
        return list(newer)

    def _name_of(self, pid: int) -> str:
        told, _ = answered(self._nvml, lambda: self._nvml.nvmlSystemGetProcessName(pid))
        return self._names.bounded(told or "")

    def _mig(self) -> tuple[bool | None, tuple[MigInstance, ...]]:
        nvml, handle = self._nvml, self._handle
        mode = self._ask(Quantity.MIG, lambda: nvml.nvmlDeviceGetMigMode(handle))
        if mode is None:
            return None, ()
        if mode[0] != nvml.NVML_DEVICE_MIG_ENABLE:
            return False, ()
        most = self._ask(Quantity.MIG, lambda: int(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)))
        return True, tuple(self._instances(min(most or 0, MOST_MIG)))

    def _instances(self, most: int) -> Iterator[MigInstance]:
        nvml = self._nvml
        for index in range(most):
            handle, code = answered(nvml, self._instance(index))
            if handle is None:
                if code != codes.NOT_FOUND:
                    self._unread[Quantity.MIG] = codes.unread(code)
                continue
            name, memory = self._about(handle)
            told = _PROFILE.search(cleaned(name or ""))
            yield MigInstance(
                instance=str(index),
                profile=told[1] if told else "",
                memory=memory or GpuMemory(),
            )

    def _about(self, handle: Any) -> tuple[str | None, GpuMemory | None]:
        name, _ = answered(self._nvml, lambda: self._nvml.nvmlDeviceGetName(handle))
        memory, _ = answered(self._nvml, lambda: memory_of(self._nvml, handle))
        return name, memory

    def _instance(self, index: int) -> Callable[[], Any]:
        return lambda: self._nvml.nvmlDeviceGetMigDeviceHandleByIndex(self._handle, index)


def memory_of(nvml: Any, handle: Any) -> GpuMemory:
    """Return the memory of a GPU, by the newer structure if the driver has it.

    The older one counts what the driver reserves as used, and does not tell it apart.
    """
    newer, code = answered(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle, nvml.nvmlMemory_v2))
    if newer is not None:
        return GpuMemory(
            total=newer.total, used=newer.used, free=newer.free, reserved=newer.reserved
        )
    if code not in _TRY_OLDER:
        raise nvml.NVMLError(code)
    older = nvml.nvmlDeviceGetMemoryInfo(handle)
    return GpuMemory(total=older.total, used=older.used, free=older.free)


def answered(nvml: Any, call: Callable[[], T]) -> tuple[T | None, int]:
    """Return what a call gives and 0, or ``None`` and the code it was refused with.

    Raises ``WholeGpuError`` where the code speaks of the GPU as a whole.
    """
    try:
        return call(), 0
    except nvml.NVMLError as error:
        code = int(error.value)
    except UnicodeDecodeError:
        return None, codes.UNREADABLE
    if code in codes.WHOLE:
        raise WholeGpuError(code)
    return None, code
