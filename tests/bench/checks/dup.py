"""DUP on pairs of answers to different requests: by right alike, by fault alike, and different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from monitor.checks.dup import CHECK
from monitor.model import Exchange, Fact, Status
from tests.bench.checks.packaged import docstrings, windows
from tests.bench.checks.table import Row
from tests.builders import Bench, a_trial, an_exchange

PAIRS = 3000
_REFUSALS = (
    "I'm sorry, but I can't help with that request. ",
    "As an AI language model, I cannot provide an answer to this question. ",
    "I apologize, but I am unable to do so. ",
)
_SHORT = ("Yes.", "Paris", "42", "Sure!", "I do not know.", "{}", "OK", "Done.")
_WORDINGS = (
    "{code}",
    "The reference code is {code}.",
    "The reference code is {code}. The sum is {sum}.",
    "1. {code}\n2. {sum}",
    "Sure! The code of this ticket is **{code}**, and the answer is {sum}.",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to two different requests of one trial."""

    first: Exchange
    second: Exchange

    def failed(self) -> bool:
        """Tell whether either of them fails."""
        trial = a_trial(self.first, self.second)
        found = [s for e in trial.exchanges for s in CHECK.judge(trial, e, BENCH.history)]
        return any(signal.status is Status.FAIL for signal in found)

    def naive(self) -> bool:
        """Fail two answers that are the same string."""
        one, other = self.first.response, self.second.response
        return one is not None and other is not None and one.text == other.text


BENCH = Bench()


def _two(rng: Random, texts: list[str]) -> tuple[Exchange, Exchange]:
    one, other = rng.sample(texts, 2)
    return _asked(rng, 0, one), _asked(rng, 1, other)


def _asked(rng: Random, index: int, text: str) -> Exchange:
    """Return an exchange that is answered rightly, with a code or at length."""
    code = BENCH.mint("tenant-b", index, f"trial-{rng.getrandbits(32)}")
    a, b = rng.randint(12, 79), rng.randint(12, 79)
    if rng.random() < 0.3:
        golden = f"facts/{rng.getrandbits(32)}"
        return an_exchange(
            f"Explain {golden}. {code}", text, index=index, nonce=code, golden=golden
        )
    return an_exchange(
        f"What is {code}? What is {a} + {b}?",
        rng.choice(_WORDINGS).format(code=code, sum=a + b),
        index=index,
        nonce=code,
        answers=(Fact(name="the sum", any_of=(str(a + b),)),),
        answer_bits=7.0,
    )


def _said(exchange: Exchange, text: str) -> Exchange:
    assert exchange.response is not None
    return replace(exchange, response=replace(exchange.response, text=text))


def healthy(rng: Random, texts: list[str]) -> Iterator[Pair]:
    """Yield pairs that are well: mostly different, some alike as healthy answers are."""
    for _ in range(PAIRS):
        one, two = _two(rng, texts)
        assert one.response is not None
        match rng.randrange(6):
            case 0:
                text = rng.choice(_SHORT)
                yield Pair(_said(one, text), _said(two, text))
            case 1:
                text = rng.choice(_REFUSALS) + rng.choice(texts)
                yield Pair(_said(one, text), _said(two, text))
            case 2:
                again = replace(two, request=replace(one.request), expectation=one.expectation)
                yield Pair(one, replace(again, response=one.response))
            case 3:
                text = rng.choice(texts)
                yield Pair(*(_said(_reading(each, text), text) for each in (one, two)))
            case _:
                yield Pair(one, two)


def _reading(exchange: Exchange, text: str) -> Exchange:
    """Return the exchange with a text to read, which the model then gives back."""
    message = exchange.request.messages[0]
    content = f"{text}\n\n{message.content}"
    request = replace(exchange.request, messages=(replace(message, content=content),))
    return replace(exchange, request=request)


def faulty(rng: Random, texts: list[str]) -> Iterator[Pair]:
    """Yield pairs of which the second got the first's answer, written a little otherwise."""
    for _ in range(PAIRS // 4):
        one, two = _two(rng, texts)
        assert one.response is not None
        text = one.response.text
        lines = "\n".join(text.split())
        yield Pair(
            one, _said(two, rng.choice((text, text.upper(), f" {text}", f"*{text}*", lines)))
        )


def rows() -> list[Row]:
    """Return the row of pairs in one trial."""
    rng = Random(11)
    pieces = windows(rng, docstrings(), 600, 700)
    texts = sorted({text for text in pieces if len(set(text.casefold().split())) >= 30})
    well, ill = list(healthy(rng, texts)), list(faulty(rng, texts))
    return [
        Row(
            check="DUP",
            input_set="pairs of answers to different requests",
            positives=len(ill),
            true_positives=sum(pair.failed() for pair in ill),
            negatives=len(well),
            false_positives=sum(pair.failed() for pair in well),
            naive_name="the same string",
            naive_true_positives=sum(pair.naive() for pair in ill),
            naive_false_positives=sum(pair.naive() for pair in well),
        )
    ]
