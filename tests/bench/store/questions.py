"""What the daemon, ``explain`` and others ask of the store besides panels, each timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.store import Reader
from tests.bench.store.measure import Times, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How long a question took, and of how much."""

    question: str
    found: int
    times: Times


def answers(reader: Reader, until: datetime, *, budget_seconds: float) -> Iterator[Answer]:
    """Ask everything again and again."""
    for question, ask in _questions(reader, until).items():
        found = ask()
        times = repeated(ask, budget_seconds=budget_seconds, most=200)
        number = len(found) if hasattr(found, "__len__") else int(found is not None)
        yield Answer(question=question, found=number, times=times)


def _questions(reader: Reader, until: datetime) -> dict[str, Callable[[], object]]:
    target = "target-01"
    old = until - timedelta(days=60)
    last = reader.last_scheduled(old)[0]
    found = reader.findings_since(old)
    asked: dict[str, Callable[[], object]] = {
        "all markers (at the start)": reader.markers,
        "open findings (at the start)": reader.open_findings,
        "last ladders (at the start)": reader.last_ladders,
        "spent today (at the start)": lambda: reader.spent(until.date()),
        "schedule events of a day (at the start)": lambda: reader.schedule_events(
            until - timedelta(days=1)
        ),
        "calibrations of a target (at the start)": lambda: reader.calibrations(target),
        "markers in evidence (daily)": reader.evidence_markers,
        "findings of 60 days": lambda: reader.findings_since(old),
        "a trial by id, with all about it": lambda: reader.trial(last.trial),
        "a verdict by id": lambda: reader.verdict(last.id),
        "how many rows each table holds": reader.counts,
    }
    if found:
        asked["a finding by id"] = lambda: reader.finding(found[0].id)
    return asked
