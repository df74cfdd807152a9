"""TERM: no sensitive term of the configuration stands in an answer that did not get it.

Terms are words and phrases of one target: code names, customers. A healthy model does not know
them, so one that turns up came from somewhere else, or from its training: tolerated, by rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.ontopic import readable
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History, JudgeSettings
from monitor.model import SAID_CHARACTERS, Exchange, Signal, Trial
from monitor.writing.terms import TermIndex

CODE = "TERM"
_SPANS = 16
_NAMED = 8
_LISTS = 64


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated on a term that stands in text, reasoning or calls, but not in the request.

    A term is found whole, whatever its case, width and spacing, within words only in scripts that
    part none; inflected forms are not found. It is named by its number in the configuration,
    counted from 0 as paths there are, and never quoted. Strings in JSON are read unescaped too.
    """
    terms = history.settings.sensitive_terms
    if not terms:
        return [skipped(CODE, exchange, "no sensitive terms are configured")]
    response = exchange.response
    if response is None:
        return []
    index = _index(terms)
    written = index.find(response.written())
    escaped = index.find(_escaped(readable(response), len(response.answer())))
    held = {each.term for each in [*written, *escaped]}
    if held:
        held -= {each.term for each in index.find(exchange.request.text())}
    if not held:
        return [passed(CODE, exchange, f"none of {len(terms)} terms")]
    counts = Counter(each.term for each in written if each.term in held)
    counts.update(held - counts.keys())
    spans = tuple((each.start, each.end) for each in written if each.term in held)
    signal = failed(CODE, exchange, "present", _words(counts))
    return [replace(signal, spans=spans[:_SPANS])]


def _escaped(text: str, answer: int) -> str:
    """Return what ``readable`` adds to the answer: the strings of its JSON, unescaped."""
    return text[answer : answer + SAID_CHARACTERS]


def _words(counts: Counter[int]) -> str:
    first = [f"sensitive_terms[{term}] {counts[term]} times" for term in sorted(counts)[:_NAMED]]
    more = f" and {len(counts) - _NAMED} more" if len(counts) > _NAMED else ""
    return ", ".join(first) + more


@lru_cache(maxsize=_LISTS)
def _index(terms: tuple[str, ...]) -> TermIndex:
    return TermIndex(terms)


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return an answer with a term that nobody gave it, and one that was asked about it."""
    scene = Scene(rng)
    name = f"Project {rng.choice(['Bluebird', 'Kestrel', 'Osprey'])} {rng.randint(10, 99)}"
    settings = JudgeSettings(sensitive_terms=(name, "蓝鸟计划"))
    answer = f"The date of {name.upper()} is not known."
    asked = an_exchange(answer, prompt=f"When does {name} start?")
    return [
        scene.specimen(an_exchange(answer), fails="present", settings=settings),
        scene.specimen(asked, settings=settings),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
