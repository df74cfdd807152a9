"""FACT: the key facts of a golden prompt are in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.checks.base import Check, could_not_judge, failed, passed, skipped
from monitor.history import History
from monitor.model import Exchange, Signal, Trial
from monitor.prompts import missing_facts

CODE = "FACT"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if a key fact is missing; error if the prompt is no longer known."""
    name, response = exchange.expectation.golden, exchange.response
    if name is None or response is None:
        return [skipped(CODE, exchange, "not a golden prompt")]
    prompt = history.golden.get(name)
    if prompt is None:
        return [could_not_judge(CODE, exchange, "the golden prompt is no longer in any suite")]
    missing = missing_facts(prompt, response.answer())
    if missing:
        return [failed(CODE, exchange, "missing", "; ".join(missing)[:400])]
    return [passed(CODE, exchange, "every key fact is there")]


CHECK = Check(code=CODE, judge=judge)
