"""Which sizes a ladder may ask, and what that can cost: pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from monitor.detect.ladder import Read, Rung, Search, most_rungs, next_size
from monitor.longtext import MARKER_TOKENS_ERROR, Ruler
from monitor.probes.base import TargetView, TokenLimit
from monitor.probes.standing import (
    SMALL_DONOR_BLOCKS,
    donor_tokens,
    largest_under,
    output_tokens,
    ruler_of,
    smallest_over,
)

# Windows that servers are often started with, beside powers of two: what hides below a limit
# tends to be one of them.
LIKELY_WINDOWS = (40_960, 128_000, 163_840, 200_000)
_LEAST_WINDOW = 512
# A likely window this near to a stated limit is that limit.
_SAME_SHARE = 0.02
# A candidate this near to what the base shows already is not worth a prompt.
_BEYOND_BASE = 1.2
_THRESHOLDS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Fineness:
    """How fine and how surely a ladder is climbed."""

    resolution: float
    repeats: int
    thorough: bool


def search_of(
    view: TargetView, ruler: Ruler, base: int, fineness: Fineness, *, shared: bool
) -> Search:
    """Return the search over everything that a target's limits make likely, above ``base``."""
    limits = sorted(limit.tokens for limit in view.limits)
    bands = tuple(
        (largest_under(tokens, ruler, view) + 1, smallest_over(tokens, ruler) - 1)
        for tokens in limits
    )
    windows = [*limits, *_likely(limits)]
    under = [largest_under(tokens, ruler, view) for tokens in windows]
    over = [smallest_over(tokens, ruler) for tokens in windows if tokens < limits[-1]]
    top = max(under[: len(limits)])
    return Search(
        candidates=tuple(s for s in _clear(under, bands) if _BEYOND_BASE * base < s <= top),
        guesses=tuple(s for s in _clear(over, bands) if base < s < top),
        # Finer than the ruler nothing can be told apart.
        resolution=round(MARKER_TOKENS_ERROR + ruler.per_sentence),
        share=max(fineness.resolution, ruler.error(top) / top),
        repeats=fineness.repeats,
        bands=bands,
        shared=shared,
        thorough=fineness.thorough,
    )


def _likely(limits: Sequence[int]) -> list[int]:
    powers = [2**n for n in range(limits[-1].bit_length()) if 2**n >= _LEAST_WINDOW]
    return [
        tokens
        for tokens in (*powers, *LIKELY_WINDOWS)
        if tokens < limits[-1] and all(abs(tokens - each) > _SAME_SHARE * each for each in limits)
    ]


def _clear(sizes: Iterable[int], bands: Sequence[tuple[int, int]]) -> list[int]:
    """Leave out sizes that lie within a band, and say each once."""
    return [
        size
        for size in dict.fromkeys(sizes)
        if not any(start <= size <= end for start, end in bands)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Tokens of a ladder: the least, and the most with failing prompts refused or answered."""

    least: int
    most_refused: int
    most: int


def cost_of(search: Search, view: TargetView, base: int) -> Cost:
    """Return what a ladder can cost, by climbing it against limits all over the range."""
    once = replace(search, repeats=1)
    donor = donor_tokens(SMALL_DONOR_BLOCKS)
    top = max(search.candidates, default=base)
    ratio = (top / base) ** (1 / _THRESHOLDS)
    cuts = {*search.candidates, *search.guesses, *(base * ratio**n for n in range(_THRESHOLDS))}

    def rung(size: int, *, answered: bool) -> int:
        return donor + (size + output_tokens(view) if answered else 0)

    def climbed(cut: float, *, refused: bool) -> int:
        sizes = simulate(once, base, cut)
        return search.repeats * sum(
            rung(size, answered=size <= cut or not refused) for size in sizes
        )

    return Cost(
        least=climbed(top, refused=True),
        most_refused=max(climbed(cut, refused=True) for cut in cuts),
        most=max(climbed(cut, refused=False) for cut in cuts),
    )


def simulate(search: Search, base: int, cut: float) -> list[int]:
    """Return the sizes a ladder asks, each once, of a target that reads up to ``cut`` tokens."""
    rungs = [Rung(size=base, read=Read.VERIFIED)]
    for _ in range(most_rungs(search, base)):
        wanted = next_size(search, rungs)
        if wanted is None:
            break
        read = Read.VERIFIED if wanted.size <= cut else Read.REFUSED
        rungs.append(Rung(size=wanted.size, read=read, cold=wanted.cold))
    return [rung.size for rung in rungs]


def nominal_ruler() -> Ruler:
    """Return the assumed ruler without its error: for prices, before anything is measured."""
    return replace(ruler_of([]), slope_error=0.0)


def smallest(limits: Sequence[TokenLimit]) -> TokenLimit:
    """Return the limit an engine enforces if all that is stated is true."""
    return min(limits, key=lambda limit: limit.tokens)


def largest(limits: Sequence[TokenLimit]) -> TokenLimit:
    """Return the limit users read."""
    return max(limits, key=lambda limit: limit.tokens)
