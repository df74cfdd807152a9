"""CACHED: the tokens a target says it read from its cache can have been there.

- ``over_input`` (hard): more than the prompt has. Most APIs count cached tokens among the prompt's,
  some beside them, so it is judged only where earlier answers show that they are counted among
  them: the same prompt cold and warm with one count, or counts that agree with a measured size.
  Counts that are whole blocks may be rounded up to one, and a conversation's may be added up over
  its turns.
- ``over_ceiling`` (hard): more than can have been sent before. What follows a freshly minted marker
  was never sent (``monitor.checks.fresh``), so of B bytes before it and A bytes after it

      cached <= B + template + ahead + 1,024      and      uncached >= A / r - 1,024

  with r the most bytes a token takes, and *ahead* the most that its operator may put in front of
  our text: no more than the shortest of the last prompts took in all, or what hits of this target
  regularly hold beyond our text. 1,024 tokens are the largest block that is known to be cached as a
  whole, for counts that are rounded up. It fails only if *both* are broken, so that a new hidden
  prompt (more tokens in all) is none.
- ``whole_prompt`` (flag): the same, but nearly the whole prompt came from the cache. A gateway that
  asks again after a failure of its own finds the prompt of its first attempt there. Where three of
  a target's answers show it, it is ``over_ceiling``.
- ``other_tenants_prefix`` (flag): a hit that only a request of another isolation domain explains.
  Its text is one that no tenant of this domain sent in the trial, and that was drawn for it.

False alarms: the first two follow from what a cache is; caches that find text in any place, not
only from the beginning on, break the premise. None in the lab's modes and in the bench.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from random import Random

from monitor.canaries import MarkerRegistry
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.fresh import (
    Fresh,
    bytes_per_token,
    fresh_in_domain,
    fresh_part,
    template_tokens,
)
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.checks.usage_in import goes_on_from
from monitor.history import History, Observation, observe
from monitor.model import Exchange, Request, Signal, Trial, Usage

CODE = "CACHED"
BLOCK_TOKENS = 1024
# Counts of one prompt may differ by this, for templates may hold the time of day.
SLACK_TOKENS = 16
ALIKE_TOKENS = 2
# So many answers that show how cached tokens are counted, and none that shows the contrary.
LEAST_SHOWN = 2
# What a target does in more of its answers than this is its own way.
OWN_SHARE = 0.15
LEAST_HITS = 16
# Of the prompts asked lately; what stands in front of them may change some day.
LATELY = 64
# The uncached rest of a prompt that is cached whole: less than one block of most engines.
REST_TOKENS = 128
REPEATED = 3
_OTHERS = "other_tenants_prefix"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a count that no cache explains; flag one that only another tenant explains."""
    response = exchange.response
    usage = response.usage if response else Usage()
    if usage.cached_tokens is None or usage.input_tokens is None:
        return [skipped(CODE, exchange, "the target reports no cached tokens")]
    if usage.cached_tokens == 0:
        return [passed(CODE, exchange, "nothing came from a cache")]
    if exchange.expectation.truncation_accepted:
        return [skipped(CODE, exchange, "truncation is accepted here")]
    past = _Past.of(trial, exchange, history)
    count = _Count(usage.input_tokens, usage.cached_tokens)
    fault = (
        _over_input(trial, exchange, count, past)
        or _over_ceiling(trial, exchange, count, past)
        or _of_others(trial, exchange, count, past)
    )
    if fault:
        return [failed(CODE, exchange, *fault)]
    if past.among is None:
        words = "not known yet whether cached tokens are counted among the prompt's"
        return [skipped(CODE, exchange, words)]
    return [passed(CODE, exchange, f"{count.cached} cached tokens can be true")]


@dataclass(frozen=True, slots=True)
class _Count:
    """What was reported of one prompt."""

    tokens: int
    cached: int

    def uncached(self, *, among: bool) -> int:
        """Return the tokens that were computed; ``among``: cached ones are counted as input."""
        return self.tokens - self.cached if among else self.tokens


@dataclass(frozen=True, slots=True)
class _Past:
    """What earlier answers say of how this target counts. ``among`` is ``None``: nobody knows."""

    seen: tuple[Observation, ...]
    registry: MarkerRegistry
    among: bool | None
    ahead: int | None
    most_bytes: float

    @classmethod
    def of(cls, trial: Trial, exchange: Exchange, history: History) -> _Past:
        before = (e for e in trial.exchanges if e.index < exchange.index and e.whole)
        seen = (*history.earlier, *(observe(trial, e) for e in before))
        among = _counted_among(seen)
        return cls(
            seen=seen,
            registry=history.registry,
            among=among,
            ahead=_ahead(seen, among=among),
            most_bytes=bytes_per_token(history, beside=among is False),
        )


def beyond(trial: Trial, exchange: Exchange, registry: MarkerRegistry) -> int | None:
    """Return how many cached tokens our own earlier text does not explain; ``None``: unknown."""
    response = exchange.response
    cached = response.usage.cached_tokens if response else None
    if cached is None or not exchange.whole:
        return None
    if cached == 0:
        return 0
    fresh = fresh_part(trial, exchange, registry)
    if fresh is None:
        return None
    return max(0, cached - fresh.before - template_tokens(exchange.request))


def _counted_among(seen: Sequence[Observation]) -> bool | None:
    """Tell whether cached tokens are counted among the prompt's; ``None`` if nothing shows it."""
    shown = [*_twice_asked(seen), *_measured(seen)]
    among = shown.count(True)
    if among >= LEAST_SHOWN and among == len(shown):
        return True
    beside = shown.count(False)
    return False if beside >= LEAST_SHOWN and beside == len(shown) else None


def _twice_asked(seen: Sequence[Observation]) -> Iterator[bool]:
    """Compare the counts of prompts that were asked cold and warm."""
    by_prompt: dict[str, list[Observation]] = {}
    for each in seen:
        if each.prompt_tokens:
            by_prompt.setdefault(each.prompt_digest, []).append(each)
    for asked in by_prompt.values():
        for cold, warm in pairwise(asked):
            more = warm.cached_tokens - cold.cached_tokens
            if more < SLACK_TOKENS:
                continue
            less = (cold.prompt_tokens or 0) - (warm.prompt_tokens or 0)
            if abs(less) <= ALIKE_TOKENS:
                yield True
            elif abs(less - more) <= ALIKE_TOKENS:
                yield False


def _measured(seen: Sequence[Observation]) -> Iterator[bool]:
    """Compare counts with sizes that were measured beforehand."""
    for each in seen:
        tokens, size = each.prompt_tokens, each.size_tokens
        error = each.size_error_tokens + SLACK_TOKENS
        if not tokens or size is None or each.cached_tokens <= 2 * error:
            continue
        if abs(tokens - size) <= error:
            yield True
        elif abs(tokens + each.cached_tokens - size) <= error:
            yield False


def _ahead(seen: Sequence[Observation], *, among: bool | None) -> int | None:
    """Return the most tokens that stand in front of our text; ``None`` if nothing was counted.

    What all but 15 % of hits hold beyond our text is left in peace, whatever it is.
    """
    counted = [
        o.prompt_tokens + (0 if among else o.cached_tokens)
        for o in seen[-LATELY:]
        if o.prompt_tokens
    ]
    beyond_ours = sorted(o.beyond_tokens for o in seen if o.beyond_tokens is not None)
    usual = 0
    if len(beyond_ours) >= LEAST_HITS:
        usual = beyond_ours[int((1 - OWN_SHARE) * (len(beyond_ours) - 1))]
    return max(min(counted), usual) if counted else None


def _over_input(
    trial: Trial, exchange: Exchange, count: _Count, past: _Past
) -> tuple[str, str] | None:
    turns = _of_earlier_turns(trial, exchange)
    most = _rounded_up(count.tokens, count.cached, past.seen) + SLACK_TOKENS + turns
    if not past.among or count.cached <= most:
        return None
    hits = [each for each in past.seen if each.cached_tokens]
    odd = sum(each.cached_tokens > (each.prompt_tokens or 0) + SLACK_TOKENS for each in hits)
    if odd > OWN_SHARE * len(hits):
        return None
    return "over_input", f"{count.cached} of {count.tokens} prompt tokens from the cache"


def _rounded_up(tokens: int, cached: int, seen: Sequence[Observation]) -> int:
    """Return the tokens in whole blocks, if all counts of cached ones are multiples of a block."""
    block = gcd(cached, *(each.cached_tokens for each in seen[-LATELY:]))
    return -(-tokens // block) * block if block <= BLOCK_TOKENS else tokens


def _of_earlier_turns(trial: Trial, exchange: Exchange) -> int:
    """Return the cached tokens of the turns of the trial that this conversation goes on from."""
    return sum(
        other.response.usage.cached_tokens or 0
        for other in trial.exchanges
        if other.index < exchange.index
        and other.response is not None
        and goes_on_from(exchange.request, other.request)
    )


def _over_ceiling(
    trial: Trial, exchange: Exchange, count: _Count, past: _Past
) -> tuple[str, str] | None:
    fresh = fresh_part(trial, exchange, past.registry)
    if fresh is None or past.among is None:
        return None
    most = _ceiling(exchange.request, fresh, past.ahead or 0) + BLOCK_TOKENS
    least = fresh.after / past.most_bytes - BLOCK_TOKENS
    uncached = count.uncached(among=past.among)
    in_all = uncached + count.cached
    was_read = in_all >= (fresh.before + fresh.after) / past.most_bytes - BLOCK_TOKENS
    if count.cached <= most or uncached >= least or not was_read:
        return None
    words = f"{count.cached} of {in_all} tokens from the cache, at most {most} were sent before"
    if uncached <= REST_TOKENS and _times(trial, exchange, past) < REPEATED:
        return "whole_prompt", words
    return "over_ceiling", words


def _times(trial: Trial, exchange: Exchange, past: _Past) -> int:
    """Count this answer and the earlier ones of which too much came from the cache."""
    usual = past.ahead or 0
    before = [beyond(trial, e, past.registry) for e in trial.exchanges if e.index < exchange.index]
    counts = [*(each.beyond_tokens for each in past.seen), *before]
    return 1 + sum((tokens or 0) > usual + BLOCK_TOKENS for tokens in counts)


def _of_others(
    trial: Trial, exchange: Exchange, count: _Count, past: _Past
) -> tuple[str, str] | None:
    """Compare with what tenants of this one's isolation domain sent in the trial."""
    fresh = fresh_in_domain(trial, exchange, past.registry)
    if fresh is None or past.ahead is None:
        return None
    most = _ceiling(exchange.request, fresh, past.ahead)
    if count.cached <= most:
        return None
    words = f"{count.cached} tokens from the cache, its own domain sent at most {most} of them"
    return _OTHERS, words


def _ceiling(request: Request, fresh: Fresh, ahead: int) -> int:
    return fresh.before + template_tokens(request) + ahead


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    long = f"The code is {scene.mint()}. " + "The harbour was busy that morning. " * 400
    shared = f"Logbook {rng.randrange(10**8, 10**9)}. " + "Rain fell on the quiet town. " * 40

    def counted(tokens: int, cached: int, prompt: str = long, tenant: str = "tenant-a") -> Exchange:
        usage = Usage(input_tokens=tokens, output_tokens=9, cached_tokens=cached)
        return an_exchange("Yes.", prompt=prompt, tenant=tenant, response={"usage": usage})

    def judged(*exchanges: Exchange, fails: str = "") -> Specimen:
        return scene.specimen(*exchanges, fails=fails, earlier=shown)

    shown = tuple(
        observe(a_trial(), counted(60, cached, f"Item {number}?"))
        for number in range(LEAST_SHOWN)
        for cached in (0, 48)
    )
    return [
        judged(counted(3000, 4000), fails="over_input"),
        judged(counted(3000, 2500), fails="over_ceiling"),
        judged(counted(3000, 2950), fails="whole_prompt"),
        judged(counted(300, 0, shared, "tenant-b"), counted(300, 256, shared), fails=_OTHERS),
        judged(counted(3000, 16)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
