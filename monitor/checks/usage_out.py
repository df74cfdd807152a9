"""USAGE_OUT: the output tokens the target reports agree with what it wrote and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial, Usage

CODE = "USAGE_OUT"
# Engines count the stop token, and some the template's first: a few tokens over are no fault.
SLACK_TOKENS = 4
MOST_CHARACTERS_PER_TOKEN = 40


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard where the count contradicts the text, or exceeds what was asked for."""
    response = exchange.response
    tokens = response.usage.output_tokens if response else None
    if response is None or tokens is None:
        return [skipped(CODE, exchange, "the target reports no output tokens")]
    fault = _fault(response, tokens, exchange.request.max_output_tokens)
    if fault:
        return [failed(CODE, exchange, *fault)]
    return [passed(CODE, exchange, f"{tokens} output tokens can be true")]


def _fault(response: Response, tokens: int, most: int) -> tuple[str, str] | None:
    characters = len(response.written().strip())
    if characters > SLACK_TOKENS * MOST_CHARACTERS_PER_TOKEN and tokens == 0:
        return "zero_with_text", f"0 output tokens reported for {characters} characters"
    if tokens * MOST_CHARACTERS_PER_TOKEN + 200 < characters:
        return "too_few", f"{tokens} output tokens reported for {characters} characters"
    # The limit may hold for the answer alone, and the count for the reasoning as well.
    reasoned = response.usage.reasoning_tokens or response.reasoning_text.strip()
    if tokens > most + SLACK_TOKENS and not reasoned:
        return "over_maximum", f"{tokens} output tokens reported, at most {most} allowed"
    return None


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    text = "The harbour was busy that morning. " * rng.randint(10, 20)

    def counted(tokens: int) -> Exchange:
        return an_exchange(text, response={"usage": Usage(input_tokens=20, output_tokens=tokens)})

    return [
        scene.specimen(counted(0), fails="zero_with_text"),
        scene.specimen(counted(1000), fails="over_maximum"),
        scene.specimen(counted(60)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
