"""IDENTITY: what says it answered is what was asked: model, system fingerprint, request id.

- ``other_model`` (hard), ``renamed`` (flag): see ``judge``.
- ``request_id_swapped`` (hard): the answer names the id of *another* question of ours. Ids are 128
  random bits each, so it got there from that question. An id nobody knows says nothing, for many
  servers and proxies give ids of their own; nor does the id of the very same prompt, asked before:
  a stored answer may be served again, with all that came with it.
- ``fingerprint_changed`` (flag): a ``system_fingerprint`` that was never seen, after the set of
  them had been closed for 16 answers a member. Replicas of several builds share one name: of k that
  share the load evenly the last shows itself that late with a chance of (1 - 1/k)**(16 (k - 1)),
  2**-16 for two and less for more; one that hardly ever answers is flagged once. A server that
  gives each answer its own is never held to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.history import History, observe, prompt_digest, sent_id
from monitor.identifiers import HIDDEN
from monitor.model import Exchange, Signal, Status, Trial

CODE = "IDENTITY"
# So many answers under one name before another name says anything.
SETTLED = 5
# So many by the right model before another one's first: behind one name there may be replicas that
# name themselves differently, and where they share the load the first dozen answers show both.
SETTLED_ALONE = 16
# A name that so many answers give is one of the target's own: what is remembered has no beginning
# once it is full, and a swap has been told long before.
OWN_SHARE = 0.15
# So many answers for each system fingerprint known, without a new one, before another is a change.
CLOSED_PER_FINGERPRINT = 16
# Where an answer may name a question: the id of the answer, and whatever is called a request id.
_ID_NAME = re.compile(r"(?:request|trace|call|generation)[-_]?id$")
# Words that say nothing of whose model it is.
_COMMON = frozenset(
    [
        *("model", "models", "instruct", "chat", "base", "it", "hf", "gguf", "awq", "gptq", "fp"),
        *("int", "bf", "preview", "latest", "default", "main", "beta", "exp", "mini", "small"),
        *("large", "pro", "flash", "turbo", "lite", "max", "plus", "thinking", "reasoning"),
    ]
)
_LETTERS = re.compile(r"[a-z]{2,}")


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on another question's id, or another model's name; flag what is only new."""
    response = exchange.response
    faults: list[Signal] = []
    if _swapped(trial, exchange, history):
        words = "the answer names another of our questions, which asked something else"
        faults.append(failed(CODE, exchange, "request_id_swapped", words))
    if response and response.system_fingerprint:
        faults += _changed(exchange, response.system_fingerprint, history)
    named = _judge_name(trial, exchange, history)
    return [*faults, *(() if faults and named.status is not Status.FAIL else (named,))]


def _judge_name(trial: Trial, exchange: Exchange, history: History) -> Signal:
    """Fail hard on a name of another family, once the target has named the right one often.

    Servers answer under aliases, paths and dated snapshots of what was asked, so a name that
    merely differs is no fault; a new one is worth a look. A name of another family says that
    something else answered: a fallback, a route, a swap. A healthy target that always names its
    model in its own way, or has replicas that do, is not held to it: of two names that share the
    load evenly the second is that late with a chance of 2**-16.
    """
    response = exchange.response
    name = response.model if response else None
    if not name:
        return skipped(CODE, exchange, "no model is named")
    if name.startswith(HIDDEN):
        return skipped(CODE, exchange, "what it calls its model holds a secret")
    before = [seen.model for seen in history.earlier if seen.model]
    if not before:
        return skipped(CODE, exchange, "no earlier answer to compare its name with")
    alone = before[: before.index(name)] if name in before else before
    right = sum(_related(trial.model, earlier) for earlier in alone)
    own = before.count(name) > OWN_SHARE * len(before)
    if right >= SETTLED_ALONE and not own and _family(name) and not _related(trial.model, name):
        words = f"another model is named, after {right} answers by the one that was asked"
        return failed(CODE, exchange, "other_model", words)
    if len(before) >= SETTLED and {*before[-SETTLED:]} == {before[-1]} and name != before[-1]:
        return failed(CODE, exchange, "renamed", "the model is named differently from now on")
    return passed(CODE, exchange, "named as before")


def _swapped(trial: Trial, exchange: Exchange, history: History) -> bool:
    """Tell whether the answer names the id of a question of ours that asked something else."""
    response = exchange.response
    if response is None:
        return False
    said = [exchange.request_id or "", response.response_id or ""]
    said += [value for name, value in response.headers if _ID_NAME.search(name)]
    named = "\n".join(said).lower().replace("-", "")
    others = [
        (sent_id(other.sent_request_id), prompt_digest(other.request.text()))
        for other in trial.exchanges
        if other.index != exchange.index
        and other.sent_request_id
        and other.sent_request_id[:16] in named
    ]
    others += [(seen.sent_id, seen.prompt_digest) for seen in history.earlier]
    found = {digest for number, digest in others if number and f"{number:016x}" in named}
    return bool(found - {prompt_digest(exchange.request.text())}) if found else False


def _changed(exchange: Exchange, fingerprint: str, history: History) -> list[Signal]:
    before = [seen.system_fingerprint for seen in history.earlier if seen.system_fingerprint]
    known = dict.fromkeys(before)
    if not before or fingerprint in known:
        return []
    closed = len(before) - max(before.index(each) for each in known)
    if closed < CLOSED_PER_FINGERPRINT * len(known):
        return []
    words = f"a system fingerprint that is none of {len(known)} seen in {len(before)} answers"
    return [failed(CODE, exchange, "fingerprint_changed", words)]


def _related(asked: str, named: str) -> bool:
    """Tell whether two names share a word that says whose model it is."""
    return asked.casefold() == named.casefold() or bool(_family(asked) & _family(named))


def _family(name: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(name.casefold())) - _COMMON


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    right = an_exchange("Paris.")
    past = [
        replace(observe(a_trial(right), right), model="specimen-7b") for _ in range(SETTLED_ALONE)
    ]
    past = [replace(each, system_fingerprint="fp_1") for each in past]
    other = an_exchange("Paris.", response={"model": "stranger-70b"})
    same = an_exchange("Paris.", response={"model": "specimen-7b", "system_fingerprint": "fp_1"})
    built = an_exchange("Paris.", response={"model": "specimen-7b", "system_fingerprint": "fp_2"})
    sent = an_exchange("Rome.", prompt="What is Italy's?", sent_request_id=rng.randbytes(16).hex())
    swapped = replace(same, request_id=sent.sent_request_id)
    return [
        scene.specimen(sent, swapped, fails="request_id_swapped", earlier=tuple(past)),
        scene.specimen(built, fails="fingerprint_changed", earlier=tuple(past)),
        scene.specimen(other, fails="other_model", earlier=tuple(past)),
        scene.specimen(same, earlier=tuple(past)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=_specimens)
