"""What HTTP said, and who answered, in the trials a finding rests on."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.errors import StoreError
from monitor.model import Trial, Verdict
from monitor.paging.brief import BriefReader

Answered = tuple[int | None, str]
"""The HTTP status an exchange ended with, ``None`` if none came, and the route, or nothing."""

# What opened a finding or made it worse stands first, what is new last.
_FIRST_TRIALS = 10
_LAST_TRIALS = 40
_REMEMBERED_TRIALS = 1_000
_MOST_ROUTES = 5
_MOST_STATUSES = 6
_LONGEST_ROUTE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How many exchanges ended with which HTTP status (``None``: no status came), and routes."""

    http: tuple[tuple[int | None, int], ...] = ()
    routes: tuple[str, ...] = ()

    def http_words(self) -> tuple[str, ...]:
        """Return the statuses in words, the commonest first."""
        return tuple(f"{'nothing' if code is None else code} ({n} times)" for code, n in self.http)


class RecentAnswers:
    """A sink: what HTTP said in trials of findings, so that a page needs no database for it.

    Tell it first: a finding is known before its verdict is delivered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trials: OrderedDict[str, Counter[Answered]] = OrderedDict()

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Remember the answers of a trial that belongs to a finding."""
        if verdict.finding is None or not trial.exchanges:
            return
        answers = Counter(
            (
                exchange.http_status,
                (exchange.response and exchange.response.system_fingerprint) or "",
            )
            for exchange in trial.exchanges
        )
        with self._lock:
            self._trials[trial.id] = answers
            if len(self._trials) > _REMEMBERED_TRIALS:
                self._trials.popitem(last=False)

    def close(self) -> None:
        """Nothing to finish."""

    def of(self, trials: Sequence[str]) -> dict[str, Counter[Answered]]:
        """Return the answers of those of the trials that are remembered."""
        with self._lock:
            return {trial: self._trials[trial] for trial in trials if trial in self._trials}


def evidence_in(store: BriefReader, recent: RecentAnswers, trials: Sequence[str]) -> Evidence:
    """Return what is known of the first and last of these trials.

    Of those that are not remembered: what the store says at once. A page goes without the rest.
    """
    told = [*trials[:_FIRST_TRIALS], *trials[_FIRST_TRIALS:][-_LAST_TRIALS:]]
    remembered = recent.of(told)
    answers: Counter[Answered] = Counter()
    for each in remembered.values():
        answers.update(each)
    answers.update(_stored(store, [trial for trial in told if trial not in remembered]))
    statuses: Counter[int | None] = Counter()
    routes: Counter[str] = Counter()
    for (status, route), exchanges in answers.items():
        statuses[status] += exchanges
        if route:
            routes[store.hasher.identifier(route)[:_LONGEST_ROUTE]] += exchanges
    return Evidence(
        http=tuple(statuses.most_common(_MOST_STATUSES)),
        routes=tuple(name for name, _ in routes.most_common(_MOST_ROUTES)),
    )


def _stored(store: BriefReader, trials: Sequence[str]) -> Counter[Answered]:
    """Return what the store knows of trials; nothing if it does not answer soon."""
    if not trials:
        return Counter()
    try:
        answers = store.ask(lambda reader: reader.answers_of(trials))
    except StoreError:
        return Counter()
    return Counter({(code, route): n for code, route, n in answers})
