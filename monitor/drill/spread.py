"""Spread runs over worker processes; what a worker cannot tell is said to be so."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from monitor.drill.job import Job
from monitor.drill.run import untold
from monitor.reports.drill import RunReport

RUN_SECONDS = 600.0
_END_SECONDS = 30.0
_LONGEST_LINE = 64 * 1024 * 1024


async def spread(
    jobs: Sequence[Job], workers: int, folder: Path, on_result: Callable[[RunReport], None]
) -> list[RunReport]:
    """Do all jobs with so many workers side by side; results come in any order."""
    waiting = deque(jobs)
    results: list[RunReport] = []

    async def work(number: int) -> None:
        async with contextlib.AsyncExitStack() as stack:
            worker = _Worker(folder / f"worker-{number}")
            stack.push_async_callback(worker.end)
            while waiting:
                result = await worker.do(waiting.popleft())
                results.append(result)
                on_result(result)

    async with asyncio.TaskGroup() as group:
        for number in range(min(workers, len(jobs))):
            group.create_task(work(number))
    return results


class _Worker:
    """A worker process, started again after one that did not live through its job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts = 0
        self._busy = False
        self._process: asyncio.subprocess.Process | None = None

    async def do(self, job: Job) -> RunReport:
        """Return the report of one run, or that it could not be told."""
        if self._process is None:
            self._process = await self._start()
        self._busy = True
        line = await self._answer(self._process, job.model_dump_json().encode() + b"\n")
        self._busy = False
        try:
            return RunReport.model_validate_json(line)
        except ValidationError:
            code = await self._kill()
            log = self._folder.name
            return untold(job, f"the worker gave no result (exit {code}; see {log}.log)")

    async def end(self) -> None:
        """Let an idle worker close its store; kill one in the midst of a run, with its lab."""
        process = self._process
        if process is not None and process.stdin is not None and not self._busy:
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _END_SECONDS)
        await self._kill()

    async def _start(self) -> asyncio.subprocess.Process:
        self._starts += 1
        folder = self._folder / str(self._starts)
        folder.mkdir(mode=0o700, parents=True)
        with self._folder.with_suffix(".log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "monitor.drill", str(folder)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )

    async def _answer(self, process: asyncio.subprocess.Process, line: bytes) -> bytes:
        if process.stdin is None or process.stdout is None:
            return b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            process.stdin.write(line)
            await process.stdin.drain()
            return await asyncio.wait_for(process.stdout.readline(), RUN_SECONDS)
        return b""

    async def _kill(self) -> int | None:
        """End the worker's whole session, its lab included; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return await process.wait()
