"""What of a prompt no cache can know: everything from its first freshly minted marker on. No check.

A prefix cache gives back what was computed for the beginning of an earlier prompt. A marker that
was minted for one exchange stands in no earlier prompt, so no beginning that holds it was ever
computed. In numbers: every token takes at least one byte of the prompt, unless it belongs to the
template, so at most as many tokens can come from a cache as there are bytes before the marker, and
what the template adds.

Where a text stands in the rendered prompt is the chat template's business, so both sides are
counted with care. *After* the marker surely stand the rest of its own message and the messages of
users and tools that follow it. System and developer messages may be moved to the front, tools and
schemas printed anywhere, and what an assistant said may be shortened: that counts as *before*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from monitor.canaries import MarkerRegistry
from monitor.history import History
from monitor.model import Exchange, Message, Owner, Request, Trial

# A marker looked for further on in a message would say little of what stands before it.
LOOKED_AT = 100_000
# What templates put around a message, and before the first, in tokens (measured: 4 to 12, 14).
MESSAGE_TOKENS, FIRST_TOKENS = 16, 32
# Bytes a token: tokenizers pack 2 (markers) to 5 (prose) of prompts like ours into one.
ASSUMED_BYTES_PER_TOKEN, MOST_BYTES_PER_TOKEN = 8.0, 16.0
# Prompts of a target vary: by codes and prose, not by more than this from its upper quartile.
RATIO_MARGIN = 1.5
LEAST_RATIOS, LEAST_RATIO_BYTES = 8, 2000
_GROUPS = r"[a-z]{5}(?:-[a-z]{5}){3}"
# What is written like a whole marker of any installation.
MARKER = re.compile(rf"\b{_GROUPS}\b")
# Nine digits open a prompt that has to be cold: a number drawn for it ("Logbook 123456789.").
_CODE_OR_SALT = re.compile(rf"\b(?:{_GROUPS}|[0-9]{{9}})\b")

_IsFresh = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Fresh:
    """A text that was not sent before, with the least bytes after it and the most before it."""

    text: str
    before: int
    after: int


def fresh_part(trial: Trial, exchange: Exchange, registry: MarkerRegistry) -> Fresh | None:
    """Return the freshest marker: minted for this exchange, and in no other request of its time.

    ``None`` if there is none: a prompt that is asked again, a replayed trial.
    """
    others = [e.request for e in trial.exchanges if _may_come_first(e, exchange)]

    def is_fresh(code: str) -> bool:
        owner = owner_of(code, registry)
        minted_here = owner is not None and (owner.trial, owner.exchange) == (
            trial.id,
            exchange.index,
        )
        return minted_here and not any(stands_in_request(code, other) for other in others)

    spots = (
        Fresh(code, *around)
        for place, message in enumerate(exchange.request.messages)
        for code, around in _first(MARKER, message, place, exchange.request, is_fresh)
    )
    return max(spots, key=lambda spot: spot.after, default=None)


def fresh_in_domain(trial: Trial, exchange: Exchange, registry: MarkerRegistry) -> Fresh | None:
    """Return the freshest text that only *other* isolation domains sent before, in this trial.

    A marker of this trial, or a nine-digit number, which probes draw where a beginning must be
    cold. ``None`` if there is none, or if the trial sends an earlier one's prompts again.
    """
    if trial.replays:
        return None
    first = [e for e in trial.exchanges if _may_come_first(e, exchange)]
    own = [e.request for e in first if e.isolation == exchange.isolation]
    foreign = [e.request for e in first if e.isolation != exchange.isolation]

    def is_fresh(text: str) -> bool:
        owner = None if text.isdigit() else owner_of(text, registry)
        drawn_here = text.isdigit() or (owner is not None and owner.trial == trial.id)
        return (
            drawn_here
            and not any(stands_in_request(text, other) for other in own)
            and any(stands_in_request(text, other) for other in foreign)
        )

    spots = (
        Fresh(text, *around)
        for place, message in enumerate(exchange.request.messages)
        for text, around in _first(_CODE_OR_SALT, message, place, exchange.request, is_fresh)
    )
    return max(spots, key=lambda spot: spot.after, default=None)


def template_tokens(request: Request) -> int:
    """Return the most tokens a template adds before and between the messages, and to the tools.

    Tools may be printed with spaces and line breaks, at most three times as long as they came.
    """
    tools = sum(_bytes(t.name + t.description + t.parameters) for t in request.tools)
    return FIRST_TOKENS + MESSAGE_TOKENS * len(request.messages) + 3 * tools


def bytes_per_token(history: History, *, beside: bool = False) -> float:
    """Return the most bytes a token of this target's prompts takes, by what it reported.

    Of earlier prompts of at least 2 kB the upper quartile, half as much again, at most 16; 8 while
    there are fewer than eight. What the shortest prompt took is left out of each count, for a
    system prompt of the operator's may be in it. ``beside``: cached tokens are not counted among
    the prompt's.
    """
    counts = [
        (seen.least_bytes, seen.prompt_tokens + (seen.cached_tokens if beside else 0))
        for seen in history.earlier
        if seen.prompt_tokens
    ]
    shortest = min((tokens for _, tokens in counts), default=0)
    ratios = sorted(
        size / (tokens - shortest)
        for size, tokens in counts
        if size >= LEAST_RATIO_BYTES and tokens > shortest
    )
    if len(ratios) < LEAST_RATIOS:
        return ASSUMED_BYTES_PER_TOKEN
    return min(MOST_BYTES_PER_TOKEN, RATIO_MARGIN * ratios[3 * len(ratios) // 4])


def owner_of(code: str, registry: MarkerRegistry) -> Owner | None:
    """Return who owns a whole marker; ``None`` if it is not registered."""
    hashes = tuple(registry.hash_part(place, group) for place, group in enumerate(code.split("-")))
    entries = registry.with_pair(0, 1, hashes[0], hashes[1])
    return next((entry.owner for entry in entries if entry.part_hashes == hashes), None)


def stands_in_request(text: str, request: Request) -> bool:
    """True if ``text`` stands anywhere in what a request gives to read."""
    return (
        any(text in message.content for message in request.messages)
        or any(text in call.arguments for message in request.messages for call in message.calls)
        or any(text in tool.name + tool.description + tool.parameters for tool in request.tools)
    )


def _may_come_first(other: Exchange, exchange: Exchange) -> bool:
    """True if another exchange was sent before this one had ended, so that a cache may know it."""
    ended = exchange.timing.started_at + timedelta(seconds=exchange.timing.total_seconds)
    return other.index != exchange.index and other.timing.started_at <= ended


def _first(
    pattern: re.Pattern[str],
    message: Message,
    place: int,
    request: Request,
    is_fresh: _IsFresh,
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the first fresh text of a message with the bytes before and after it, if there is one.

    What is found once not to be fresh is not looked up again: a code may stand in every line.
    """
    known: dict[str, bool] = {}
    for found in pattern.finditer(message.content, 0, LOOKED_AT):
        text = found.group()
        if text not in known:
            known[text] = is_fresh(text)
        if known[text]:
            following = request.messages[place + 1 :]
            own = message.content[found.start() :] if message.role != "assistant" else ""
            after = _bytes(own) + _plain_bytes(following)
            yield text, (_bytes(request.text()) - after, after)
            return


def _plain_bytes(messages: Sequence[Message]) -> int:
    return sum(_bytes(m.content) for m in messages if m.role in ("user", "tool"))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
