"""Measuring in this very process: what the worker does, and benches where nothing else waits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from monitor.errors import InstrumentError
from monitor.model import Measurement
from monitor.scoring.base import (
    INSTRUMENTS,
    Asked,
    Instrument,
    Kinds,
    Reading,
    ScoringSettings,
    Skipped,
    build_instrument,
)
from monitor.scoring.loading import LoadOnce

_FIELDS = {"ENTITY": "entities", "TOPIC": "similarity", "LANGUAGE": "language"}
# An instrument is a large library fed with hostile text: whatever of these it raises, nothing is
# known of these answers, and that is said.
_RAISED = (
    *(ArithmeticError, AttributeError, ImportError, InstrumentError, LookupError, MemoryError),
    *(OSError, RuntimeError, TypeError, ValueError),
)


class InlineScorer:
    """Measures in this process; an instrument is loaded with the first answer that wants it."""

    def __init__(self, settings: ScoringSettings, *, kinds: Kinds = INSTRUMENTS) -> None:
        self._settings = settings
        self._instruments = {
            code: LoadOnce(partial(build_instrument, kinds[code], each))
            for code, each in settings.instruments.items()
        }

    @property
    def codes(self) -> frozenset[str]:
        """The signal codes it measures for."""
        return frozenset(self._instruments)

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return one measurement for each answer, in order."""
        return self.measure_now(asked)

    def measure_now(self, asked: Sequence[Asked]) -> list[Measurement]:
        """Return the same without waiting for anything."""
        fields: list[dict[str, Any]] = [{"skipped": {}, "broken": {}} for _ in asked]
        for code, instrument in self._instruments.items():
            wanted = [number for number, each in enumerate(asked) if code in each.wants]
            if wanted:
                _measure(code, instrument, asked, [(n, fields[n]) for n in wanted])
        return [Measurement(**each) for each in fields]

    def close(self) -> None:
        """Nothing runs."""


def _measure(
    code: str,
    instrument: LoadOnce[Instrument],
    asked: Sequence[Asked],
    wanted: Sequence[tuple[int, dict[str, Any]]],
) -> None:
    try:
        readings = instrument.get().measure([asked[number] for number, _ in wanted])
    except _RAISED as error:
        for _, fields in wanted:
            fields["broken"][code] = why_broken(error)
        return
    for (_, fields), reading in zip(wanted, readings, strict=True):
        _put(fields, code, reading)


def _put(fields: dict[str, Any], code: str, reading: Reading) -> None:
    if isinstance(reading, Skipped):
        fields["skipped"][code] = reading.why
    else:
        fields[_FIELDS[code]] = reading


def why_broken(error: Exception) -> str:
    """Return words for an error: its own only if we wrote them, for others may quote an answer."""
    return str(error) if isinstance(error, InstrumentError) else type(error).__name__
