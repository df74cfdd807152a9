"""A stub of the NVIDIA driver's library: compiled once for each set of flags, and told what to say.

The real binding loads it by its name through ``LD_LIBRARY_PATH``. Since the binding keeps what it
loaded for the life of a process, every case runs in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "stub.c"
LIBRARY = "libnvidia-ml.so.1"
ROOT = Path(__file__).resolve().parents[3]
RUN_SECONDS = 60


def build(folder: Path, *flags: str) -> Path:
    """Return a folder that holds the library, compiled with these flags."""
    named = hashlib.sha256(" ".join(flags).encode()).hexdigest()[:12]
    there = folder / f"nvml-{named}"
    if not (there / LIBRARY).exists():
        there.mkdir(parents=True, exist_ok=True)
        command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
        command += [f"-Wl,-soname,{LIBRARY}", *flags, "-o", str(there / LIBRARY), str(SOURCE)]
        subprocess.run(command, check=True, capture_output=True, timeout=RUN_SECONDS)
    return there


def none(folder: Path) -> Path:
    """Return a folder whose library is none; it also hides a real one of this machine."""
    there = folder / "nvml-none"
    there.mkdir(exist_ok=True)
    (there / LIBRARY).write_bytes(b"no library at all")
    return there


def environment(library: Path, told: Path) -> dict[str, str]:
    """Return the variables of a process that loads a library, which reads a file."""
    return {**os.environ, "LD_LIBRARY_PATH": str(library), "STUB_NVML": str(told)}


def say(file: Path, **settings: int) -> Path:
    """Write what the library says from now on: codes and figures by key, see ``stub.c``."""
    draft = file.with_suffix(".draft")
    draft.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), "ascii")
    draft.replace(file)
    return file


def readings(
    library: Path,
    told: Path,
    *steps: dict[str, int],
    listens: int = 0,
    expected: bool = False,
    shown: bool | None = None,
) -> list[dict[str, Any]]:
    """Return what ``NvmlSource`` reads, step by step, each after the library was told anew.

    It listens so many times before each reading, and hears one Xid each time, if there is one.
    ``expected`` says that there must be GPUs, ``shown`` whether the kernel shows one.
    """
    asked = json.dumps(
        {
            "told": str(told),
            "steps": list(steps),
            "listens": listens,
            "expected": expected,
            "shown": shown,
        }
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.nvml.child"],
        input=asked,
        env=environment(library, told),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
