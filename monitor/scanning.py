"""Judge answers that somebody reports: nothing was asked by us, so only what is there can be told.

Searched are markers of this installation, live and expired, planted values, personal data,
configured terms and degeneration. What an answer lacks is not known, for nobody knows what it
should hold.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from monitor.canaries import MarkerRegistry
from monitor.checks import CHECKS, CHECKS_VERSION, judge_trial
from monitor.checks.base import Needs
from monitor.clock import Clock, new_id
from monitor.findings import REPORTED_SHAPE, Findings
from monitor.history import History, JudgeSettings
from monitor.measuring import measure
from monitor.model import (
    SAID_CHARACTERS,
    Exchange,
    Expectation,
    Message,
    Part,
    Request,
    Response,
    Signal,
    Status,
    Timing,
    Trial,
    Verdict,
)
from monitor.scoring import Scorer
from monitor.sinks import ClickHouseSink, HoldingSink
from monitor.sinks.base import Sink
from monitor.store import Store
from monitor.verdicts import decide

SOURCE = "scan"
# One answer is searched in windows of what a check looks at; they overlap by more than a marker and
# a line take, however they are spaced.
OVERLAP_CHARACTERS = 2_000
MOST_CHARACTERS = 20_000_000
# What these checks object to may have been asked for: only the prompt could tell. A tenant's own
# marker may be that of the very prompt this answers.
_BY_THE_PROMPT = {
    "FOREIGN": {"same_tenant"},
    "CHARSET": {"many_scripts", "mixed_words", "script_share", "entropy", "salad", "odd"},
    "SPECIAL": None,
}
_UNTIDY = re.compile(r"[^a-z0-9]+")
_SOURCE_CHARACTERS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """An answer as it was reported. Without a ``prompt`` what was asked for is not known."""

    answer: str
    prompt: str | None = None
    tenant: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What an answer came to. ``unsure`` says what only its prompt could tell."""

    name: str
    verdict: Verdict
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedTarget:
    """Whose answers are scanned: a target by name, and what its configuration says of judging."""

    name: str
    model: str
    judging: JudgeSettings = field(default_factory=JudgeSettings)


class Scanner:
    """Scans reported answers and tells findings and the store of them; no SLI counts them."""

    def __init__(
        self,
        *,
        clock: Clock,
        registry: MarkerRegistry,
        findings: Findings,
        sinks: Sequence[Sink],
        scorer: Scorer,
    ) -> None:
        self._clock = clock
        self._registry = registry
        self._findings = findings
        self._sinks = sinks
        self._scorer = scorer

    async def scan(self, reported: Reported, target: ScannedTarget, source: str) -> Scanned:
        """Return the verdict of one answer; what is found joins or opens a finding of ``source``.

        Its stratum is named after the source, so that one report is one finding.
        """
        trial = self._trial(reported, target, source)
        history = History(registry=self._registry, settings=target.judging)
        checks = [check for check in CHECKS if check.needs is Needs.SOME_TEXT]
        # Off the loop: what is reported may be a hundred times as long as an answer of a trial.
        cheap = [check for check in checks if not check.measured]
        signals = await asyncio.to_thread(judge_trial, trial, history, cheap)
        measured = await measure(trial, signals, history, self._scorer)
        history = replace(history, measured=measured)
        signals += judge_trial(trial, history, [c for c in checks if c.measured])
        told = [_without_prompt(signal, reported) for signal in signals]
        unsure = tuple(
            f"{signal.code}: {signal.explanation}"
            for signal, was in zip(told, signals, strict=True)
            if signal is not was
        )
        return Scanned(name=reported.name, verdict=self._decide(trial, told), unsure=unsure)

    def _decide(self, trial: Trial, signals: Sequence[Signal]) -> Verdict:
        verdict = decide(
            trial,
            signals,
            verdict_id=new_id("verdict"),
            now=self._clock.now(),
            checks_version=CHECKS_VERSION,
            source=SOURCE,
            markers=len(self._registry),
        )
        finding = self._findings.record(verdict)
        verdict = replace(verdict, finding=finding.id if finding else None)
        for sink in self._sinks:
            sink.deliver(trial, verdict)
        return verdict

    def _trial(self, reported: Reported, target: ScannedTarget, source: str) -> Trial:
        now = self._clock.now()
        asked = Message(role="user", content=reported.prompt or "")
        exchanges = tuple(
            Exchange(
                index=index,
                part=Part.CONTROL,
                tenant=reported.tenant,
                isolation=reported.tenant,
                request=Request(messages=(asked,), max_output_tokens=0),
                expectation=Expectation(),
                timing=Timing(started_at=now, total_seconds=0.0),
                response=Response(text=text, finish_reason="stop"),
                http_status=200,
            )
            for index, text in enumerate(windows(reported.answer))
        )
        return Trial(
            id=new_id("trial"),
            target=target.name,
            model=target.model,
            probe=SOURCE,
            shape=REPORTED_SHAPE,
            stratum=source_name(source),
            started_at=now,
            exchanges=exchanges,
            purpose=f"an answer reported by: {source[:_SOURCE_CHARACTERS]}",
            scheduled=False,
        )


def scanner_over(
    store: Store, registry: MarkerRegistry, findings: Findings, clock: Clock, scorer: Scorer
) -> Scanner:
    """Return a scanner whose verdicts go to the store and to findings alone."""
    return Scanner(
        clock=clock,
        registry=registry,
        findings=findings,
        sinks=[ClickHouseSink(store.writer, store.hasher), HoldingSink(store.holds)],
        scorer=scorer,
    )


def windows(answer: str) -> Iterator[str]:
    """Yield an answer in overlapping pieces of the size checks look at; at least one."""
    step = SAID_CHARACTERS - OVERLAP_CHARACTERS
    for start in range(0, max(1, len(answer) - OVERLAP_CHARACTERS), step):
        yield answer[start : start + SAID_CHARACTERS]


def source_name(source: str) -> str:
    """Return a source as a stratum: lower case letters, digits and hyphens."""
    tidy = _UNTIDY.sub("-", source.casefold()).strip("-")[:_SOURCE_CHARACTERS].strip("-")
    return tidy or "reported"


def _without_prompt(signal: Signal, reported: Reported) -> Signal:
    """Take back what may have been asked for, where the prompt is not known."""
    if reported.prompt is not None or signal.status is not Status.FAIL:
        return signal
    if signal.code not in _BY_THE_PROMPT:
        return signal
    variants = _BY_THE_PROMPT[signal.code]
    if variants is not None and signal.variant not in variants:
        return signal
    words = f"{signal.explanation}; only the prompt could tell whether they were asked for"
    return replace(signal, status=Status.SKIP, variant="", explanation=words)
