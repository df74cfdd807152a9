"""The sink that speaks up: a line for every verdict that is not good, and for the return to it."""

from __future__ import annotations

import json
import logging
from datetime import UTC

from monitor.model import Outcome, Trial, Verdict, VerdictClass

_LEVELS = {
    Outcome.GOOD: logging.INFO,
    Outcome.BAD: logging.ERROR,
    Outcome.ERROR: logging.WARNING,
    Outcome.INVALID: logging.WARNING,
}
_ALL_WELL = (Outcome.GOOD, VerdictClass.NONE)


class LogSink:
    """Writes our own codes, ids and templates to a logger, as text or as JSON; never a body.

    A stream that stays good is silent; ``was`` names what it came back from.
    """

    def __init__(self, logger: logging.Logger, *, as_json: bool = False) -> None:
        self._logger = logger
        self._as_json = as_json
        self._last: dict[tuple[str, str, str], tuple[Outcome, VerdictClass]] = {}

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Write at most one line."""
        del trial
        stream = (verdict.target, verdict.probe, verdict.stratum)
        now = (verdict.outcome, verdict.verdict_class)
        before = self._last.get(stream, _ALL_WELL)
        self._last[stream] = now
        if now == before == _ALL_WELL:
            return
        fields = _fields(verdict)
        if now == _ALL_WELL:
            fields["was"] = f"{before[0].value}/{before[1].label}"
        self._logger.log(_LEVELS[verdict.outcome], "%s", self._line(fields))

    def close(self) -> None:
        """Nothing to finish: lines are written as they come."""

    def _line(self, fields: dict[str, str]) -> str:
        if self._as_json:
            return json.dumps(fields)
        return " ".join(f"{name}={_quoted(value)}" for name, value in fields.items())


def _fields(verdict: Verdict) -> dict[str, str]:
    failed = sorted({f"{s.code}:{s.variant}" for s in verdict.signals if s.status == "fail"})
    fields = {
        "event": "verdict",
        "at": verdict.decided_at.astimezone(UTC).isoformat(timespec="milliseconds"),
        "target": verdict.target,
        "probe": verdict.probe,
        "stratum": verdict.stratum,
        "outcome": verdict.outcome.value,
        "class": verdict.verdict_class.label,
        "reason": verdict.reason,
        "signals": ",".join(failed),
        "finding": verdict.finding or "",
        "trial": verdict.trial,
        "verdict": verdict.id,
    }
    return {name: value for name, value in fields.items() if value}


def _quoted(value: str) -> str:
    """Quote what is not one plain word, so that a line cannot be forged."""
    plain = value.isascii() and value.isprintable() and not set(value) & set(' "=\\')
    return value if plain else json.dumps(value)
