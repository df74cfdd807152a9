"""Which prompt size to try next: the search for the largest size at which content is verified.

Pure: it is told what became of every size tried so far, and names the next one. First the
candidates, largest first (an enforced limit usually is one of them), then the middle between the
largest verified size and the smallest that was not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from monitor.detect.binomial import upper_bound

# At least one size in so many is read by a target that cannot have it in a cache.
COLD_EVERY = 5


class Read(StrEnum):
    """What became of a prompt of one size."""

    VERIFIED = "verified"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    REPLACED = "replaced"
    UNCLEAR = "unclear"
    NO_ANSWER = "no_answer"

    @property
    def told(self) -> bool:
        """True unless nothing could be told of this size."""
        return self not in (Read.UNCLEAR, Read.NO_ANSWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One prompt that was sent: the size it was asked for, how it was read, and if ``cold``."""

    size: int
    read: Read
    cold: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched: candidate sizes, how fine, how often each, and what may not be asked.

    The search ends when what is open is at most ``resolution`` tokens, or ``share`` of the size
    that was not verified. ``guesses`` stand just over likely limits; one that lies in what is
    open is tried before the middle. A size counts as verified after ``repeats`` whole answers and
    no other. ``bands`` are the inclusive ranges of sizes that may be answered or refused, which
    show nothing. With ``shared`` most sizes may be read from a cache. A ``thorough`` search also
    asks the candidates below one that was verified.
    """

    candidates: tuple[int, ...]
    resolution: int
    share: float = 0.0
    guesses: tuple[int, ...] = ()
    repeats: int = 1
    bands: tuple[tuple[int, int], ...] = ()
    shared: bool = False
    thorough: bool = False

    def fine(self, stopped: int) -> int:
        """Return how near below a size that was not verified the search ends."""
        return max(1, self.resolution, int(self.share * stopped))


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The next size to try, and whether no cache may know it."""

    size: int
    cold: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the ladder stands.

    ``verified`` is the largest verified size below the smallest one that was not (``stopped`` by
    ``stopped_by``); 0 if there is none. ``islands`` are sizes verified beyond that.
    """

    verified: int
    stopped: int | None
    stopped_by: Read | None
    islands: tuple[int, ...]


def seen_rate(repeats: int, miss: float) -> float:
    """Return the rate from which on a fault is missed at most with this chance.

    1 - miss^(1 / repeats), from the chance (1 - rate)^repeats that it never strikes.
    """
    return upper_bound(0, repeats, 1 - miss)


def standing(search: Search, rungs: Sequence[Rung]) -> Standing:
    """Return what the sizes tried so far come to."""
    reads = _reads(rungs)
    stops = [size for size in reads if _stop(reads[size])]
    stopped = min(stops, default=None)
    whole = [size for size in reads if size not in stops and len(reads[size]) >= search.repeats]
    return Standing(
        verified=max((s for s in whole if stopped is None or s < stopped), default=0),
        stopped=stopped,
        stopped_by=_stop(reads[stopped]) if stopped is not None else None,
        islands=tuple(sorted(s for s in whole if stopped is not None and s > stopped)),
    )


def next_size(search: Search, rungs: Sequence[Rung]) -> Next | None:
    """Return what to try next, ``None`` once the ladder is as fine as was asked.

    The largest verified size is tried cold before the end, if it was only read from a cache.
    """
    reads = _reads(rungs)
    begun = [s for s in reads if not _stop(reads[s]) and len(reads[s]) < search.repeats]
    stands = standing(search, rungs)
    # One more than the repeats below a stop would be wasted.
    for size in sorted(begun, reverse=True):
        if stands.stopped is None or size < stands.stopped:
            return Next(size=size, cold=_cold(search, rungs))
    untried = _candidate(search, reads, stands) or _middle(search, stands, reads)
    if untried is not None:
        return Next(size=untried, cold=_cold(search, rungs))
    if stands.verified and not any(r.cold for r in rungs if r.size == stands.verified):
        return Next(size=stands.verified, cold=True)
    return None


def most_rungs(search: Search, floor: int) -> int:
    """Return how many prompts a search that found ``floor`` verified can take at most."""
    top = max(search.candidates, default=floor)
    spread = max(1, top - floor)
    halvings = math.ceil(math.log2(max(2, spread))) + 1
    sizes = len(search.candidates) + len(search.guesses) + halvings + 1
    return sizes * (search.repeats + 1)


def _reads(rungs: Sequence[Rung]) -> dict[int, list[Read]]:
    reads: dict[int, list[Read]] = {}
    for rung in rungs:
        reads.setdefault(rung.size, []).append(rung.read)
    return reads


def _stop(reads: Sequence[Read]) -> Read | None:
    """Return why a size is not verified: a fault before a doubt, ``None`` if nothing speaks so."""
    return next(
        (r for told in (True, False) for r in reads if r is not Read.VERIFIED and r.told == told),
        None,
    )


def _cold(search: Search, rungs: Sequence[Rung]) -> bool:
    if not search.shared:
        return True
    return all(not rung.cold for rung in rungs[-(COLD_EVERY - 1) :])


def _candidate(search: Search, reads: dict[int, list[Read]], stands: Standing) -> int | None:
    """Return the largest candidate that is still worth asking."""
    stopped = stands.stopped
    below = math.inf if stopped is None else stopped - search.fine(stopped)
    above = 0 if search.thorough else stands.verified
    open_ones = [s for s in search.candidates if s not in reads and above < s < below]
    return max(open_ones, default=None)


def _middle(search: Search, stands: Standing, reads: dict[int, list[Read]]) -> int | None:
    """Return a guess in what is open, else its middle, out of any band; ``None`` if fine enough."""
    if stands.stopped is None or not stands.verified:
        return None
    low, high = stands.verified, stands.stopped
    if high - low <= search.fine(high):
        return None
    guess = min((g for g in search.guesses if low < g < high and g not in reads), default=None)
    if guess is not None:
        return guess
    middle = low + (high - low) // 2
    for start, end in search.bands:
        if start <= middle <= end:
            middle = start - 1 if start - 1 > low else end + 1
    return middle if low < middle < high and middle not in reads else None
