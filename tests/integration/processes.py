"""Start labs, the daemon and hostile servers as processes, run the command, and end them all."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import yaml

from monitor.reports.check import CheckReport, TargetReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

COMMAND = str(Path(sys.executable).parent / "davylamp")
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 30.0
COMMAND_SECONDS = 120.0
LABS_AT_ONCE = 10  # each is a process
_POLL_SECONDS = 0.05
_PEAK_SECONDS = 0.02
TARGET = "lab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Something to point a target at: where it answers and with which keys."""

    url: str
    model: str
    keys: dict[str, str]
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the command: its exit, what it printed, and how long and how large it was."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    peak_bytes: int

    @property
    def report(self) -> CheckReport:
        """The report of ``check --json -``, validated against its contract."""
        return CheckReport.model_validate_json(self.stdout)

    @property
    def target(self) -> TargetReport:
        """The report of the only target."""
        (only,) = self.report.targets
        return only

    @property
    def targets(self) -> dict[str, TargetReport]:
        """The reports of all targets by name."""
        return {target.target: target for target in self.report.targets}

    @property
    def output(self) -> str:
        """What was said, shortly, for the message of a failed assertion."""
        if not self.stdout.startswith("{"):
            return f"exit {self.exit_code}\n{self.stdout}\n{self.stderr}"
        lines = [f"exit {self.exit_code}", self.stderr]
        for target in self.report.targets:
            lines.append(f"{target.target} {target.exit_code} {target.http} {target.answers}")
            lines += [f"  {f.verdict_class} {f.probe} {f.stratum}: {f.words}" for f in target.found]
            lines += [f"  not probed {n.probe} {n.stratum}: {n.reason}" for n in target.not_probed]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A folder with a configuration, keys and a store of its own."""

    folder: Path
    settings: dict[str, Any] = field(repr=False)

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "davylamp.yaml"

    @property
    def store(self) -> Path:
        """The store's folder."""
        return self.folder / "store"

    def write(self) -> Installation:
        """Write the configuration again after a change of ``settings``."""
        plain = json.loads(json.dumps(self.settings))  # no value twice: YAML would make it an alias
        text = yaml.safe_dump(plain, sort_keys=False)
        self.config.write_text(text, encoding="utf-8")
        return self

    def davylamp(self, *arguments: str) -> Run:
        """Run a verb with this configuration."""
        return davylamp(*arguments, "--config", str(self.config))

    def check(self, *arguments: str) -> Run:
        """Run ``check`` with its report as JSON on stdout."""
        return self.davylamp("check", "--json", "-", *arguments)

    def contents(self) -> dict[str, list[list[Any]]]:
        """Return every row of every table of the store, read by a process of its own."""
        reading = [sys.executable, "-m", "tests.integration.dump", str(self.store)]
        done = subprocess.run(
            reading, capture_output=True, timeout=COMMAND_SECONDS, cwd=ROOT, check=True
        )
        rows: dict[str, list[list[Any]]] = json.loads(done.stdout)
        return rows

    def store_bytes(self) -> bytes:
        """Return every byte of the store's files."""
        files = sorted(file for file in self.store.rglob("*") if file.is_file())
        return b"\n".join(file.read_bytes() for file in files)


def davylamp(*arguments: str) -> Run:
    """Run the command to its end, or kill it at its deadline."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        running = subprocess.Popen(
            [COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd="/",
            env=_environment(),
        )
        deadline = threading.Timer(COMMAND_SECONDS, running.kill)
        deadline.start()
        peak = 0
        try:
            while running.poll() is None:
                peak = max(peak, _peak_bytes(running.pid))
                time.sleep(_PEAK_SECONDS)
        finally:
            deadline.cancel()
            if running.returncode is None:
                running.kill()
                running.wait()
        return Run(
            exit_code=running.returncode,
            stdout=_read(out),
            stderr=_read(err),
            seconds=time.monotonic() - started,
            peak_bytes=peak,
        )


def _peak_bytes(pid: int) -> int:
    """Return the most memory a process had resident; 0 once it has ended.

    What its parent learns at the end will not do: that starts with the parent's own memory.
    """
    with contextlib.suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return 0


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")


def install(folder: Path, endpoint: Endpoint, **target: Any) -> Installation:
    """Write keys and a configuration with one target for ``endpoint``; ``target`` adds to it."""
    folder.mkdir(parents=True, exist_ok=True)
    tenants = []
    for name, key in endpoint.keys.items():
        file = folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_text(key, encoding="ascii")
        tenants.append({"name": name, "api_key_file": str(file)})
    entry: dict[str, Any] = {
        "name": TARGET,
        "engine": "openai",
        "base_url": endpoint.url,
        "model": endpoint.model,
        "tenants": tenants,
        "probes": "quick",
        "gentle": False,  # a lab serves no users
    }
    if endpoint.context_tokens is not None:
        entry["context_tokens"] = endpoint.context_tokens
    settings = {
        "version": 1,
        "environment": "testing",
        "storage": {"path": str(folder / "store"), "sql": {"enabled": False}},  # no second port
        "targets": [entry | target],
    }
    return Installation(folder=folder, settings=settings).write()


def install_all(folder: Path, endpoints: Mapping[str, Endpoint], **targets: Any) -> Installation:
    """Write one configuration with a target for each endpoint; ``targets`` adds to each by name."""
    entries = []
    for name, endpoint in endpoints.items():
        more = targets.get(name, {})
        single = install(folder / name, endpoint, name=name, **more)
        entries += single.settings["targets"]
    every = Installation(folder=folder, settings=single.settings)
    every.settings["targets"] = entries
    every.settings["storage"]["path"] = str(every.store)
    return every.write()


def check_all(
    folder: Path, targets: Mapping[str, tuple[Sequence[str], Mapping[str, Any]]]
) -> dict[str, TargetReport]:
    """Check a lab for each name, given its arguments and what its target adds, a few at a time."""
    reports: dict[str, TargetReport] = {}
    names = list(targets)
    for start in range(0, len(names), LABS_AT_ONCE):
        some = {name: targets[name] for name in names[start : start + LABS_AT_ONCE]}
        with labs({name: arguments for name, (arguments, _) in some.items()}) as endpoints:
            more = {name: added for name, (_, added) in some.items()}
            run = install_all(folder / str(start), endpoints, **more).check()
        assert run.stdout.startswith("{"), run.output
        reports |= run.targets
    return reports


@contextlib.contextmanager
def lab(*arguments: str, seed: int = 7) -> Iterator[Endpoint]:
    """Serve a lab while entered."""
    with labs({"lab": ["--seed", str(seed), *arguments]}) as endpoints:
        yield endpoints["lab"]


@contextlib.contextmanager
def labs(arguments: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Endpoint]]:
    """Serve a lab for each name while entered, all started at once."""
    command = [sys.executable, "-m", "monitor.lab", "--port", "0", "--seed", "7"]
    with contextlib.ExitStack() as stack:
        started = {
            name: stack.enter_context(process([*command, *more]))
            for name, more in arguments.items()
        }
        yield {name: announced(each) for name, each in started.items()}


def announced(started: subprocess.Popen[str]) -> Endpoint:
    """Return what a lab says of itself once it is ready."""
    ready = json.loads(first_line(started))
    return Endpoint(
        url=ready["url"],
        model=ready["model"],
        keys=ready["keys"],
        context_tokens=ready["context_tokens"],
    )


def fault(*names: str, **parameters: object) -> list[str]:
    """Return the lab's arguments that switch faults on, with parameters of the first."""
    arguments = [part for name in names for part in ("--fault", name)]
    for key, value in parameters.items():
        arguments += ["--set", f"{names[0]}.{key}={value}"]
    return arguments


@contextlib.contextmanager
def process(command: Sequence[str], stderr: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run a process while entered; it is stopped, if need be killed, whatever happens."""
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(stderr.open("w")) if stderr else subprocess.DEVNULL
        started = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=sink, text=True, cwd=ROOT, env=_environment()
        )
        try:
            yield started
        finally:
            _end(started)


def _end(started: subprocess.Popen[str]) -> None:
    started.terminate()
    try:
        started.wait(timeout=5)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait(timeout=5)
    if started.stdout:
        started.stdout.close()


def first_line(started: subprocess.Popen[str]) -> str:
    """Return the first line a process prints. Raises ``TimeoutError`` if none comes."""
    assert started.stdout
    # Not select(): it takes descriptors below 1,024, and the engine keeps three for each thread.
    waiting = select.poll()
    waiting.register(started.stdout, select.POLLIN)
    line = started.stdout.readline() if waiting.poll(START_SECONDS * 1000) else ""
    if not line:
        msg = f"{started.args!r} printed nothing (exit {started.poll()})"
        raise TimeoutError(msg)
    return line


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def resident_bytes(pid: int) -> int:
    """Return the memory a process has resident."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def wait_until(question: Callable[[], Any], seconds: float, what: str) -> Any:
    """Ask until the answer is true, and return it. Raises ``TimeoutError`` at the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := question():
            return answer
        time.sleep(_POLL_SECONDS)
    msg = f"not within {seconds:.0f} s: {what}"
    raise TimeoutError(msg)


def _environment() -> dict[str, str]:
    """Return an environment without anybody's settings, proxies or terminal."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH", "COVERAGE_PROCESS_START")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"TERM": "dumb"}
