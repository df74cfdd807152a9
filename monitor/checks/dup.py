"""DUP: an answer that nothing else should be answered with came back to another request.

Compared are letters and digits alone, so case, space, punctuation and emphasis do not matter; codes
are *not* cut out: healthy answers to our questions differ in nothing else. An answer is *telling*,
so that it must not repeat, if it holds

- a marker of this installation (64 bits, a valid tag), which does not stand in both requests, or
- its own exchange's right answer, drawn from at least 2**32, or
- 200 letters and more of at least 20 different words that are neither a refusal nor taken from the
  prompt; then it counts only where something else was asked for.

It never fails where both requests have the same right answer, nor for the same prompt: a stored
answer may be served again. Of a trial's two it marks the one whose answer is not right, else the
later. What is remembered are keyed hashes.

False alarms: an answer with a code or a drawn answer repeats by chance once in 2**32 pairs. A long
one repeats where a model has a set phrase; after three different prompts it is taken for one. None
in the bench's 3,000 healthy pairs: at most 0.13 % (95 %).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from monitor.canaries import Echo, MarkerRegistry, echo
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.fresh import MARKER, stands_in_request
from monitor.checks.ontopic import Said, readable
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History, prompt_digest
from monitor.model import SAID_CHARACTERS, Exchange, Expectation, Fact, Signal, Trial

CODE = "DUP"
LEAST_BITS = 32.0
LEAST_LETTERS, LEAST_WORDS = 200, 20
# What is compared of an answer; two that agree so far are the same.
COMPARED_CHARACTERS = 20_000
# More of an answer than this in runs of five words of the prompt: it was copied from there.
COPIED_SHARE, RUN_WORDS = 0.5, 5
# A long answer that so many different prompts got is a phrase of the model's own.
SET_PHRASE = 3
# No place of a marker has these numbers: they keep our hashes apart.
_ANSWER_HASH, _TASK_HASH = 16, 17
_OPENING = 400
_REFUSAL = re.compile(
    r"\b(?:i['\u2019]?m sorry|i am sorry|i apologi[sz]e|as an ai|i can ?not|i can['\u2019]t"
    r"|i am unable|i['\u2019]m unable|not able to (?:help|assist)|i won['\u2019]t)\b"
    r"|抱歉|对不起|无法|不能(?:回答|提供)|作为一个?(?:ai|人工智能|语言模型)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Telling:
    """An answer that must not repeat: its keyed hash, and the markers that make it telling.

    ``task`` is the hash of what was asked for, where only another task makes a repetition odd.
    """

    answer: int
    task: int | None = None
    codes: tuple[str, ...] = ()


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Flag an answer that another request of the trial, or an earlier trial's, got as well."""
    answers = _answers(trial, history)
    here = next(each for each in answers if each.exchange.index == exchange.index)
    if not here.text:
        return [skipped(CODE, exchange, "nothing was answered")]
    own = here.telling
    for there in answers:
        other = there.exchange
        if _is_dup(here, there) and _is_to_blame(here, there):
            words = f"word for word the answer of exchange {other.index}, which asked otherwise"
            return [_failed(exchange, other.tenant, "in_trial", words)]
    if own is None:
        return [skipped(CODE, exchange, "too short or ordinary to say anything if it repeats")]
    tenants = list(_earlier(trial, exchange, own, history))
    if tenants and (own.task is None or len(tenants) < SET_PHRASE):
        words = f"word for word the answer to {len(tenants)} different requests of earlier trials"
        return [_failed(exchange, tenants[-1], "over_time", words)]
    return [passed(CODE, exchange, "no other request got this answer")]


def _failed(exchange: Exchange, tenant: str, variant: str, words: str) -> Signal:
    other_tenant = tenant != exchange.tenant
    return failed(CODE, exchange, "across_tenants" if other_tenant else variant, words)


def telling(exchange: Exchange, history: History) -> Telling | None:
    """Return what to remember of an answer that must not repeat; ``None`` of an ordinary one."""
    return _Answer(exchange, history.registry).telling


class _Answer:
    """What was answered. Each answer is compared with all of its trial, but folded once."""

    def __init__(self, exchange: Exchange, registry: MarkerRegistry) -> None:
        self.exchange = exchange
        self._registry = registry

    @cached_property
    def text(self) -> str:
        return plain(self.exchange)

    @cached_property
    def telling(self) -> Telling | None:
        exchange, registry = self.exchange, self._registry
        response, expected = exchange.response, exchange.expectation
        if response is None or not exchange.whole:
            return None
        answer = registry.hash_part(_ANSWER_HASH, self.text)
        codes = [c for c in _codes(exchange) if registry.has_valid_tag(tuple(c.split("-")))]
        if codes:
            return Telling(answer, codes=tuple(codes))
        if expected.answer_bits >= LEAST_BITS and expected.answers:
            said = Said(readable(response))
            if all(said.holds(fact) for fact in expected.answers):
                return Telling(answer)
        if not _is_long(exchange, self.text):
            return None
        return Telling(answer, task=registry.hash_part(_TASK_HASH, _task(expected)))

    @cached_property
    def is_right(self) -> bool:
        response, expected = self.exchange.response, self.exchange.expectation
        if response is None or not (expected.answers or expected.nonce):
            return False
        text = readable(response)
        said = Said(text)
        echoed = expected.nonce is None or echo(text, expected.nonce) is Echo.OWN
        return echoed and all(said.holds(fact) for fact in expected.answers)


def _answers(trial: Trial, history: History) -> tuple[_Answer, ...]:
    """Return the answers of the trial that is being judged, each folded once."""

    def fold() -> tuple[_Answer, ...]:
        return tuple(_Answer(exchange, history.registry) for exchange in trial.exchanges)

    return history.once((CODE, trial), fold)


def plain(exchange: Exchange) -> str:
    """Return the letters and digits of an answer's first part, case and width folded."""
    response = exchange.response
    if response is None or not exchange.whole:
        return ""
    folded = unicodedata.normalize("NFKC", response.answer()[:COMPARED_CHARACTERS]).casefold()
    return "".join(filter(str.isalnum, folded))


def _codes(exchange: Exchange) -> list[str]:
    answer = exchange.response.answer() if exchange.response else ""
    return list(dict.fromkeys(MARKER.findall(answer[:COMPARED_CHARACTERS].casefold())))


def _is_to_blame(here: _Answer, there: _Answer) -> bool:
    """Tell which of two exchanges to mark: one that is not answered rightly, else the later."""
    if here.is_right != there.is_right:
        return there.is_right
    return here.exchange.index > there.exchange.index


def _is_dup(here: _Answer, there: _Answer) -> bool:
    """Tell whether both have one answer that at most one of them can have by right."""
    exchange, other = here.exchange, there.exchange
    if other.index == exchange.index or there.text != here.text:
        return False
    if exchange.request.text() == other.request.text():
        return False
    for each in (here.telling, there.telling):
        if each is None:
            continue
        if each.task is not None:
            if _task(exchange.expectation) != _task(other.expectation):
                return True
        elif not _same_right_answer(exchange.expectation, other.expectation) and (
            not each.codes or not _in_both(each.codes, exchange, other)
        ):
            return True
    return False


def _in_both(codes: Sequence[str], exchange: Exchange, other: Exchange) -> bool:
    requests = (exchange.request, other.request)
    return all(stands_in_request(code, request) for code in codes for request in requests)


def _same_right_answer(one: Expectation, other: Expectation) -> bool:
    if one.nonce is not None and one.nonce == other.nonce:
        return True
    return not _strings(one.answers).isdisjoint(_strings(other.answers))


def _strings(facts: Sequence[Fact]) -> frozenset[str]:
    return frozenset(text.casefold() for fact in facts for text in fact.any_of)


def _task(expected: Expectation) -> str:
    """Name what is asked for, markers aside: two golden prompts, two sums, are two tasks."""
    if expected.golden is not None:
        return f"golden {expected.golden}"
    return "\n".join(sorted(text for text in _strings(expected.answers) if not MARKER.match(text)))


def _earlier(trial: Trial, exchange: Exchange, own: Telling, history: History) -> Iterator[str]:
    """Yield whose each earlier request was that got this answer and had to get another.

    A confirmation asks what the trial it confirms has asked: those two may well agree.
    """
    asked_in, prompt = trial.replays or trial.id, None
    for seen in history.earlier:
        if seen.answer != own.answer or seen.asked_in == asked_in:
            continue
        prompt = prompt or prompt_digest(exchange.request.text())
        one_task = own.task is not None and seen.task == own.task
        if seen.prompt_digest != prompt and not one_task:
            yield seen.tenant


def _is_long(exchange: Exchange, text: str) -> bool:
    answer = exchange.response.answer()[:COMPARED_CHARACTERS] if exchange.response else ""
    if len(text) < LEAST_LETTERS or _REFUSAL.search(answer[:_OPENING]):
        return False
    words = answer.casefold().split()
    return len(set(words)) >= LEAST_WORDS and not _copied(words, exchange)


def _copied(words: list[str], exchange: Exchange) -> bool:
    """True if most of the answer's runs of words stand in the prompt, or in its first part."""
    prompt = exchange.request.text()[:SAID_CHARACTERS].casefold().split()
    runs = set(_runs(words))
    found = runs.intersection(_runs(prompt))
    return len(found) > COPIED_SHARE * max(1, len(runs))


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    number = f"{rng.randrange(10**10, 10**11)}"
    other = f"{rng.randrange(10**10, 10**11)}"

    def asked(answer: str, right: str, tenant: str = "tenant-a") -> Exchange:
        expects = Expectation(answers=(Fact(name="it", any_of=(right,)),), answer_bits=36.0)
        return an_exchange(answer, prompt=f"What is {right}?", tenant=tenant, expects=expects)

    one, again = asked(f"It is {number}.", number), asked(f"it is {number}", other)
    theirs = asked(f"**It is** {number}", other, "tenant-b")
    right = asked(f"It is {other}.", other)
    return [
        scene.specimen(one, again, fails="in_trial"),
        scene.specimen(one, theirs, fails="across_tenants"),
        scene.specimen(one, right),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
