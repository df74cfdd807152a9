"""SURPLUS: nothing stands in the answer that nobody asked for and that a server put there.

Five kinds, each told by its wording: an engine's, gateway's or proxy's error within an answer that
was sent as a success; thoughts before the answer, which the parser of reasoning should have set
apart; an advert or a link; signs escaped for HTML; and the prompt itself, whole or 160 characters
of it in a row. They are looked for in the text of answers to our own prompts, not in reasoning or
calls, and not where the prompt holds or asks for the like.

All but one are tolerated: a weak model thinks aloud, quotes, or names a page too, and none of it
proves where the text came from. Hard is only the serving stack's own wording (``server_failure``:
of GPUs and their libraries, a proxy's page), which no question of ours has for an answer; of a weak
model it is tolerated like the rest.

Measured (``tests/bench/checks/surplus.py``): of 328 right answers to the shipped prompts and texts
in many languages none fails in any kind (at most 1.2 % at 95 %). Nor does ``server_failure`` fail
any of 12,000 pieces of documents, docstrings and sources, which speak of software (at most 0.03 %).
Of 800 pieces of documents and docstrings two hold another error, and every fifth a link, which
documents are written with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, meant_to_be_cut, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import SAID_CHARACTERS, Exchange, Expectation, Signal, Trial
from monitor.writing import surplus

CODE = "SURPLUS"
# What an assistant said, or a tool, may be told again.
_ASKING = ("system", "developer", "user")
_WORDS = {
    "server_failure": "the serving stack's own error stands in the answer",
    "server_error": "an error of a server stands in the answer",
    "thoughts": "the answer begins with thoughts about the question",
    "advert": "an advert or a link that nobody asked for",
    "escaped": "signs are escaped as in HTML",
    "prompt_echoed": "the prompt stands in the answer again",
}


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail on what stands in the answer and was not asked for: a signal for each kind.

    Hard on the serving stack's own error, tolerated on the rest.
    """
    if exchange.response is None or meant_to_be_cut(exchange):
        return [skipped(CODE, exchange, "nothing was asked that is known")]
    text = exchange.response.text[:SAID_CHARACTERS]
    request = exchange.request.text()
    given = _given(exchange, history)
    failure = None if history.weak_model else _error(text, given, surplus.SERVER_FAILURE)
    error = None if failure else _error(text, given, surplus.SERVER_ERROR)
    found = {
        "server_failure": failure,
        "server_error": error,
        "thoughts": None if surplus.ABOUT_USERS.search(request) else surplus.thoughts(text),
        "advert": _advert(text, given),
        "escaped": _escaped(text, given),
        "prompt_echoed": _echo(text, exchange, history),
    }
    signals = [
        replace(failed(CODE, exchange, variant, _WORDS[variant]), spans=(place,))
        for variant, place in found.items()
        if place is not None
    ]
    return signals or [passed(CODE, exchange, "nothing stands there that nobody asked for")]


def _error(text: str, given: Sequence[str], kind: re.Pattern[str]) -> tuple[int, int] | None:
    found = kind.search(text)
    return None if found is None or any(map(surplus.ABOUT_ERRORS.search, given)) else found.span()


def _advert(text: str, given: Sequence[str]) -> tuple[int, int] | None:
    found = surplus.ADVERT.search(text)
    if found is None or any(
        surplus.ADVERT.search(each) or surplus.ABOUT_LINKS.search(each) for each in given
    ):
        return None
    return found.span()


def _escaped(text: str, given: Sequence[str]) -> tuple[int, int] | None:
    if any(surplus.ABOUT_ESCAPES.search(each) or surplus.ENTITY.search(each) for each in given):
        return None
    return surplus.escaped(text)


def _echo(text: str, exchange: Exchange, history: History) -> tuple[int, int] | None:
    asked = [m.content for m in exchange.request.messages if m.role in _ASKING]
    piece = surplus.echoed(text, asked)
    if not piece or any(piece in " ".join(each.split()) for each in _right(exchange, history)):
        return None
    return 0, len(text)


def _right(exchange: Exchange, history: History) -> list[str]:
    """Return what a right answer may hold: expected facts, references."""
    prompt = history.golden.get(exchange.expectation.golden or "")
    facts = (text for fact in exchange.expectation.answers for text in fact.any_of)
    return [*facts, *(prompt.references if prompt else ())]


def _given(exchange: Exchange, history: History) -> list[str]:
    return [exchange.request.text(), *_right(exchange, history)]


_ANSWER = "The capital of France is Paris."
_FAILURES = ("[ERROR: CUDA out of memory]", "<h1>502 Bad Gateway</h1>", "RuntimeError: NCCL error")
_ERRORS = ("[ERROR: stream interrupted ]", "rate limit exceeded", "Error: upstream timed out")
_PROMPT = "What is the capital of France? Answer with the name of the city, and with nothing else."


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return an answer with each kind of surplus, and one without."""
    scene = Scene(rng)
    expects = Expectation(nonce=scene.mint())
    thought = rng.choice(("Okay, the user wants a city. ", "We need to answer with a city. "))
    bad = {
        "server_failure": f"{_ANSWER}\n{rng.choice(_FAILURES)}",
        "server_error": f"{_ANSWER}\n{rng.choice(_ERRORS)}",
        "thoughts": thought + _ANSWER,
        "advert": f"{_ANSWER}\nPowered by https://ads.example/{rng.randrange(10**6)}",
        "escaped": _ANSWER.replace("is", "isn&#39;t but"),
        "prompt_echoed": f"{_PROMPT}\n{_ANSWER}",
    }
    return [
        *(
            scene.specimen(an_exchange(text, prompt=_PROMPT, expects=expects), fails=variant)
            for variant, text in bad.items()
        ),
        scene.specimen(an_exchange(_ANSWER, prompt=_PROMPT, expects=expects)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
