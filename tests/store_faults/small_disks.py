"""A disk that is really small."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a disk of some kilobytes at a folder that is made for it."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=700", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(
            "this test mounts a small disk, so it must be root, here or in a namespace of its own: "
            f"unshare -rm make test-store ({done.stderr.strip()})"
        )
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def bytes_left(disk: Path) -> int:
    """Return how much room there is."""
    room = os.statvfs(disk)
    return room.f_bavail * room.f_frsize
