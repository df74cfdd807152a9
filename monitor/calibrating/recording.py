"""What a healthy target was seen to do, noted answer by answer. Numbers, names and hashes only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from monitor.checks.charset import unexpected_scripts
from monitor.checks.finger import fingerprint_of
from monitor.checks.timing import prefill_tokens_per_second
from monitor.history import History
from monitor.model import (
    Exchange,
    FirstTokens,
    PromptBaseline,
    Signal,
    Status,
    Trial,
    VerdictClass,
)
from monitor.passes import Done
from monitor.prompts.first_token import first_token_of
from monitor.reports.answers import is_valid, judged_of, tolerated
from monitor.reports.groups import groups_of
from monitor.verdicts import consequence

# A script is one the target uses by itself if so many answers, and such a share of them, hold it
# unasked; less is a slip (GLM-5 was seen to slip in 0.3 % of its answers).
OWN_SCRIPT_ANSWERS = 3
OWN_SCRIPT_SHARE = 0.01
# What a target's own script is called until it is known for one.
_BY_SCRIPT = frozenset({"script_share", "odd"})
PromptKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One valid answer: of which probe, in which groups, to which golden prompt, failed or not."""

    probe: str
    groups: tuple[str, ...]
    prompt: PromptKey | None
    failed: bool


@dataclass(frozen=True, slots=True)
class _Noted:
    """An answer, and the scripts that alone made it fail: no failure if they are the target's."""

    judged: Judged
    by_scripts: frozenset[str]


@dataclass(slots=True)
class _Prompt:
    asked: int = 0
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
        self._noted: list[_Noted] = []

    @property
    def answers(self) -> list[Judged]:
        """Every valid answer so far; the target's own scripts make none fail."""
        own = set(self.scripts())
        return [
            replace(n.judged, failed=False) if n.by_scripts and n.by_scripts <= own else n.judged
            for n in self._noted
        ]

    def take(self, judged: Judged, by_scripts: frozenset[str] = frozenset()) -> None:
        """Add a judged answer; ``by_scripts`` are the scripts that alone made it fail."""
        self._noted.append(_Noted(judged, by_scripts))

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
            judged = Judged(probe=probe, groups=groups, prompt=key, failed=failed)
            self.take(judged, _by_scripts(exchange, done.verdict.signals, self._history))
            self._names += _scores("ENTITY", exchange, done.verdict.signals)
            self._note_answer(done.trial, exchange)
            if key is not None:
                self._note_prompt(key, exchange, done.verdict.signals)

    def _note_answer(self, trial: Trial, exchange: Exchange) -> None:
        rate = prefill_tokens_per_second(trial, exchange, self._history.registry)
        self._prefill = max(self._prefill, rate or 0.0)
        token = first_token_of(exchange)
        if token is not None:
            self._first_tokens[exchange.expectation.border_input][token] += 1
        self._scripts.update(_own_scripts(exchange, self._history))

    def _note_prompt(self, key: PromptKey, exchange: Exchange, signals: Sequence[Signal]) -> None:
        prompt = self._prompts[key]
        prompt.asked += 1
        prompt.similarities += _scores("TOPIC", exchange, signals)
        fingerprint = fingerprint_of(exchange, self._history)
        if fingerprint is not None:
            prompt.fingerprints[fingerprint] += 1

    def counts(self) -> dict[PromptKey, tuple[int, int]]:
        """Return how often each golden prompt was missed, and asked."""
        missed = Counter(each.prompt for each in self.answers if each.failed and each.prompt)
        return {key: (missed[key], seen.asked) for key, seen in self._prompts.items()}

    def prompts(self, quarantined: frozenset[PromptKey]) -> tuple[PromptBaseline, ...]:
        """Return the baselines of golden prompts, by name."""
        counts = self.counts()
        return tuple(
            PromptBaseline(
                name=name,
                version=version,
                asked=seen.asked,
                missed=counts[name, version][0],
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
        least = max(OWN_SCRIPT_ANSWERS, OWN_SCRIPT_SHARE * len(self._noted))
        own = (script for script, answers in self._scripts.items() if answers >= least)
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


def _by_scripts(exchange: Exchange, signals: Sequence[Signal], history: History) -> frozenset[str]:
    """Return the unasked scripts of an answer that fails for nothing else, else none."""
    failed = [s for s in signals if s.exchange == exchange.index and s.status is Status.FAIL]
    bad = [s for s in failed if consequence(s).verdict_class >= VerdictClass.WRONG]
    if not bad or any(s.code != "CHARSET" or s.variant not in _BY_SCRIPT for s in bad):
        return frozenset()
    return _own_scripts(exchange, history)


def _own_scripts(exchange: Exchange, history: History) -> frozenset[str]:
    """Return the scripts of an answer that neither its prompt nor its right answer has."""
    golden = history.golden.get(exchange.expectation.golden or "")
    expected = "\n".join([exchange.request.text(), repr(golden) if golden else ""])
    return unexpected_scripts(exchange.response.answer() if exchange.response else "", expected)
