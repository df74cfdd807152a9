"""JUDGE on simulated judges: both orders against one, and the gate against raw agreement.

An input is a right or wrong answer shown to a judge with an error rate and a leaning to whatever
comes first (or, for the gate, a judge).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from monitor.judge import Said, agreement, labelled_items, tally
from monitor.judge.question import Question, both_orders
from monitor.model import Response
from tests.bench.checks.table import Row
from tests.fakes.judges import read

SEED = 9
ANSWERS = 1_000
JUDGES = 200
# Everybody agrees with most answers where most are right.
RAW_AGREEMENT = 0.85
RIGHT_SHARE = 0.9


@dataclass(frozen=True)
class Leaning:
    """A judge: how often it calls a right answer wrong, misses a wrong one, follows the order."""

    name: str
    false_alarm: float
    miss: float
    order: float = 0.0
    good: bool = False


SWAYED = Leaning("follows the order in one of five", 0.01, 0.05, order=0.2)
GATED = (
    Leaning("1 % false alarms, misses 5 %", 0.01, 0.05, good=True),
    Leaning("0.5 % false alarms, misses 30 %", 0.005, 0.30, good=True),
    Leaning("5 % false alarms, misses 5 %", 0.05, 0.05),
    Leaning("10 % false alarms, misses 5 %", 0.10, 0.05),
    Leaning("says right of nearly everything", 0.0, 0.9),
    Leaning("guesses", 0.5, 0.5),
)


def word(judge: Leaning, question: Question, *, right: bool, rng: Random) -> bool | None:
    """Return what the judge's reply to one question is read as."""
    asked = read(question.request)
    if rng.random() < judge.order:
        return question.read(Response(text=asked.first))
    errs = rng.random() < (judge.false_alarm if right else judge.miss)
    return question.read(Response(text=asked.same if right != errs else asked.different))


def said(judge: Leaning, orders: tuple[Question, Question], *, right: bool, rng: Random) -> Said:
    """Return what both orders come to."""
    one, two = (word(judge, each, right=right, rng=rng) for each in orders)
    if one != two:
        return Said.ABSTAINED
    return Said.RIGHT if one else Said.WRONG


def labelled(rng: Random) -> Iterator[tuple[tuple[Question, Question], bool]]:
    """Yield questions on packaged items, and whether the answer is right."""
    items = labelled_items()
    for number in range(ANSWERS):
        item = items[number % len(items)]
        asked = (item.question, item.reference, item.answer)
        yield both_orders(*asked, rng, min_output_tokens=16), item.right


def naive(judge: Leaning, rng: Random) -> bool:
    """Return if raw agreement on 200 answers, nine of ten of them right, distrusts a judge."""
    agreed = 0
    for number in range(200):
        right = number < 200 * RIGHT_SHARE
        agreed += rng.random() >= (judge.false_alarm if right else judge.miss)
    return agreed / 200 < RAW_AGREEMENT


def gate(judge: Leaning, rng: Random) -> bool:
    """Return if the gate distrusts a judge that was tried on its items once."""
    heard = []
    for item in labelled_items():
        errs = rng.random() < (judge.false_alarm if item.right else judge.miss)
        heard.append((item.right, Said.RIGHT if item.right != errs else Said.WRONG))
    return bool(agreement(tally(heard)).mistrust)


def rows() -> list[Row]:
    """Return the rows of both orders and of the gate."""
    return [_orders(), *(_gate(judge) for judge in GATED)]


def _orders() -> Row:
    rng = Random(SEED)
    shown = list(labelled(rng))
    both = [said(SWAYED, orders, right=right, rng=rng) is Said.WRONG for orders, right in shown]
    once = [word(SWAYED, orders[1], right=right, rng=rng) is False for orders, right in shown]
    right = [each for _, each in shown]
    return Row(
        check="JUDGE",
        input_set=f"answers: a judge that {SWAYED.name}",
        positives=right.count(False),
        true_positives=sum(b and not r for b, r in zip(both, right, strict=True)),
        negatives=right.count(True),
        false_positives=sum(b and r for b, r in zip(both, right, strict=True)),
        naive_name="one order",
        naive_true_positives=sum(o and not r for o, r in zip(once, right, strict=True)),
        naive_false_positives=sum(o and r for o, r in zip(once, right, strict=True)),
    )


def _gate(judge: Leaning) -> Row:
    rng = Random(SEED)
    ours = sum(gate(judge, rng) for _ in range(JUDGES))
    theirs = sum(naive(judge, rng) for _ in range(JUDGES))
    bad = not judge.good
    return Row(
        check="JUDGE, its gate",
        input_set=f"judges (faulty: not to be trusted): {judge.name}",
        positives=JUDGES * bad,
        true_positives=ours * bad,
        negatives=JUDGES * judge.good,
        false_positives=ours * judge.good,
        naive_name=f"raw agreement below {RAW_AGREEMENT:.0%}",
        naive_true_positives=theirs * bad,
        naive_false_positives=theirs * judge.good,
    )
