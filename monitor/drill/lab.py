"""The lab as a process: its list of faults, one lab for one run, and what it knows afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from monitor.errors import DavylampError

START_SECONDS = 30.0
STOP_SECONDS = 30.0
_LONGEST_LINE = 64 * 1024 * 1024
_ANSWERS = "answers"
_COMMAND = (sys.executable, "-m", "monitor.lab")


class LabError(DavylampError):
    """A lab did not start, or did not tell at its end what it did."""


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


Said = TypeVar("Said", bound=_Said)


class Mechanism(_Said):
    """A fault or null as the lab lists it; ``shown_by`` says where it is seen."""

    name: str
    null: bool
    sentence: str
    shown_by: str = _ANSWERS
    deterministic: bool


class Announcement(_Said):
    """Where a lab answers, and its tenants' keys."""

    url: str
    model: str
    context_tokens: int
    keys: dict[str, str]


class Exposure(_Said):
    """How often one mechanism could strike (``exposed``, at ``rate``), and how often it did."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)
    rate: float
    exposed: int
    struck: int


class Truth(_Said):
    """What a lab did: its mechanisms, and for each answer with foreign text who had written it."""

    mechanisms: tuple[Exposure, ...] = ()
    foreign: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    requests: int = 0

    def exposure(self, name: str) -> Exposure:
        """Return the exposure of one mechanism; nothing of one that was not on."""
        nothing = Exposure(name=name, rate=0.0, exposed=0, struck=0)
        return next((each for each in self.mechanisms if each.name == name), nothing)


class Lab:
    """A lab that runs."""

    def __init__(self, process: asyncio.subprocess.Process, ready: Announcement) -> None:
        self._process = process
        self.ready = ready

    async def stop(self) -> Truth:
        """End the lab and return what it did. Raises ``LabError`` if it does not tell."""
        if self._process.returncode is not None:
            msg = f"the lab ended early (exit {self._process.returncode})"
            raise LabError(msg)
        self._process.terminate()
        line = await _line(self._process, STOP_SECONDS)
        return _parsed(Truth, line, "did not tell what it did")


@contextlib.asynccontextmanager
async def started_lab(arguments: Sequence[str]) -> AsyncIterator[Lab]:
    """Start a lab on a free port; it is gone at the end, whatever happens.

    Raises ``LabError`` if it does not start.
    """
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        "--port",
        "0",
        *arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        limit=_LONGEST_LINE,
    )
    try:
        line = await _line(process, START_SECONDS)
        yield Lab(process, _parsed(Announcement, line, "did not start"))
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()


def mechanisms() -> tuple[Mechanism, ...]:
    """Return every fault and null of the lab that answers show, not those of its nodes' pages.

    Raises ``LabError`` if it does not list them.
    """
    try:
        listed = subprocess.run(  # noqa: S603 - our own program
            [*_COMMAND, "--list-faults", "--json"],
            stdout=subprocess.PIPE,
            timeout=START_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError("the lab did not list its faults in time") from error
    try:
        found = TypeAdapter(list[Mechanism]).validate_json(listed.stdout)
    except ValidationError as error:
        msg = f"the lab did not list its faults (exit {listed.returncode})"
        raise LabError(msg) from error
    return tuple(each for each in found if each.shown_by == _ANSWERS)


async def _line(process: asyncio.subprocess.Process, seconds: float) -> bytes:
    if process.stdout is None:
        return b""
    try:
        return await asyncio.wait_for(process.stdout.readline(), seconds)
    except TimeoutError:
        return b""


def _parsed(kind: type[Said], line: bytes, what: str) -> Said:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        msg = f"the lab {what}"
        raise LabError(msg) from error
