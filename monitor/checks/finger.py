"""FINGER: the facts a target answers with are those it answered with before.

Two variants, both flags: they say that *outputs moved*, never why. A new model, another
quantisation, another replica, a changed template all look alike here.

- ``facts_moved``: a golden prompt's *fingerprint*, a keyed hash of the facts in its answer, is one
  that was never seen while the prompt's fingerprint was settled. Facts are which expectations are
  met and by which of their alternatives, the numbers that are not in the prompt, the values of JSON
  and the items of a list; not the wording. A prompt is settled when at least 90 % of at least eight
  answers agree and none stands alone (where some do, another one is to be expected: Good and
  Turing's estimate of what was never seen). The answers are those of the calibration, else the
  oldest of the last 24 without the newest eight, so that a move is flagged for a while and then is
  the new normal. Where the answering route says
  who it is (a replica's header, a system fingerprint) and has eight answers of its own, it is
  compared with those.
- ``unseen_first_token``: a border input, whose first token was undecided, was answered with a first
  token that was never seen in the calibration.

False alarms: where a share p of a prompt's answers differs from the others, n alike and then
another come with (1-p)^n p: about p where it is small, and at most 4.4 % of answers, for n = 8 and
p = 1/9 (``tests/bench/checks/finger.py``). Of answers to prompts that seem settled it is p. They
are for streams of 0 and 1, with a detector behind them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.fact import prompt_as_asked
from monitor.checks.specimen import Scene, a_calibration, a_golden_prompt, an_exchange
from monitor.history import Finger, History
from monitor.model import Exchange, Expectation, FirstTokens, Signal, Trial
from monitor.prompts import AnyOf, GoldenPrompt, ListHas, missing_facts
from monitor.prompts.answers import MAX_ANSWER, without_code
from monitor.prompts.first_token import first_token_of
from monitor.prompts.structured import json_objects
from monitor.prompts.text import contains, normalise

CODE = "FINGER"
SETTLED = 8
SETTLED_SHARE = 0.9
# So many of the newest answers are no part of what a new one is compared with.
NEWEST = 8
_MAX_FACTS = 64
# No place of a marker has these numbers: they keep our hashes apart.
_FACTS_HASH, _ROUTE_HASH = 18, 19
_ROUTE_HEADERS = ("x-served-by", "x-litellm-model-id", "body.provider")
_NUMBER = re.compile(r"\d{1,40}(?:[.,]\d{1,40}){0,8}")
_ITEM = re.compile(r"^\s{0,20}(?:[-*+\u2022]|\d{1,3}[.)\u3001])\s{0,20}(\S.{0,300})$", re.MULTILINE)
_ITEM_NUMBER = re.compile(r"^\s{0,20}\d{1,3}[.)\u3001]", re.MULTILINE)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Flag facts, or a first token, that were never seen while the target was settled."""
    if exchange.expectation.border_input:
        return [_first_token(exchange, history)]
    finger = finger_of(exchange, history)
    if finger is None:
        return [skipped(CODE, exchange, "not a golden prompt")]
    seen, where = _reference(finger, exchange.expectation, history)
    total = sum(seen.values())
    if total < SETTLED:
        return [skipped(CODE, exchange, f"only {total} earlier answers to compare with")]
    most = max(seen.values())
    if most < SETTLED_SHARE * total or 1 in seen.values():
        words = f"its facts vary by themselves: {most} of {total} are alike"
        return [skipped(CODE, exchange, words)]
    if finger.facts in seen:
        return [passed(CODE, exchange, f"facts as in {seen[finger.facts]} of {total} answers")]
    words = f"facts as in none of {total} earlier answers {where}, of which {most} are alike"
    return [failed(CODE, exchange, "facts_moved", words)]


# --- Fingerprints


def fingerprint_of(exchange: Exchange, history: History) -> str | None:
    """Return the fingerprint of an answer to a golden prompt: 16 hex digits, for a calibration.

    ``None`` if there is no whole answer, or the prompt is not the version that was asked. Equal
    facts give equal fingerprints within one installation, whose key they are hashed under.
    """
    finger = finger_of(exchange, history)
    return f"{finger.facts:016x}" if finger else None


def finger_of(exchange: Exchange, history: History) -> Finger | None:
    """Return what to remember of an answer to a golden prompt, if this is one."""
    expected, response = exchange.expectation, exchange.response
    prompt = prompt_as_asked(exchange, history)
    if prompt is None or response is None or not exchange.whole:
        return None
    facts = json.dumps([*_facts(prompt, response.answer()[:MAX_ANSWER], expected.nonce or "")])
    return Finger(
        prompt=_prompt_key(expected),
        facts=history.registry.hash_part(_FACTS_HASH, facts),
        route=_route(exchange, history),
    )


def _prompt_key(expected: Expectation) -> str:
    return f"{expected.golden}@{expected.golden_version}"


def _facts(prompt: GoldenPrompt, answer: str, nonce: str) -> Iterator[object]:
    """Yield the facts of an answer in an order that its wording does not change."""
    text = normalise(without_code(answer))
    yield missing_facts(prompt, answer)
    for expectation in prompt.expectations:
        if isinstance(expectation, AnyOf):
            strings = map(normalise, expectation.strings)
            yield [place for place, one in enumerate(strings) if contains(text, one)]
    if prompt.structure != "code":
        asked = set(_numbers(normalise(prompt.prompt)))
        yield sorted(set(_numbers(text)) - asked)[:_MAX_FACTS]
    if prompt.structure == "json":
        bare = answer.replace(nonce, "") if nonce else answer
        yield [_canonical(found) for found in json_objects(bare)][:_MAX_FACTS]
    if any(isinstance(expectation, ListHas) for expectation in prompt.expectations):
        items = [_letters(item) for item in _ITEM.findall(normalise(answer))]
        yield [item for item in items if not (nonce and _letters(nonce) in item)][:_MAX_FACTS]


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a normalised text; one at the head of a list's item is none."""
    for found in _NUMBER.findall(_ITEM_NUMBER.sub("", text)):
        plain = found.replace(",", "")
        yield format(Decimal(plain).normalize(), "f") if plain.count(".") <= 1 else plain


def _canonical(value: object) -> str:
    try:
        return normalise(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str))
    except (RecursionError, ValueError):
        return ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _route(exchange: Exchange, history: History) -> int:
    """Return a hash of who says it answered: a replica, a provider, a build; 0 if nobody does."""
    response = exchange.response
    if response is None:
        return 0
    named = dict(reversed(response.headers))
    says = [named.get(name, "") for name in _ROUTE_HEADERS]
    says.append(response.system_fingerprint or "")
    if not any(says):
        return 0
    return history.registry.hash_part(_ROUTE_HASH, json.dumps(says))


def _reference(finger: Finger, expected: Expectation, history: History) -> tuple[Counter[int], str]:
    """Return how often each fingerprint was seen in what counts as settled, and where."""
    seen = history.fingers.get(finger.prompt, ())
    old = seen[: max(SETTLED, len(seen) - NEWEST)]
    alike = [each for each in old if finger.route and each.route == finger.route]
    if len(alike) >= SETTLED:
        return Counter(each.facts for each in alike), "by this route"
    counts: Counter[int] = Counter()
    if history.calibration is not None and expected.golden is not None:
        known = history.calibration.prompt(expected.golden, expected.golden_version)
        counts.update(
            {int(facts, 16): times for facts, times in known.fingerprints} if known else {}
        )
    if sum(counts.values()) < SETTLED:
        counts.update(each.facts for each in old)
    new = finger.route and finger.route not in {each.route for each in seen}
    return counts, "(by a route not seen before)" if new and seen else "to this prompt"


# --- First tokens


def _first_token(exchange: Exchange, history: History) -> Signal:
    known = _known(exchange.expectation.border_input, history)
    times = sum(count for _, count in known.seen) if known else 0
    if known is None or times < SETTLED:
        return skipped(CODE, exchange, "no calibration of this border input")
    token = first_token_of(exchange)
    if token is None:
        return skipped(CODE, exchange, "what the answer begins with cannot be told")
    if token in {seen for seen, _ in known.seen}:
        return passed(CODE, exchange, f"one of {len(known.seen)} first tokens seen before")
    words = f"a first token that is none of {len(known.seen)} seen in {times} answers"
    return failed(CODE, exchange, "unseen_first_token", words)


def _known(border_input: str, history: History) -> FirstTokens | None:
    tokens = history.calibration.first_tokens if history.calibration else ()
    return next((each for each in tokens if each.border_input == border_input), None)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    a, b = rng.sample(range(100, 1000), 2)
    prompt = a_golden_prompt(
        prompt="How many boats are in the harbour?",
        expectations=(AnyOf(strings=(f"{a}", f"{b}")),),
    )
    expects = Expectation(golden=prompt.name, golden_version=prompt.version)
    right, moved = (an_exchange(f"There are {n} boats.", expects=expects) for n in (a, b))
    history = scene.specimen(right, golden={prompt.name: prompt}).history
    finger = finger_of(right, history)
    past = {finger.prompt: (finger,) * SETTLED} if finger else {}
    golden: dict[str, Any] = {"golden": {prompt.name: prompt}, "fingers": past}
    border = Expectation(border_input="specimen")
    seen = FirstTokens(border_input="specimen", seen=(("Paris", SETTLED), ("The", 2)))
    calibrated: dict[str, Any] = {"calibration": a_calibration(first_tokens=(seen,))}
    return [
        scene.specimen(moved, fails="facts_moved", **golden),
        scene.specimen(right, **golden),
        scene.specimen(
            an_exchange("Rome", expects=border), fails="unseen_first_token", **calibrated
        ),
        scene.specimen(an_exchange("Paris", expects=border), **calibrated),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
