"""IDENTITY: the model that says it answered is the one that was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.history import History, observe
from monitor.model import Exchange, Signal, Trial

CODE = "IDENTITY"
# So many answers under one name before another name says anything.
SETTLED = 5
# So many by the right model before another one's first: behind one name there may be replicas that
# name themselves differently, and where they share the load the first dozen answers show both.
SETTLED_ALONE = 16
# A name that so many answers give is one of the target's own: what is remembered has no beginning
# once it is full, and a swap has been told long before.
OWN_SHARE = 0.15
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
        return [skipped(CODE, exchange, "no model is named")]
    before = [seen.model for seen in history.earlier if seen.model]
    if not before:
        return [skipped(CODE, exchange, "no earlier answer to compare its name with")]
    alone = before[: before.index(name)] if name in before else before
    right = sum(_related(trial.model, earlier) for earlier in alone)
    own = before.count(name) > OWN_SHARE * len(before)
    if right >= SETTLED_ALONE and not own and _family(name) and not _related(trial.model, name):
        words = f"another model is named, after {right} answers by the one that was asked"
        return [failed(CODE, exchange, "other_model", words)]
    if len(before) >= SETTLED and {*before[-SETTLED:]} == {before[-1]} and name != before[-1]:
        return [failed(CODE, exchange, "renamed", "the model is named differently from now on")]
    return [passed(CODE, exchange, "named as before")]


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
    other = an_exchange("Paris.", response={"model": "stranger-70b"})
    same = an_exchange("Paris.", response={"model": "specimen-7b"})
    return [
        scene.specimen(other, fails="other_model", earlier=tuple(past)),
        scene.specimen(same, earlier=tuple(past)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=_specimens)
