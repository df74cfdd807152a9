"""What a check says of one answer, and counts of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from monitor.checks import Check, judge_trial
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.history import History
from monitor.model import Expectation, Status
from monitor.verdicts import CONSEQUENCES
from tests.bench.checks.table import Row

PROMPT = "Please tell me more about it."
_REGISTRY = Scene(Random(0)).registry


def variants(check: Check, answer: str, *, prompt: str = PROMPT, **past: Any) -> set[str]:
    """Return the variants that the check fails an answer with; none if it passes."""
    expects = Expectation(golden="bench/prompt")
    exchange = an_exchange(answer, prompt=prompt, expects=expects)
    history = History(registry=_REGISTRY, **past)
    signals = judge_trial(a_trial(exchange), history, [check])
    return {signal.variant for signal in signals if signal.status is Status.FAIL}


def is_hard(check: Check, found: Iterable[str]) -> bool:
    """True if one of the variants is what a healthy engine never does."""
    return any(CONSEQUENCES[check.code, each].kind.value == "hard" for each in found)


def row(
    check: str,
    input_set: str,
    labelled: Iterable[tuple[str, bool]],
    fails: Callable[[str], bool],
    naive: tuple[str, Callable[[str], bool]] = ("", bool),
) -> Row:
    """Return the counts of one labelled set; ``True`` labels a faulty input."""
    cases = list(labelled)
    name, naive_fails = naive
    said = [(faulty, fails(text), bool(name) and naive_fails(text)) for text, faulty in cases]
    return Row(
        check=check,
        input_set=input_set,
        positives=sum(faulty for faulty, _, _ in said),
        true_positives=sum(faulty and failed for faulty, failed, _ in said),
        negatives=sum(not faulty for faulty, _, _ in said),
        false_positives=sum(failed and not faulty for faulty, failed, _ in said),
        naive_name=name,
        naive_true_positives=sum(faulty and failed for faulty, _, failed in said),
        naive_false_positives=sum(failed and not faulty for faulty, _, failed in said),
    )
