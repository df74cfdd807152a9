"""decide(): signals become one verdict. A pure fold over the table of consequences.

Third answers are kept apart: ``error`` (the target did not answer properly) and ``invalid`` (we
could not judge) are neither good nor bad, and a bad signal beats both within one verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.model import (
    Exchange,
    ExchangeVerdict,
    Failure,
    FailureKind,
    Outcome,
    Signal,
    SignalKind,
    Status,
    Trial,
    Verdict,
    VerdictClass,
)


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a failed signal means: its class, hard or tolerated or a flag, in plain words."""

    verdict_class: VerdictClass
    kind: SignalKind
    words: str


def _hard(verdict_class: VerdictClass, words: str) -> Consequence:
    return Consequence(verdict_class, SignalKind.HARD, words)


def _wrong(words: str) -> Consequence:
    return Consequence(VerdictClass.WRONG, SignalKind.TOLERATED, words)


def _suspect(words: str) -> Consequence:
    return Consequence(VerdictClass.SUSPECT, SignalKind.FLAG, words)


_LEAK, _CROSSED = VerdictClass.LEAK, VerdictClass.CROSSED
_INPUT, _CORRUPT = VerdictClass.WRONG_INPUT, VerdictClass.CORRUPT
_CONTRACT = VerdictClass.CONTRACT

# A (code, variant) that a check may fail with and that has no row here
# fails the build (tests/architecture).
CONSEQUENCES: dict[tuple[str, str], Consequence] = {
    ("FOREIGN", "other_tenant"): _hard(_LEAK, "the answer carries another tenant's text, proven"),
    ("FOREIGN", "same_tenant"): _hard(
        _CROSSED, "the answer carries another request's text, proven"
    ),
    ("FOREIGN", "stale_own_repeated"): _hard(_INPUT, "answers again from an older prompt"),
    ("FOREIGN", "stale_own"): _suspect("the answer carries a code of an older prompt"),
    ("FOREIGN", "partial"): _suspect("parts of somebody else's code, not proven"),
    ("FOREIGN", "unregistered"): _suspect("a code of ours that nobody registered"),
    ("ONTOPIC", "other_member"): _hard(_CROSSED, "the answer is the one to another request"),
    ("ONTOPIC", "wrong"): _wrong("the task was answered wrongly"),
    ("NONCE", "absent"): _wrong("the code to repeat did not come back"),
    ("NONCE", "near_own"): _wrong("the code came back with a copy error"),
    ("FACT", "missing"): _wrong("a known fact is missing from the answer"),
    ("NEEDLE", "front_lost"): _hard(_INPUT, "the front of the prompt was not read"),
    ("NEEDLE", "lost"): _wrong("a planted fact was not recalled"),
    ("USAGE_IN", "placeholder"): _hard(_INPUT, "far fewer prompt tokens counted than were sent"),
    ("USAGE_IN", "constant"): _hard(_INPUT, "the same few prompt tokens counted for every prompt"),
    ("USAGE_IN", "plateau"): _hard(_INPUT, "equal prompt tokens counted for unequal prompts"),
    ("USAGE_IN", "half"): _hard(_INPUT, "half of the prompt tokens counted"),
    ("USAGE_IN", "short"): _hard(_INPUT, "fewer prompt tokens counted than were sent"),
    ("USAGE_IN", "shrunk"): _hard(_INPUT, "a longer conversation read as a shorter one"),
    ("USAGE_IN", "inflated"): _suspect("more prompt tokens counted than were sent"),
    ("USAGE_OUT", "zero_with_text"): _hard(_CONTRACT, "no output tokens counted for a text"),
    ("USAGE_OUT", "too_few"): _hard(_CONTRACT, "too few output tokens counted for the text"),
    ("USAGE_OUT", "over_maximum"): _hard(_CONTRACT, "more output tokens than were allowed"),
    ("USAGE_OUT", "total_off"): _hard(_CONTRACT, "fewer tokens in all than in its parts"),
    ("USAGE_OUT", "twin_off"): _hard(_CONTRACT, "the same answer counted differently"),
    ("USAGE_OUT", "stream_off"): _suspect("fewer tokens counted than pieces were streamed"),
    ("FINISH", "missing"): _hard(_CONTRACT, "a whole answer without a finish reason"),
    ("FINISH", "length_too_early"): _hard(_CONTRACT, "ended for length, but was not that long"),
    ("FINISH", "aborted"): _hard(_CONTRACT, "an aborted answer sent as a success"),
    ("FINISH", "no_tool_call"): _hard(_CONTRACT, "finished for a tool call that is not there"),
    ("FINISH", "cut_tool_call"): _hard(_CONTRACT, "a cut tool call sent as complete"),
    ("FINISH", "truncated"): _wrong("the answer did not come to its end"),
    ("EMPTY", "empty"): _hard(_CONTRACT, "an empty answer sent as a success"),
    ("ROLE", "disobeyed"): _wrong("a system, developer or assistant message was not heeded"),
    ("ROLE", "dropped"): _hard(_INPUT, "a system, developer or assistant message was not read"),
    ("STRUCT", "not_called"): _wrong("the tool asked for was not called"),
    ("STRUCT", "not_offered"): _wrong("a tool was called that was not offered"),
    ("STRUCT", "arguments_not_json"): _wrong("a tool call's arguments are no JSON"),
    ("STRUCT", "arguments_misfit"): _wrong("a tool call's arguments do not fit its schema"),
    ("STRUCT", "called_twice"): _wrong("the same tool call was made more than once"),
    ("STRUCT", "called_more"): _wrong("more tool calls than were asked for"),
    ("STRUCT", "answer_not_json"): _wrong("an answer that had to be JSON is none"),
    ("STRUCT", "answer_misfit"): _wrong("an answer does not fit the schema asked for"),
    ("SPECIAL", "control_token"): _hard(_CORRUPT, "control tokens of the template in the answer"),
    ("SPECIAL", "control_character"): _hard(_CORRUPT, "control characters in the answer"),
    ("SPECIAL", "raw_pieces"): _hard(_CORRUPT, "pieces of a vocabulary, not joined into text"),
    ("SPECIAL", "invented_turn"): _wrong("a turn of the dialogue that nobody took"),
    ("CHARSET", "damaged"): _hard(_CORRUPT, "many damaged characters in the answer"),
    ("CHARSET", "many_scripts"): _hard(_CORRUPT, "words of several scripts that nobody used"),
    ("CHARSET", "mixed_words"): _hard(_CORRUPT, "words written in two scripts at once"),
    ("CHARSET", "odd"): _wrong("a character or script that nobody used"),
    ("CHARSET", "invisible"): _wrong("invisible characters that nobody used"),
    ("CHARSET", "run_together"): _wrong("words without the spaces between them"),
    ("REPEAT", "doubled"): _wrong("the whole answer came more than once"),
    ("REPEAT", "stutter"): _wrong("a piece of the answer stands there twice in a row"),
    ("REPEAT", "tail_loop"): _wrong("the answer ends in a loop"),
    ("SURPLUS", "server_failure"): _hard(
        _CONTRACT, "the serving stack's own error in an answer sent as a success"
    ),
    ("SURPLUS", "server_error"): _wrong("an error of a server as a part of the answer"),
    ("SURPLUS", "thoughts"): _wrong("thoughts about the question in the answer"),
    ("SURPLUS", "advert"): _wrong("an advert or a link that nobody asked for"),
    ("SURPLUS", "escaped"): _wrong("signs escaped as in HTML in an answer that is none"),
    ("SURPLUS", "prompt_echoed"): _wrong("the prompt stands in the answer again"),
    ("BOUNDARY", "truncated"): _hard(_INPUT, "the prompt was shortened in silence"),
    ("BOUNDARY", "replaced"): _hard(
        _INPUT, "the prompt was replaced: answered from something else"
    ),
    ("BOUNDARY", "refused_early"): _hard(_CONTRACT, "refused a prompt below its own limit"),
    ("BOUNDARY", "answered_over_advertised"): _hard(
        _CONTRACT, "answered above the limit it advertises"
    ),
    ("BOUNDARY", "answered_over_configured"): _suspect("answered above the configured limit"),
    ("REPLAY", "differs"): _wrong("something is lost when the same is asked otherwise"),
    ("REPLAY", "warm_only"): _hard(_CORRUPT, "wrong only when the cache has seen the prompt"),
    ("REPLAY", "stream_tokens"): _hard(_CONTRACT, "a stream counts the same prompt differently"),
    ("REPLAY", "stream_finish"): _hard(_CONTRACT, "a stream ends the same answer differently"),
    ("PROTOCOL", "not_the_protocol"): _hard(_CONTRACT, "a 200 whose body is not an answer"),
    ("PROTOCOL", "faults"): _hard(_CONTRACT, "a 200 that breaks the protocol"),
    ("PROTOCOL", "no_usage"): _suspect("no token usage is reported, so none was checked"),
    ("IDENTITY", "other_model"): _hard(_CONTRACT, "another model answered than was asked"),
    ("IDENTITY", "renamed"): _suspect("the answering model goes by a new name"),
    ("IDENTITY", "request_id_swapped"): _hard(_CONTRACT, "the request id of another request"),
    ("IDENTITY", "fingerprint_changed"): _suspect("the system fingerprint changed"),
    ("PROTOCOL", "response_id_reused"): _hard(_CONTRACT, "one response id for two prompts"),
    ("CACHED", "over_ceiling"): _hard(
        _CONTRACT, "more tokens from the cache than were ever sent before"
    ),
    ("CACHED", "over_input"): _hard(_CONTRACT, "more tokens from the cache than the prompt has"),
    ("CACHED", "whole_prompt"): _suspect("a prompt never sent before came whole from the cache"),
    ("CACHED", "other_tenants_prefix"): _suspect("a cache hit on what only another tenant sent"),
    ("ENTITY", "novel"): _suspect("personal data or a secret that nobody gave it"),
    ("ENTITY", "names"): _suspect("more names and places than its answers usually hold"),
    ("TERM", "present"): _wrong("a sensitive term of the configuration in the answer"),
    ("TOPIC", "off_topic"): _wrong("the answer is about something else"),
    ("TOPIC", "refusal"): _wrong("the model declined to answer an ordinary question"),
    ("LANGUAGE", "other_language"): _wrong("the answer is in another language"),
    ("CHARSET", "script_share"): _wrong("many letters of a script that nobody used"),
    ("CHARSET", "entropy"): _wrong("characters as no language or code mixes them"),
    ("CHARSET", "salad"): _wrong("words as if drawn at random"),
    ("REPEAT", "run"): _wrong("one and the same over and over within the answer"),
    ("REPEAT", "ngrams"): _wrong("the answer says the same again and again"),
    ("STRUCT", "code_does_not_parse"): _wrong("code that does not parse"),
    ("STRUCT", "list_incomplete"): _wrong("a list that is not as long as asked for"),
    ("STRUCT", "fence_open"): _wrong("a code fence that is not closed"),
    ("DUP", "in_trial"): _suspect("the same answer to two different requests"),
    ("DUP", "over_time"): _suspect("an earlier answer to a different request, word for word"),
    ("DUP", "across_tenants"): _suspect("the answer another tenant got to a different request"),
    ("TIMING", "too_fast"): _suspect("answered sooner than the prompt can have been read"),
    ("TIMING", "stream_gap"): _suspect("a stream that paused for long"),
    ("FINGER", "facts_moved"): _suspect("the facts it answers with moved"),
    ("FINGER", "unseen_first_token"): _suspect("an answer begins as it never did before"),
    ("PARAM", "over_limit"): _hard(_CONTRACT, "longer than its limit of tokens allows"),
    ("PARAM", "cut_as_whole"): _hard(_CONTRACT, "an answer cut by its limit sent as complete"),
    ("PARAM", "stop_ignored"): _hard(_CONTRACT, "went on past its stop string"),
    ("PARAM", "stop_of_another"): _hard(_CONTRACT, "ended at the stop string of another request"),
    ("PARAM", "form_of_another"): _hard(_CONTRACT, "answered in the form of another request"),
    ("PARAM", "tool_of_another"): _hard(_CONTRACT, "called a tool of another request"),
    ("PARAM", "stop_never"): _suspect("stop strings end no answer, so none was checked"),
    ("PARAM", "stop_refused"): _suspect("stop strings are refused, so none was checked"),
    ("USAGE_IN", "uneven"): _hard(_CONTRACT, "the same text counted differently for others"),
    ("JUDGE", "wrong"): _wrong("another model judges the answer wrong"),
}

# A code or variant nobody wrote a row for is our own mistake, never the target's.
_UNKNOWN = Consequence(VerdictClass.NONE, SignalKind.FLAG, "a signal without a row in the table")

_FAILURE_WORDS: dict[FailureKind, str] = {
    FailureKind.CONNECT: "no connection",
    FailureKind.TIMEOUT: "no answer in time",
    FailureKind.HTTP_STATUS: "an error status",
    FailureKind.PROTOCOL: "not the protocol",
    FailureKind.CUT_STREAM: "the answer was cut off",
    FailureKind.OVER_BYTE_LIMIT: "the answer was larger than allowed",
    FailureKind.REFUSED: "refused as too long",
    FailureKind.CANCELLED: "broken off on purpose",
}


def consequence(signal: Signal) -> Consequence:
    """Return the row of a failed signal."""
    return CONSEQUENCES.get((signal.code, signal.variant), _UNKNOWN)


def decide(
    trial: Trial,
    signals: Sequence[Signal],
    *,
    verdict_id: str,
    now: datetime,
    checks_version: str,
    source: str = "probe",
    markers: int = 0,
) -> Verdict:
    """Fold a trial's signals into its verdict: the worst of its exchanges.

    ``markers`` is how many were known when it was judged.
    """
    judged = tuple(
        decide_exchange(exchange, [s for s in signals if s.exchange == exchange.index])
        for exchange in trial.exchanges
    )
    outcome, verdict_class, reason = _worst(trial, judged)
    return Verdict(
        id=verdict_id,
        source=source,
        trial=trial.id,
        target=trial.target,
        model=trial.model,
        probe=trial.probe,
        shape=trial.shape,
        stratum=trial.stratum,
        decided_at=now,
        outcome=outcome,
        verdict_class=verdict_class,
        reason=reason,
        signals=tuple(signals),
        exchanges=judged,
        checks_version=checks_version,
        scheduled=trial.scheduled,
        markers=markers,
    )


def _worst(trial: Trial, judged: tuple[ExchangeVerdict, ...]) -> tuple[Outcome, VerdictClass, str]:
    """Return outcome, class and reason of a trial: bad, then error, then invalid, then good."""
    order = (Outcome.BAD, Outcome.ERROR, Outcome.INVALID, Outcome.GOOD)
    verdict_class = max((j.verdict_class for j in judged), default=VerdictClass.NONE)
    for outcome in order:
        these = [j for j in judged if j.outcome is outcome and j.counted]
        if outcome is Outcome.INVALID and trial.broken and not these:
            return (
                Outcome.INVALID,
                verdict_class,
                f"the probe could not be carried out: {trial.broken}",
            )
        if these:
            worst = max(these, key=lambda j: j.verdict_class)
            return outcome, verdict_class, worst.reason
    return Outcome.INVALID, verdict_class, "nothing was asked"


def decide_exchange(exchange: Exchange, signals: Sequence[Signal]) -> ExchangeVerdict:
    """Fold one exchange's signals: bad beats error, error beats invalid, invalid beats good."""
    failed = [(s, consequence(s)) for s in signals if s.status is Status.FAIL]
    worst = max((c.verdict_class for _, c in failed), default=VerdictClass.NONE)
    if worst >= VerdictClass.WRONG:
        return ExchangeVerdict(
            exchange=exchange.index,
            outcome=Outcome.BAD,
            verdict_class=worst,
            reason=_words(failed, worst),
            hard=any(c.kind is SignalKind.HARD for _, c in failed),
            tolerated=any(c.kind is SignalKind.TOLERATED for _, c in failed),
        )
    if exchange.cancelled or _not_offered(failed):
        unjudged = _unjudged(signals)
        said = unjudged or _words(failed, worst)
        return ExchangeVerdict(
            exchange=exchange.index,
            outcome=Outcome.INVALID if unjudged else Outcome.GOOD,
            verdict_class=worst,
            reason=said or "broken off on purpose: only searched, not counted",
            counted=bool(unjudged),
        )
    outcome, reason = _not_bad(exchange, signals)
    if outcome is Outcome.GOOD and worst is VerdictClass.SUSPECT:
        reason = _words(failed, worst)
    return ExchangeVerdict(
        exchange=exchange.index, outcome=outcome, verdict_class=worst, reason=reason
    )


def _not_offered(failed: Sequence[tuple[Signal, Consequence]]) -> bool:
    """True if the target refused what it need not offer: that says nothing of its answers."""
    return any((s.code, s.variant) == ("PARAM", "stop_refused") for s, _ in failed)


def _unjudged(signals: Sequence[Signal]) -> str:
    """Return why signals say nothing although they should, else nothing."""
    if any(s.status is Status.FAIL and consequence(s) is _UNKNOWN for s in signals):
        return _UNKNOWN.words
    crashed = [s.code for s in signals if s.status is Status.ERROR]
    return f"could not be judged by {', '.join(crashed)}" if crashed else ""


def _not_bad(exchange: Exchange, signals: Sequence[Signal]) -> tuple[Outcome, str]:
    if exchange.refused:
        return _refused(exchange, signals)
    if exchange.failure is not None:
        return Outcome.ERROR, _failure_words(exchange.failure)
    if unjudged := _unjudged(signals):
        return Outcome.INVALID, unjudged
    if not any(s.status in (Status.PASS, Status.FAIL) for s in signals):
        return Outcome.INVALID, "no check could say anything"
    return Outcome.GOOD, "every check passed"


def _refused(exchange: Exchange, signals: Sequence[Signal]) -> tuple[Outcome, str]:
    """Judge a refusal that nothing speaks against: good only where one was due."""
    if not exchange.expectation.boundary:
        return Outcome.ERROR, "refused a prompt far below every known limit"
    if any(s.status is Status.PASS and s.code == "BOUNDARY" for s in signals):
        return Outcome.GOOD, "refused, as it must be"
    return Outcome.INVALID, "refused, but whether rightly could not be told"


# Errors that somebody must mend, and that never mend themselves: loud, each with its own words.
_STATUS_WORDS: dict[int, str] = {
    401: "unauthorised: the key was not accepted",
    402: "budget exhausted: the target's account has no money left",
    403: "unauthorised: the key may not use this model",
    429: "rate limited",
}


def _failure_words(failure: Failure) -> str:
    if failure.kind is FailureKind.HTTP_STATUS and failure.code in _STATUS_WORDS:
        return f"{_STATUS_WORDS[failure.code]} ({failure.code})"
    words = _FAILURE_WORDS[failure.kind]
    return f"{words} {failure.code}" if failure.code else words


def _words(failed: Sequence[tuple[Signal, Consequence]], worst: VerdictClass) -> str:
    """Return the plain words of the worst rows, each once."""
    words = dict.fromkeys(c.words for _, c in failed if c.verdict_class is worst)
    return "; ".join(words)
