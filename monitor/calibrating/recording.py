"""What a healthy target was seen to do, noted answer by answer. Numbers, names and hashes only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from monitor.checks.charset import unexpected_scripts
from monitor.checks.finger import fingerprint_of
from monitor.checks.timing import prefill_tokens_per_second
from monitor.history import History
from monitor.model import (
    Exchange,
    ExchangeVerdict,
    FirstTokens,
    PromptBaseline,
    Signal,
    Trial,
)
from monitor.passes import Done
from monitor.prompts.first_token import first_token_of
from monitor.reports.answers import groups_of, is_valid, judged_of, tolerated

# A script is one the target uses by itself if so many answers hold it unasked; one is a slip.
OWN_SCRIPT_ANSWERS = 3
PromptKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One valid answer: of which probe, in which groups, to which golden prompt, failed or not."""

    probe: str
    groups: tuple[str, ...]
    prompt: PromptKey | None
    failed: bool


@dataclass(slots=True)
class _Prompt:
    asked: int = 0
    missed: int = 0
    similarities: list[float] = field(default_factory=list)
    fingerprints: Counter[str] = field(default_factory=Counter)


class Recording:
    """Takes the trials of one sitting. ``history`` is what names golden prompts and markers."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._prompts: dict[PromptKey, _Prompt] = defaultdict(_Prompt)
        self._first_tokens: dict[str, Counter[str]] = defaultdict(Counter)
        self._scripts: Counter[str] = Counter()
        self._names: list[float] = []
        self._prefill = 0.0
        self.answers: list[Judged] = []

    def note(self, done: Done) -> None:
        """Note every valid exchange of a trial."""
        for entry in judged_of([done]):
            _, exchange, verdict = entry
            if not verdict.counted or not is_valid(verdict):
                continue
            expected = exchange.expectation
            key = (expected.golden, expected.golden_version) if expected.golden else None
            failed = bool(tolerated([verdict])[0])
            probe = done.trial.probe
            groups = tuple(group for group in groups_of([entry]) if group != probe)
            self.answers.append(Judged(probe=probe, groups=groups, prompt=key, failed=failed))
            self._names += _scores("ENTITY", exchange, done.verdict.signals)
            self._note_answer(done.trial, exchange)
            if key is not None:
                self._note_prompt(key, exchange, verdict, done.verdict.signals)

    def _note_answer(self, trial: Trial, exchange: Exchange) -> None:
        rate = prefill_tokens_per_second(trial, exchange, self._history.registry)
        self._prefill = max(self._prefill, rate or 0.0)
        token = first_token_of(exchange)
        if token is not None:
            self._first_tokens[exchange.expectation.border_input][token] += 1
        self._scripts.update(_own_scripts(exchange, self._history))

    def _note_prompt(
        self,
        key: PromptKey,
        exchange: Exchange,
        verdict: ExchangeVerdict,
        signals: Sequence[Signal],
    ) -> None:
        prompt = self._prompts[key]
        prompt.asked += 1
        prompt.missed += verdict.tolerated
        prompt.similarities += _scores("TOPIC", exchange, signals)
        fingerprint = fingerprint_of(exchange, self._history)
        if fingerprint is not None:
            prompt.fingerprints[fingerprint] += 1

    def counts(self) -> dict[PromptKey, tuple[int, int]]:
        """Return how often each golden prompt was missed, and asked."""
        return {key: (seen.missed, seen.asked) for key, seen in self._prompts.items()}

    def prompts(self, quarantined: frozenset[PromptKey]) -> tuple[PromptBaseline, ...]:
        """Return the baselines of golden prompts, by name."""
        return tuple(
            PromptBaseline(
                name=name,
                version=version,
                asked=seen.asked,
                missed=seen.missed,
                quarantined=(name, version) in quarantined,
                similarities=tuple(sorted(seen.similarities)),
                fingerprints=tuple(seen.fingerprints.most_common()),
            )
            for (name, version), seen in sorted(self._prompts.items())
        )

    def first_tokens(self) -> tuple[FirstTokens, ...]:
        """Return what each border input was answered with first."""
        return tuple(
            FirstTokens(border_input=name, seen=tuple(seen.most_common()))
            for name, seen in sorted(self._first_tokens.items())
        )

    def scripts(self) -> tuple[str, ...]:
        """Return the scripts that answers use without being asked to."""
        own = (s for s, answers in self._scripts.items() if answers >= OWN_SCRIPT_ANSWERS)
        return tuple(sorted(own))

    @property
    def names_per_answer(self) -> float:
        """How many names and places an answer holds that nobody gave it, in the mean."""
        return sum(self._names) / len(self._names) if self._names else 0.0

    @property
    def best_prefill(self) -> float | None:
        """The best rate at which a long prompt was seen to be read; ``None`` if none told."""
        return self._prefill or None


def _scores(code: str, exchange: Exchange, signals: Sequence[Signal]) -> list[float]:
    """Return what a check measured of an exchange: a likeness, a count of names and places."""
    mine = (s for s in signals if (s.code, s.exchange) == (code, exchange.index))
    return [signal.score for signal in mine if signal.score is not None]


def _own_scripts(exchange: Exchange, history: History) -> frozenset[str]:
    """Return the scripts of an answer that neither its prompt nor its right answer has."""
    golden = history.golden.get(exchange.expectation.golden or "")
    expected = "\n".join([exchange.request.text(), repr(golden) if golden else ""])
    return unexpected_scripts(exchange.response.answer() if exchange.response else "", expected)
