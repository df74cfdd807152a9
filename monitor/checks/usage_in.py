"""USAGE_IN: the prompt tokens the target reports can be true of the prompt it was sent.

``uneven`` (hard): the same text, put before the same question, takes over a fifth more tokens of
one tenant, or in one answer, than of another. What stands before every prompt (a template, a system
prompt of that tenant) cancels out. Tokenizers differ by less over English prose, so replicas with
several of them are no false alarm; a factor below 1.25 is not seen here. None is known where one
tokenizer counts: of 400 tokens codes and numbers move 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, only_reasoned, passed, skipped
from monitor.checks.ontopic import holds
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History, Observation, message_bytes, observe
from monitor.model import Exchange, Expectation, Request, Signal, Trial, Usage

CODE = "USAGE_IN"
# No tokenizer in use packs more UTF-8 bytes into a token than this over prompts like ours: English
# takes 4 to 5, Chinese 3 to 5, and our markers about 2. Three times that is beyond doubt.
MOST_BYTES_PER_TOKEN = 16
# Bytes a token vary from about 2 (markers) to 5 (prose); prompts whose lengths differ by more than
# that explains cannot take the same number of tokens.
CLEARLY_LONGER = 4.0
CACHED_SHARE = 0.5
PLACEHOLDER_TOKENS = 8
HALF = (0.47, 0.53)
SHORT_OF_EXPECTED = 0.8
LONG_OF_EXPECTED = 1.25
LONGER = "longer"
UNEVEN_SHARE, UNEVEN_TOKENS = 0.2, 8


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on counts that no tokenizer explains; skip where nothing is reported."""
    if exchange.refused:
        return [_against_refusal(exchange)]
    if not exchange.whole or only_reasoned(exchange.response):
        return [skipped(CODE, exchange, "no whole answer to judge")]
    response = exchange.response
    tokens = response.usage.input_tokens if response else None
    if tokens is None:
        return [skipped(CODE, exchange, "the target reports no prompt tokens")]
    if exchange.expectation.truncation_accepted:
        return [skipped(CODE, exchange, "truncation is accepted here")]
    fault = (
        _below_floor(trial, exchange, history, tokens)
        or _plateau(trial, exchange, history)
        or _against_ruler(exchange, tokens)
        or _shrunk(trial, exchange, tokens)
        or _uneven(trial, exchange)
    )
    if fault:
        return [failed(CODE, exchange, *fault)]
    return [passed(CODE, exchange, f"{tokens} prompt tokens can be true")]


def _against_refusal(exchange: Exchange) -> Signal:
    """Compare the target's own count in a refusal with what its usage made us expect."""
    counted = exchange.failure.prompt_tokens if exchange.failure else None
    expected, error = exchange.expectation.size_tokens, exchange.expectation.size_error_tokens
    if not counted or expected is None or error * 4 > expected:
        return skipped(CODE, exchange, "nothing to compare the refused size with")
    if HALF[0] <= expected / counted <= HALF[1]:
        explanation = f"{counted} tokens refused, {expected} ± {error} expected by reported usage"
        return failed(CODE, exchange, "half", explanation)
    return skipped(CODE, exchange, "a refused prompt has no usage")


def _below_floor(
    trial: Trial, exchange: Exchange, history: History, tokens: int
) -> tuple[str, str] | None:
    """Compare with the fewest tokens any tokenizer makes of messages of this length.

    Tools and schemas are left out: a gateway that counts for itself often leaves them out too.
    """
    size = message_bytes(exchange.request)
    cached = exchange.response.usage.cached_tokens if exchange.response else None
    # Some gateways report cached tokens beside the prompt's, not among them.
    if tokens + (cached or 0) >= max(2, size // MOST_BYTES_PER_TOKEN):
        return None
    explanation = f"{tokens} prompt tokens reported for {size} bytes"
    if tokens > PLACEHOLDER_TOKENS:
        return "short", explanation
    constant = _equal_counts(trial, exchange, history)
    return ("constant" if constant else "placeholder"), explanation


def _earlier(trial: Trial, exchange: Exchange, history: History) -> list[Observation]:
    same_trial = [
        observe(trial, e) for e in trial.exchanges if e.index < exchange.index and e.whole
    ]
    return [*history.earlier, *same_trial]


def _equal_counts(trial: Trial, exchange: Exchange, history: History) -> list[Observation]:
    """Return earlier exchanges with the same count although their prompts differ clearly."""
    now = observe(trial, exchange)
    return [
        seen
        for seen in _earlier(trial, exchange, history)
        if seen.prompt_tokens == now.prompt_tokens and _clearly_different(seen, now)
    ]


def _clearly_different(one: Observation, other: Observation) -> bool:
    if one.size_tokens is not None and other.size_tokens is not None:
        errors = one.size_error_tokens + other.size_error_tokens
        return abs(one.size_tokens - other.size_tokens) > errors
    return _clearly_longer(one, other) or _clearly_longer(other, one)


def _clearly_longer(long: Observation, short: Observation) -> bool:
    """Compare the least that may be counted of the one with the most of the other.

    Whether tools are counted is not known, nor whether cached tokens are counted among the
    prompt's: so many cached ones that they may be what is missing explain an equal count.
    """
    if long.cached_tokens > CACHED_SHARE * (long.prompt_tokens or 0):
        return False
    return long.least_bytes > CLEARLY_LONGER * max(1, short.prompt_bytes)


def _plateau(trial: Trial, exchange: Exchange, history: History) -> tuple[str, str] | None:
    equal = _equal_counts(trial, exchange, history)
    if not equal:
        return None
    now = observe(trial, exchange)
    lengths = sorted({seen.prompt_bytes for seen in equal} | {now.prompt_bytes})
    return "plateau", f"the same count for prompts of {lengths[0]} and {lengths[-1]} bytes"


def _against_ruler(exchange: Exchange, tokens: int) -> tuple[str, str] | None:
    """Compare with the size the prompt was cut to, if it was measured."""
    expected, error = exchange.expectation.size_tokens, exchange.expectation.size_error_tokens
    if expected is None or error * 4 > expected:
        return None
    share = tokens / expected
    explanation = f"{tokens} prompt tokens reported, {expected} ± {error} expected"
    if HALF[0] <= share <= HALF[1]:
        return "half", explanation
    if tokens + error < SHORT_OF_EXPECTED * expected:
        return "short", explanation
    if tokens - error > LONG_OF_EXPECTED * expected:
        return "inflated", explanation
    return None


def _shrunk(trial: Trial, exchange: Exchange, tokens: int) -> tuple[str, str] | None:
    """Compare with an earlier request of the trial that this one repeats whole and goes on from.

    A longer conversation cannot take fewer tokens. Some templates drop what nobody asks for again,
    such as old thoughts, so the count alone is no proof: what only the earlier turns hold must be
    missing from the answer as well.
    """
    cached = exchange.response.usage.cached_tokens if exchange.response else None
    before = [
        other.response.usage.input_tokens
        for other in trial.exchanges
        if other.index < exchange.index
        and other.whole
        and other.response is not None
        and other.response.usage.input_tokens is not None
        and goes_on_from(exchange.request, other.request)
    ]
    most = max(before, default=0)
    if tokens + (cached or 0) >= most or not _forgets(exchange):
        return None
    return "shrunk", f"{tokens} prompt tokens for a conversation that took {most} before"


def _uneven(trial: Trial, exchange: Exchange) -> tuple[str, str] | None:
    """Compare what the longer of two prompts takes more with what it takes more of others."""
    own = _more(trial, exchange)
    for other in trial.exchanges:
        theirs = _more(trial, other) if other.index < exchange.index else set()
        if not own or not theirs:
            continue
        apart = min(abs(a - b) for a in own for b in theirs)
        if apart > max(UNEVEN_TOKENS, UNEVEN_SHARE * min(max(own), max(theirs))):
            words = f"{max(own)} tokens for what takes {max(theirs)} in exchange {other.index}"
            return "uneven", words
    return None


def _more(trial: Trial, exchange: Exchange) -> set[int]:
    """Return how many tokens more than its reference a longer prompt takes.

    Some report cached tokens beside the prompt's, not among them, so there are several readings.
    """
    expected = exchange.expectation
    if expected.comparison != LONGER or not exchange.whole:
        return set()
    shorter = [e for e in trial.exchanges if e.index == expected.reference and e.whole]
    counts = [_counts(e) for e in (exchange, *shorter)]
    return {a - b for a in counts[0] for b in counts[1]} if shorter else set()


def _counts(exchange: Exchange) -> set[int]:
    usage = exchange.response.usage if exchange.response else Usage()
    if usage.input_tokens is None:
        return set()
    return {usage.input_tokens, usage.input_tokens + (usage.cached_tokens or 0)}


def goes_on_from(request: Request, earlier: Request) -> bool:
    """True if a request repeats an earlier one whole and goes on from it: the next turns."""
    length = len(earlier.messages)
    return (
        length < len(request.messages)
        and request.messages[:length] == earlier.messages
        and request.tools == earlier.tools
    )


def _forgets(exchange: Exchange) -> bool:
    """Tell whether the answer lacks something that was asked for and that the prompt holds."""
    text = exchange.response.answer() if exchange.response else ""
    return any(not holds(text, fact) for fact in exchange.expectation.answers)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    prompt = "The harbour was busy that morning. " * rng.randint(100, 200)

    def counted(tokens: int) -> Exchange:
        usage = Usage(input_tokens=tokens, output_tokens=9)
        return an_exchange("It was.", prompt=prompt, response={"usage": usage})

    return [
        scene.specimen(counted(1), fails="placeholder"),
        scene.specimen(counted(len(prompt) // 40), fails="short"),
        scene.specimen(counted(len(prompt) // 4)),
        *_specimens_of_others(scene, prompt),
    ]


def _specimens_of_others(scene: Scene, prompt: str) -> Sequence[Specimen]:
    def counted(tokens: int, text: str, shorter: int | None = None) -> Exchange:
        usage = Usage(input_tokens=tokens, output_tokens=9)
        compared = Expectation(reference=shorter, comparison="" if shorter is None else LONGER)
        return an_exchange("It was.", prompt=text, expects=compared, response={"usage": usage})

    short, long = "The harbour was busy.", len(prompt) // 4
    first = (counted(20, short), counted(20 + long, prompt, 0))
    return [
        scene.specimen(
            *first, counted(28, short), counted(28 + 2 * long, prompt, 2), fails="uneven"
        ),
        scene.specimen(*first, counted(60, short), counted(60 + long, prompt, 2)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING, specimens=_specimens)
