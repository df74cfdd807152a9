"""USAGE_OUT: the output tokens the target reports agree with what it wrote and how it ended.

``total_off`` (hard): the total is less than prompt and output together. More it may be: hidden
thoughts and cached tokens are counted there alone by some. A total of 0 is none.

``twin_off`` (hard): a stream counts over three times the tokens, or under a third, of the very same
answer that came whole. Gateways that count streams by a tokenizer of their own are off by less. Of
two counts from 1 on, alike to the letter, it is 1.9 times: there tokenizers differ most in whether
digits and spaces are tokens of their own, 1.8 times. Both tenants must have been counted alike
twice: thoughts that are counted and never shown differ from answer to answer.

``stream_off`` (flag): a stream came in more than twice as many pieces as tokens are reported, and
at least eight characters a token. Servers send one token or more a piece; gateways that cut a text
anew send more pieces, but then its characters agree with its tokens (3 to 6 each, 1 in Chinese).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Response, Signal, Trial, Usage

CODE = "USAGE_OUT"
# Engines count the stop token, and some the template's first: a few tokens over are no fault.
SLACK_TOKENS = 4
MOST_CHARACTERS_PER_TOKEN = 40
# Of a stream that also came in too many pieces; 8 is above what prose takes in any tokenizer.
ODD_CHARACTERS_PER_TOKEN = 8
PIECES_PER_TOKEN, SLACK_PIECES = 2, 16
# How far two answers alike may be apart: in times, and in tokens on top, by what sets them apart.
STREAM, ALIKE = "stream", "alike"
_TWINS = {STREAM: (3.0, 16), ALIKE: (1.9, 2)}


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard where the count contradicts the text, or exceeds what was asked for."""
    response = exchange.response
    tokens = response.usage.output_tokens if response else None
    if response is None or tokens is None:
        return [skipped(CODE, exchange, "the target reports no output tokens")]
    fault = _fault(response, tokens, exchange.request.max_output_tokens)
    fault = fault or _against_twin(trial, exchange, response, tokens)
    if fault:
        return [failed(CODE, exchange, *fault)]
    return [passed(CODE, exchange, f"{tokens} output tokens can be true")]


def _fault(response: Response, tokens: int, most: int) -> tuple[str, str] | None:
    characters = len(response.written().strip())
    # The first token may go uncounted, no more.
    if characters > MOST_CHARACTERS_PER_TOKEN and tokens == 0:
        return "zero_with_text", f"0 output tokens reported for {characters} characters"
    if tokens * MOST_CHARACTERS_PER_TOKEN + 200 < characters:
        return "too_few", f"{tokens} output tokens reported for {characters} characters"
    # The limit may hold for the answer alone, and the count for the reasoning as well.
    reasoned = response.usage.reasoning_tokens or response.reasoning_text.strip()
    if tokens > most + SLACK_TOKENS and not reasoned:
        return "over_maximum", f"{tokens} output tokens reported, at most {most} allowed"
    return _not_added_up(response, tokens) or _not_streamed(response, tokens, characters)


def _not_added_up(response: Response, tokens: int) -> tuple[str, str] | None:
    usage = response.usage
    if not usage.total_tokens or usage.input_tokens is None:
        return None
    if usage.total_tokens + SLACK_TOKENS >= usage.input_tokens + tokens:
        return None
    parts = f"{usage.input_tokens} and {tokens}"
    return "total_off", f"{usage.total_tokens} tokens reported in all, {parts} of prompt and output"


def _against_twin(
    trial: Trial, exchange: Exchange, response: Response, tokens: int
) -> tuple[str, str] | None:
    """Compare with the count of the same answer that came whole."""
    expected = exchange.expectation
    twins = [e for e in trial.exchanges if e.index == expected.reference and e.whole]
    twin = twins[0].response if twins and expected.comparison in _TWINS else None
    if twin is None or not _only_text(response) or not _only_text(twin):
        return None
    few, many = sorted((tokens, twin.usage.output_tokens or tokens))
    times, slack = _TWINS[expected.comparison]
    if twin.text != response.text or many <= times * few + slack:
        return None
    if expected.comparison == ALIKE and not all(_steady(trial, e) for e in (exchange, twins[0])):
        return None
    theirs = f"{twin.usage.output_tokens} for the same text in exchange {expected.reference}"
    return "twin_off", f"{tokens} output tokens, {theirs}"


def _steady(trial: Trial, exchange: Exchange) -> bool:
    """True if the same text of the same tenant was counted alike elsewhere in the trial."""
    return any(
        other.index != exchange.index
        and other.tenant == exchange.tenant
        and (own := exchange.response) is not None
        and (theirs := other.response) is not None
        and own.text == theirs.text
        and abs((own.usage.output_tokens or 0) - (theirs.usage.output_tokens or 0)) <= SLACK_TOKENS
        for other in trial.exchanges
    )


def _only_text(response: Response) -> bool:
    """True if all that can be counted is a text that we see."""
    thought = response.reasoning_text or response.usage.reasoning_tokens
    return bool(response.text.strip()) and not response.tool_calls and not thought


def _not_streamed(response: Response, tokens: int, characters: int) -> tuple[str, str] | None:
    pieces = response.pieces or 0
    few = pieces > PIECES_PER_TOKEN * tokens + SLACK_PIECES
    if not few or characters < ODD_CHARACTERS_PER_TOKEN * tokens:
        return None
    return "stream_off", f"{tokens} output tokens reported for {pieces} pieces of a stream"


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    text = "The harbour was busy that morning. " * rng.randint(10, 20)

    def counted(tokens: int, total: int = 0, pieces: int | None = None) -> Exchange:
        usage = Usage(input_tokens=20, output_tokens=tokens, total_tokens=total)
        return an_exchange(text, response={"usage": usage, "pieces": pieces})

    return [
        scene.specimen(counted(0), fails="zero_with_text"),
        scene.specimen(counted(1000), fails="over_maximum"),
        scene.specimen(counted(60, total=50), fails="total_off"),
        scene.specimen(counted(16, pieces=len(text) // 5), fails="stream_off"),
        scene.specimen(counted(60), _as_stream(counted(300)), fails="twin_off"),
        scene.specimen(counted(60, total=80, pieces=60)),
        scene.specimen(counted(60), _as_stream(counted(61))),
    ]


def _as_stream(exchange: Exchange) -> Exchange:
    expected = Expectation(reference=0, comparison=STREAM)
    allowed = replace(exchange.request, stream=True, max_output_tokens=400)
    return replace(exchange, expectation=expected, request=allowed)


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
