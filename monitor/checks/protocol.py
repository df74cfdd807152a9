"""PROTOCOL: a 200 speaks the protocol, and one response id belongs to one prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeGuard

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History, prompt_digest
from monitor.identifiers import HIDDEN
from monitor.model import Exchange, Failure, FailureKind, Message, Signal, Trial

CODE = "PROTOCOL"
HTTP_OK = 200
# Some servers of the dialect never report usage: a gap to show, not a broken promise.
NO_USAGE = "usage_missing"
_WORD = re.compile(r"[0-9A-Za-z]+")
# What an id needs so that no two answers have it by chance: about 2**32 ids.
LEAST_MIXED = 8
# A number is a counter, a clock, or drawn from few; a clock of nanoseconds does not repeat itself.
LEAST_DIGITS = 16


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a 200 whose body is not an answer, or on an id used for two prompts.

    Only ids that tell answers apart are compared. Ollama draws one of 999 numbers, and others use
    the second of the day, so that two answers of a healthy server may well have the same.
    """
    failure, response = exchange.failure, exchange.response
    if _is_nonsense(failure) and exchange.http_status == HTTP_OK:
        return [failed(CODE, exchange, "not_the_protocol", failure.detail)]
    if response is None or failure is not None:
        return [skipped(CODE, exchange, "no whole answer to judge")]
    if _id_used_before(trial, exchange, history):
        return [failed(CODE, exchange, "response_id_reused", "one response id for two prompts")]
    broken = [fault for fault in response.protocol_faults if fault != NO_USAGE]
    if broken:
        return [failed(CODE, exchange, "faults", ", ".join(broken[:8]))]
    if response.protocol_faults:
        return [failed(CODE, exchange, "no_usage", "token counts cannot be checked here")]
    return [passed(CODE, exchange, "the body is the protocol")]


def _is_nonsense(failure: Failure | None) -> TypeGuard[Failure]:
    return failure is not None and failure.kind is FailureKind.PROTOCOL


def _id_used_before(trial: Trial, exchange: Exchange, history: History) -> bool:
    response = exchange.response
    if response is None or not response.response_id or not _tells_apart(response.response_id):
        return False
    digest = prompt_digest(exchange.request.text())
    earlier = [(seen.response_id, seen.prompt_digest) for seen in history.earlier]
    earlier += [
        (other.response.response_id, prompt_digest(other.request.text()))
        for other in trial.exchanges
        if other.index < exchange.index and other.response is not None
    ]
    return any(i == response.response_id and seen != digest for i, seen in earlier)


def _tells_apart(response_id: str) -> bool:
    """True if the id has enough digits, or letters mixed with digits, to be one answer's own.

    Of one that is hidden nobody knows.
    """
    if response_id.startswith(HIDDEN):
        return False
    words = _WORD.findall(response_id)
    digits = sum(len(word) for word in words if word.isdigit())
    mixed = sum(len(word) for word in words if not word.isalpha()) - digits
    return mixed >= LEAST_MIXED or digits >= LEAST_DIGITS


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    one = an_exchange("Paris.", response={"response_id": rng.randbytes(12).hex()})
    other = replace(one, request=replace(one.request, max_output_tokens=65))
    asked = Message(role="user", content="What is the capital of Italy?")
    twice = replace(one, request=replace(one.request, messages=(asked,)))
    faulty = an_exchange("Paris.", response={"protocol_faults": ("choices_missing",)})
    return [
        scene.specimen(one, twice, fails="response_id_reused"),
        scene.specimen(faulty, fails="faults"),
        scene.specimen(one, other),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING, specimens=_specimens)
