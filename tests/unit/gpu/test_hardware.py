"""Whether the kernel shows a GPU of NVIDIA: by its PCI bus, and by what a driver made."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.gpu.hardware import has_gpu


def device(pci: Path, vendor: str, kind: str) -> None:
    folder = pci / f"0000:00:{len(list(pci.iterdir())):02x}.0"
    folder.mkdir()
    (folder / "vendor").write_text(f"{vendor}\n", "ascii")
    (folder / "class").write_text(f"{kind}\n", "ascii")


@pytest.fixture
def pci(tmp_path: Path) -> Path:
    (tmp_path / "pci").mkdir()
    (tmp_path / "dev").mkdir()
    device(tmp_path / "pci", "0x8086", "0x060000")
    return tmp_path / "pci"


@pytest.mark.parametrize(
    ("vendor", "kind", "there"),
    [
        ("0x10de", "0x030200", True),
        ("0x10de", "0x030000", True),
        ("0x10de", "0x040300", False),
        ("0x10de", "0x068000", False),
        ("0x1002", "0x030000", False),
    ],
)
def test_a_display_controller_of_nvidia_is_one(
    pci: Path, vendor: str, kind: str, there: bool
) -> None:
    device(pci, vendor, kind)
    assert has_gpu(pci, pci.parent / "dev") is there


@pytest.mark.parametrize("name", ["nvidia0", "nvidiactl", "nvidia-uvm", "dxg"])
def test_what_a_driver_made_shows_one(pci: Path, name: str) -> None:
    (pci.parent / "dev" / name).touch()
    assert has_gpu(pci, pci.parent / "dev") is True


def test_without_a_bus_or_with_one_that_cannot_be_read_it_is_not_known(pci: Path) -> None:
    devices = pci.parent / "dev"
    assert has_gpu(pci.parent / "none", devices) is None
    empty = pci.parent / "empty"
    empty.mkdir()
    assert has_gpu(empty, devices) is None
    (pci / "0000:00:00.0" / "class").write_text("odd", "ascii")
    assert has_gpu(pci, devices) is None
    (pci / "0000:00:00.0" / "class").unlink()
    assert has_gpu(pci, devices) is None
