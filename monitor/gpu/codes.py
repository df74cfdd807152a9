"""What the codes of NVML mean to us.

Numbers and names: https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html
"""

from __future__ import annotations

from monitor.conventions.gpu import DriverState, GpuState, Unread

NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
DRIVER_NOT_LOADED = 9
TIMEOUT = 10
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIB_RM_VERSION_MISMATCH = 18
ARGUMENT_VERSION_MISMATCH = 25
GPU_NOT_FOUND = 28
# Ours, beyond those of NVML: a name that is not text.
UNREADABLE = -1

_DRIVER = {
    NO_PERMISSION: DriverState.NO_PERMISSION,
    DRIVER_NOT_LOADED: DriverState.NO_DRIVER,
    LIBRARY_NOT_FOUND: DriverState.NO_LIBRARY,
    FUNCTION_NOT_FOUND: DriverState.SYMBOL_MISSING,
    LIB_RM_VERSION_MISMATCH: DriverState.VERSION_MISMATCH,
    ARGUMENT_VERSION_MISMATCH: DriverState.VERSION_MISMATCH,
}
_GPU = {
    NO_PERMISSION: GpuState.NO_PERMISSION,
    GPU_IS_LOST: GpuState.LOST,
    GPU_NOT_FOUND: GpuState.LOST,
    RESET_REQUIRED: GpuState.RESET_REQUIRED,
}
_UNREAD = {
    NOT_SUPPORTED: Unread.NOT_SUPPORTED,
    NO_PERMISSION: Unread.NO_PERMISSION,
    FUNCTION_NOT_FOUND: Unread.SYMBOL_MISSING,
    LIB_RM_VERSION_MISMATCH: Unread.VERSION_MISMATCH,
    ARGUMENT_VERSION_MISMATCH: Unread.VERSION_MISMATCH,
}
WHOLE = frozenset({GPU_IS_LOST, GPU_NOT_FOUND, RESET_REQUIRED})
"""Codes that speak of a GPU as a whole, whatever was asked of it."""


def driver_state(code: int) -> DriverState:
    """Return what a code means that NVML gave as a whole; ``failed`` for any other."""
    return _DRIVER.get(code, DriverState.FAILED)


def gpu_state(code: int) -> GpuState:
    """Return what a code means of a GPU as a whole; ``failed`` for any other."""
    return _GPU.get(code, GpuState.FAILED)


def unread(code: int) -> Unread:
    """Return why one quantity was not read; ``failed`` for any other code."""
    return _UNREAD.get(code, Unread.FAILED)
