"""FACT: the key facts of a golden prompt are in the answer.

Facts are strings, numbers with units and tolerance, days, JSON values and patterns, each in the
forms that the prompt's language has for it (`monitor/prompts/numbers.py`, `dates.py`). A fact right
behind a "not" does not count; what is denied otherwise counts as said ("it is false that it is
Paris"), and so does one of two answers. Measured (`tests/bench/checks/fact.py`, fresh seeds): of
25,500 right answers in the forms that are understood none fails, at most 0.02 % at 95 %; forms that
have two readings, and years of two digits, always do: prompts must not invite them.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import Check, Specimen, could_not_judge, failed, passed, skipped
from monitor.checks.specimen import Scene, a_golden_prompt, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Signal, Trial
from monitor.prompts import AnyOf, GoldenPrompt, missing_facts

CODE = "FACT"
NOT_AS_ASKED = "the golden prompt is in no suite any more, or was edited since"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if a key fact is missing; error if the prompt is not known as it was asked."""
    response = exchange.response
    if exchange.expectation.golden is None or response is None:
        return [skipped(CODE, exchange, "not a golden prompt")]
    prompt = prompt_as_asked(exchange, history)
    if prompt is None:
        return [could_not_judge(CODE, exchange, NOT_AS_ASKED)]
    missing = missing_facts(prompt, response.answer())
    if missing:
        return [failed(CODE, exchange, "missing", "; ".join(missing)[:400])]
    return [passed(CODE, exchange, "every key fact is there")]


def prompt_as_asked(exchange: Exchange, history: History) -> GoldenPrompt | None:
    """Return the golden prompt of an exchange, if it still is what was asked."""
    expected = exchange.expectation
    prompt = history.golden.get(expected.golden or "")
    if prompt is None or expected.golden_version not in {"", prompt.version}:
        return None
    return prompt


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    wanted = f"locker {rng.randint(1000, 9999)}"
    prompt = a_golden_prompt(
        prompt="Where is the parcel?", expectations=(AnyOf(strings=(wanted,)),)
    )
    expects, golden = Expectation(golden=prompt.name), {prompt.name: prompt}
    return [
        scene.specimen(
            an_exchange("It was not found.", expects=expects), fails="missing", golden=golden
        ),
        scene.specimen(an_exchange(f"It is {wanted}.", expects=expects), golden=golden),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
