"""Whether a machine has a GPU of NVIDIA at all, by what its kernel shows, without any driver."""

from __future__ import annotations

from pathlib import Path

_PCI = Path("/sys/bus/pci/devices")
_DEVICES = Path("/dev")
_VENDOR = 0x10DE
# Display controllers: also "3D controllers", which the cards of servers are.
_DISPLAY, _CLASS_BITS = 0x03, 16
# What a driver makes, or passes on: the first of Linux, the second of a Windows host.
_MADE = ("nvidia*", "dxg")


def has_gpu(pci: Path = _PCI, devices: Path = _DEVICES) -> bool | None:
    """Return whether there is one; ``None`` where the kernel does not show its PCI bus."""
    if any(any(devices.glob(pattern)) for pattern in _MADE):
        return True
    try:
        found = [_is_gpu(each) for each in pci.iterdir()]
    except (OSError, ValueError):
        return None
    return any(found) if found else None


def _is_gpu(device: Path) -> bool:
    """Raises ``OSError`` or ``ValueError`` for what cannot be read as a device."""
    vendor = int((device / "vendor").read_text("ascii"), 16)
    kind = int((device / "class").read_text("ascii"), 16)
    return vendor == _VENDOR and kind >> _CLASS_BITS == _DISPLAY
