"""The parent's side of one worker process: start it, ask it, kill it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

from monitor.model import Measurement
from monitor.scoring.base import Asked, Kinds, ScoringSettings
from monitor.scoring.frames import Line, asked_as_json, measured_from_json

# All of the environment that the worker gets: it reads hostile text and needs no credential.
_KEPT_ENVIRONMENT = (
    *("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV"),
    *("LANG", "LC_ALL", "LC_CTYPE", "TZ"),
)
# Models are on disk or missing, never downloaded; one thread a library unless an instrument says
# more; and few arenas, for glibc gives each thread one and gives little of them back.
_SET_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
_REAPING_SECONDS = 5.0
# After so many calls everything is loaded that will be.
SETTLED_AFTER = 16
GROWTH = 1.5


class WorkerFailedError(Exception):
    """The worker did not answer; the message says how, in our own words."""


class WorkerProcess:
    """A fresh interpreter with the instruments, never a fork: the embedded store hangs in a fork.

    ``answered`` counts its calls, ``resident_bytes`` is what it held after the last one. After a
    ``WorkerFailedError`` only ``kill`` is left.
    """

    def __init__(self, settings: ScoringSettings, kinds: Kinds) -> None:
        self.resident_bytes = 0
        self.answered = 0
        self._settled_bytes = 0
        self._settings = {
            code: {"module": kinds[code].module, "build": kinds[code].build, "settings": dict(each)}
            for code, each in settings.instruments.items()
        }
        ours, theirs = socket.socketpair()
        self._line = Line(ours)
        with theirs:
            try:
                self._process = _start(theirs.fileno())
            except OSError as error:
                self._line.close()
                raise WorkerFailedError(f"could not be started ({type(error).__name__})") from error

    def measure(self, asked: Sequence[Asked], *, seconds: float) -> list[Measurement]:
        """Return one measurement for each answer. Raises ``WorkerFailedError``."""
        try:
            if not self.answered:
                self._line.send(self._settings, seconds=seconds)
            self._line.send({"asked": asked_as_json(asked)}, seconds=seconds)
            reply = self._line.receive(seconds=seconds)
        except TimeoutError:
            raise WorkerFailedError(f"did not answer within {seconds:g} s") from None
        except EOFError:
            raise WorkerFailedError(f"died ({self._how_it_died()})") from None
        except ValueError:
            raise WorkerFailedError("answered what is no JSON") from None
        if "died" in reply:
            raise WorkerFailedError(f"died ({reply['died']})")
        try:
            measured = measured_from_json(reply["measured"])
            self.resident_bytes = int(reply["bytes"])
        except (KeyError, TypeError, ValueError):
            raise WorkerFailedError("answered what is no measurement") from None
        if len(measured) != len(asked):
            raise WorkerFailedError("measured more or fewer answers than it was asked to")
        self.answered += 1
        if self.answered == SETTLED_AFTER:
            self._settled_bytes = self.resident_bytes
        return measured

    def has_outgrown(self, most_bytes: int) -> bool:
        """Tell whether it holds more than this, and half more than when it had settled.

        One whose models alone take more is not to be started again and again.
        """
        limit = max(most_bytes, GROWTH * self._settled_bytes)
        return bool(self._settled_bytes) and self.resident_bytes > limit

    def kill(self) -> None:
        """End the process at once and reap it; more than once is the same as once."""
        self._process.kill()
        self._process.wait()
        self._line.close()

    def _how_it_died(self) -> str:
        try:
            code = self._process.wait(timeout=_REAPING_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its line"
        return signal.Signals(-code).name if code < 0 else f"exit {code}"


def _start(end: int) -> subprocess.Popen[bytes]:
    """Start the worker's own side with this end of the line."""
    module = (sys.executable, "-P", "-m", "monitor.scoring.child")
    return subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
        [*module, str(end), str(os.getpid())],
        pass_fds=(end,),
        env=_environment(),
        stdin=subprocess.DEVNULL,
        # Libraries' warnings may quote an answer.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    # What can be imported here can be imported there.
    path = os.pathsep.join(os.path.abspath(each) for each in sys.path)  # noqa: PTH100 - "" is here
    return kept | _SET_ENVIRONMENT | {"PYTHONPATH": path}
