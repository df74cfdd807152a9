"""Who measures: a process of its own that loads the models once, and can be killed if it hangs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Protocol

from monitor.model import Measurement
from monitor.scoring.base import (
    INSTRUMENTS,
    Asked,
    Instrument,
    Reading,
    ScoringSettings,
    Skipped,
    build_instrument,
)

log = logging.getLogger(__name__)

# Loading both models takes most of this on a busy machine; a batch of 64 answers takes seconds.
DEADLINE_SECONDS = 180.0

_RAISED = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_FIELDS = {"ENTITY": "entities", "TOPIC": "similarity", "LANGUAGE": "language"}


class Scorer(Protocol):
    """Measures answers. Never raises: what cannot be measured is ``broken`` in the measurement."""

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order."""

    def close(self) -> None:
        """Stop whatever runs."""


class NoScorer:
    """No instrument is configured."""

    codes: frozenset[str] = frozenset()

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return empty measurements."""
        return [Measurement() for _ in asked]

    def close(self) -> None:
        """Nothing runs."""


class InlineScorer:
    """Measures in this process: for benches, and where nothing else waits."""

    def __init__(self, settings: ScoringSettings) -> None:
        self._settings = settings
        self._instruments: dict[str, Instrument] = {}

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""
        return frozenset(self._settings.instruments)

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order."""
        return self.measure_now(asked)

    def measure_now(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return the same without waiting for anything."""
        fields: list[dict[str, Any]] = [{"skipped": {}, "broken": {}} for _ in asked]
        for code in INSTRUMENTS:
            if code in self._settings.instruments:
                self._measure(code, asked, fields)
        return [Measurement(**each) for each in fields]

    def close(self) -> None:
        """Forget the models."""
        self._instruments.clear()

    def _measure(self, code: str, asked: Sequence[Asked], fields: list[dict[str, Any]]) -> None:
        wanted = [number for number, each in enumerate(asked) if code in each.wants]
        if not wanted:
            return
        try:
            readings = self._instrument(code).measure([asked[number] for number in wanted])
        # An instrument is a large library fed with hostile text: whatever it raises, nothing is
        # known of these answers, and that is said.
        except (
            ArithmeticError,
            LookupError,
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            for number in wanted:
                fields[number]["broken"][code] = type(error).__name__
            return
        for number, reading in zip(wanted, readings, strict=True):
            _put(fields[number], code, reading)

    def _instrument(self, code: str) -> Instrument:
        if code not in self._instruments:
            self._instruments[code] = build_instrument(code, self._settings.instruments[code])
        return self._instruments[code]


def _put(fields: dict[str, Any], code: str, reading: Reading) -> None:
    if isinstance(reading, Skipped):
        fields["skipped"][code] = reading.why
    else:
        fields[_FIELDS[code]] = reading


class WorkerScorer:
    """Measures in a process of its own, one batch after the other; a hung one is killed."""

    def __init__(
        self, settings: ScoringSettings, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> None:
        self._settings = settings
        self._deadline_seconds = deadline_seconds
        self._pool: ProcessPoolExecutor | None = None

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""
        return frozenset(self._settings.instruments)

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order; all broken if the worker fails."""
        if not any(each.wants & self.codes for each in asked):
            return [Measurement() for _ in asked]
        try:
            future = self._started().submit(_measure_in_worker, list(asked))
            return await asyncio.wait_for(
                asyncio.wrap_future(future), timeout=self._deadline_seconds
            )
        except TimeoutError:
            log.error("the scoring worker did not answer in time and was stopped")  # noqa: TRY400
            self._kill()
            return [_broken(each, self.codes, "TimeoutError") for each in asked]
        except (BrokenProcessPool, RuntimeError) as error:
            log.error("the scoring worker died (%s)", type(error).__name__)  # noqa: TRY400
            self._kill()
            return [_broken(each, self.codes, type(error).__name__) for each in asked]

    def close(self) -> None:
        """Stop the worker."""
        self._kill()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Spawned, never forked: the embedded store hangs in a forked child.
            self._pool = ProcessPoolExecutor(
                max_workers=1,
                mp_context=get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._settings,),
            )
        return self._pool

    def _kill(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        workers = list((pool._processes or {}).values())  # noqa: SLF001 - 3.14 has kill_workers
        for worker in workers:
            worker.kill()
        pool.shutdown(wait=True, cancel_futures=True)


def _broken(asked: Asked, codes: frozenset[str], why: str) -> Measurement:
    return Measurement(broken=dict.fromkeys(sorted(asked.wants & codes), why))


_worker: list[InlineScorer] = []


def _start_worker(settings: ScoringSettings) -> None:
    _worker[:] = [InlineScorer(settings)]


def _measure_in_worker(asked: list[Asked]) -> list[Measurement]:
    return _worker[0].measure_now(asked)
