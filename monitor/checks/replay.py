"""REPLAY: what was asked again is answered as before, in what can be extracted.

Compared are the code, each fact and needle, and for the very same prompt also tool calls and JSON
in a canonical form; never the raw text, which varies from batch to batch even at temperature 0.

- ``differs`` (tolerated): this answer lacks something that its reference has.
- ``warm_only`` (hard): prompts that are answered rightly cold and rightly with a salt lose
  something whenever the cache has seen them. Counted are *prompts*, not answers: a model at a near
  tie may answer one prompt rightly cold and wrongly warm every time, but prompts are independent.
  A model that errs with the probability p <= 10 % a strong model's tolerance allows loses a prompt
  this way with at most p, however its answers to it hang together. The signal needs so many of the
  trial's prompts that P(that many or more at p) <= 0.001: three of three. So the false-alarm rate
  is at most p^3 = 0.001 a trial, and (p (1 - p)^2)^3 = 0.0005 if all answers are independent; the
  worst p of all, 1/3, gives 0.003. It is never given where the tolerance calls the model weak.
- ``stream_tokens``, ``stream_finish`` (hard): as a stream, the very same prompt is counted
  differently, or the very same answer ends for another reason. Two tokens are let pass, for
  templates may hold the time of day, and a tenth of the count, for two replicas behind one name
  may have different tokenizers; counts that are wrong for streams are none, or some other thing's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from monitor.canaries import Echo, echo
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.needle import lost_places
from monitor.checks.ontopic import holds, readable
from monitor.checks.specimen import Scene, an_exchange
from monitor.detect.binomial import tail_probability
from monitor.history import History
from monitor.model import Exchange, Expectation, Response, Signal, ToolCall, Trial, Usage
from monitor.prompts import NOT_JSON, parse_json

CODE = "REPLAY"
WARM, SALTED, STREAM = "warm", "salted", "stream"
# The error rate of the weakest model that is not called weak.
STRONG_ERROR_RATE = 0.10
# 0.001, and room for rounding: three prompts of three give just that.
FALSE_ALARMS_A_TRIAL = 0.001 + 1e-9
SLACK_TOKENS = 2
SLACK_SHARE = 0.1
_LENGTH_AND_STOP = {"length", "stop"}


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Compare an exchange with its reference, and a trial's warm answers with its cold ones."""
    reference = _reference(trial, exchange)
    if reference is None:
        return [skipped(CODE, exchange, "nothing to compare with")]
    if _is_the_same_answer(exchange, reference):
        return [skipped(CODE, exchange, "the stored answer again: no second sample")]
    comparison = exchange.expectation.comparison
    if comparison == STREAM and (contradiction := _contradiction(exchange, reference)):
        return [failed(CODE, exchange, *contradiction)]
    lost = _lost(exchange, reference)
    if not lost:
        return [_alike(exchange, reference)]
    explanation = f"{comparison}: lost against exchange {reference.index}: {', '.join(lost)}"
    if comparison == WARM and not history.weak_model and _closes_the_case(trial, exchange):
        count = len(_lost_when_warm(trial))
        words = f"{count} prompts answered rightly cold and salted, never when warm"
        return [failed(CODE, exchange, "warm_only", words)]
    return [failed(CODE, exchange, "differs", explanation)]


def _alike(exchange: Exchange, reference: Exchange) -> Signal:
    """Say that nothing was lost, if there was anything to lose."""
    if not any(_right(reference).values()):
        return skipped(CODE, exchange, f"nothing right in exchange {reference.index} to compare")
    return passed(CODE, exchange, f"as in exchange {reference.index}")


def _reference(trial: Trial, exchange: Exchange) -> Exchange | None:
    """Return the exchange to compare with, if it came back whole and answered for itself."""
    wanted = exchange.expectation.reference
    if wanted is None or wanted == exchange.index:
        return None
    return next((e for e in trial.exchanges if e.index == wanted and e.whole), None)


def _is_the_same_answer(exchange: Exchange, reference: Exchange) -> bool:
    one, other = exchange.response, reference.response
    if one is None or other is None or not one.response_id:
        return False
    return one.response_id == other.response_id


# --- What is extracted


def _right(exchange: Exchange) -> Mapping[str, bool]:
    """Return whether each expected thing is there, by names that fresh prompts of a kind share."""
    response, expected = exchange.response, exchange.expectation
    if response is None:
        return {}
    text = readable(response)
    found = {}
    if expected.nonce is not None:
        found["the code"] = echo(text, expected.nonce) is Echo.OWN
    for number, fact in enumerate(expected.answers, 1):
        found[f"answer {number}"] = holds(text, fact)
    gone = lost_places(exchange)
    for needle in expected.needles:
        found[f"{needle.place} needle"] = needle.place not in gone
    if expected.tool:
        found["the call"] = any(
            call.name == expected.tool and _canonical(call.arguments) is not None
            for call in response.tool_calls
        )
    if exchange.request.json_schema is not None:
        found["the JSON"] = _canonical(response.text) is not None
    return found


def _lost(exchange: Exchange, reference: Exchange) -> list[str]:
    """Return what the reference has and the exchange lacks, or has otherwise."""
    here, there = _right(exchange), _right(reference)
    lost = [name for name, right in there.items() if right and not here.get(name, True)]
    if lost or not _same_prompt(exchange, reference):
        return lost
    return [
        f"{name} (another)"
        for name, value in _values(reference.response, there).items()
        if here.get(name) and _values(exchange.response, here).get(name) != value
    ]


def _values(response: Response | None, right: Mapping[str, bool]) -> dict[str, object]:
    """Return what is written with structure, in a form that spacing and order do not change."""
    values: dict[str, object] = {}
    if response and right.get("the call"):
        values["the call"] = _calls(response.tool_calls)
    if response and right.get("the JSON"):
        values["the JSON"] = _canonical(response.text)
    return values


def _calls(calls: Sequence[ToolCall]) -> list[tuple[str, str | None]]:
    return sorted((call.name, _canonical(call.arguments)) for call in calls)


def _canonical(text: str) -> str | None:
    """Return JSON with its keys sorted and its strings in plain form; ``None`` if it is none."""
    value = parse_json(text)
    if value is NOT_JSON:
        return None
    try:
        return json.dumps(_plain(value), sort_keys=True)
    except RecursionError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 3.0 and 3 are one number; "3" is none
    if isinstance(value, int | float) or value is None:
        return value
    return " ".join(str(value).casefold().split())


def _same_prompt(one: Exchange, other: Exchange) -> bool:
    return one.request.messages == other.request.messages and one.request.tools == (
        other.request.tools
    )


# --- Wrong whenever warm


def _closes_the_case(trial: Trial, exchange: Exchange) -> bool:
    """True for the last warm answer that lacks something, once enough prompts were lost so."""
    prompts = _warm_prompts(trial)
    lost = _lost_when_warm(trial)
    if not lost or exchange.index != max(max(indexes) for indexes in lost.values()):
        return False
    chance = tail_probability(len(lost), len(prompts), STRONG_ERROR_RATE)
    return chance <= FALSE_ALARMS_A_TRIAL


def _warm_prompts(trial: Trial) -> set[int]:
    """Return the exchanges that were asked again, by their index."""
    return {
        e.expectation.reference
        for e in trial.exchanges
        if e.expectation.comparison == WARM and e.expectation.reference is not None
    }


def _lost_when_warm(trial: Trial) -> dict[int, list[int]]:
    """Return the prompts that every warm answer got wrong, and cold and salted ones right.

    The value holds the indexes of the warm answers.
    """
    by_index = {e.index: e for e in trial.exchanges}
    lost = {}
    for index in _warm_prompts(trial):
        cold = by_index.get(index)
        again = [e for e in trial.exchanges if e.expectation.reference == index]
        warm = [e for e in again if e.expectation.comparison == WARM]
        salted = [e for e in again if e.expectation.comparison == SALTED]
        if cold is None or not salted or not all(_all_right(e) for e in (cold, *salted)):
            continue
        if all(e.whole and _lost(e, cold) for e in warm):
            lost[index] = [e.index for e in warm]
    return lost


def _all_right(exchange: Exchange) -> bool:
    return exchange.whole and all(_right(exchange).values())


# --- Stream and plain


def _contradiction(exchange: Exchange, reference: Exchange) -> tuple[str, str] | None:
    one, other = exchange.response, reference.response
    if one is None or other is None or not _same_prompt(exchange, reference):
        return None
    counts, others = _input_counts(one), _input_counts(other)
    apart = _apart(counts, others)
    if apart > max(SLACK_TOKENS, SLACK_SHARE * max(counts | others, default=0)):
        return "stream_tokens", f"prompt tokens are {apart} apart for one prompt"
    if _ends_otherwise(one, other):
        return "stream_finish", f"{one.usage.output_tokens} tokens alike, one cut and one not"
    return None


def _input_counts(response: Response) -> set[int]:
    """Return the prompt tokens reported; some report cached tokens beside them, not among them."""
    tokens = response.usage.input_tokens
    if tokens is None:
        return set()
    return {tokens, tokens + (response.usage.cached_tokens or 0)}


def _apart(some: set[int], others: set[int]) -> int:
    return min((abs(a - b) for a in some for b in others), default=0)


def _ends_otherwise(one: Response, other: Response) -> bool:
    """True if the same text of as many tokens ended by itself once, and was cut once."""
    counts = (one.usage.output_tokens, other.usage.output_tokens)
    return (
        {one.finish_reason, other.finish_reason} == _LENGTH_AND_STOP
        and bool(one.text.strip())
        and one.answer() == other.answer()
        and None not in counts
        and counts[0] == counts[1]
    )


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    nonce = scene.mint()
    cold = an_exchange(f"It is {nonce}.", expects=Expectation(nonce=nonce))
    warm = Expectation(nonce=nonce, reference=0, comparison=WARM)
    stream = Expectation(nonce=nonce, reference=0, comparison=STREAM)
    usage = Usage(input_tokens=900, output_tokens=9)
    return [
        scene.specimen(cold, an_exchange("I forgot.", expects=warm), fails="differs"),
        scene.specimen(
            cold,
            an_exchange(f"It is {nonce}.", expects=stream, response={"usage": usage}),
            fails="stream_tokens",
        ),
        scene.specimen(cold, an_exchange(f"It is {nonce}.", expects=warm)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
