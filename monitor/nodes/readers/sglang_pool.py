"""What an SGLang server's pools hold, rank by rank, and what that makes of the limit of a prompt.

The limit that a server states is that of its first data-parallel rank. Another rank may hold less
or more, so what a server surely admits and what it may admit differ. Where two places differ, the
smaller pool counts; where a rank did not tell its pool, nothing is said of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import Document
from monitor.nodes.readers.base import tokens
from monitor.nodes.readers.sglang_info import SPARE_TOKENS, Told
from monitor.nodes.scrape import Ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools of a server's ranks, in tokens.

    ``complete`` says that every rank told its pool, or that there is no rank but the first, of
    which the scheduler's limit speaks.
    """

    first: int | None
    smallest: int | None
    largest: int | None
    complete: bool

    def differ(self, *, sharded: bool) -> bool:
        """Tell whether a rank may use less than another; of parts only the first is a measure."""
        if self.smallest is None or self.largest is None:
            return False
        return self.smallest < ((self.first or self.largest) if sharded else self.largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limit of a prompt on the rank that admits least, and on the one that admits most."""

    least: int | None = None
    most: int | None = None


def pools_of(said: Told, gauge: Ranks, loads: Sequence[Document]) -> Pools:
    """Return what ``/server_info``, the gauge and the page of load say of the ranks' pools."""
    states = [object_at(each, "memory_usage").get("token_capacity") for each in said.states]
    loaded = [each.get("max_total_num_tokens") for each in loads]
    places = ([said.info.get("max_total_num_tokens")], states, list(gauge.values()), loaded)
    told = [[size for each in place if (size := tokens(each))] for place in places]
    every = [size for place in told for size in place]
    stated = said.info.get("dp_size")
    ranks = max(said.ranks or 1, *(len(place) for place in places))
    unclear = (stated is not None and said.ranks is None) or any(
        each is not None and tokens(each) is None for place in places for each in place
    )
    every_rank = ranks == 1 or any(len(place) == ranks for place in told)
    return Pools(
        first=said.first_pool,
        smallest=min(every, default=None),
        largest=max(every, default=None),
        complete=every_rank and not unclear,
    )


def pool_bound(said: Told, pools: Pools, *, context: int | None) -> bool | None:
    """Tell whether the pool limits a prompt before the context does.

    The scheduler's limit tells exactly, also where the pool is sharded, but for its own rank alone.
    A smaller pool counts wherever it is told. So does the pool alone where the limit is not told or
    is that of a diffusion model; which a sharded pool does not allow.
    """
    advertised = said.advertised or context
    if advertised is None:
        return None
    limit = None if said.diffuses else said.enforced
    if limit is not None and limit + SPARE_TOKENS < advertised:
        return True
    if said.sharded:
        alike = pools.complete and not pools.differ(sharded=True)
        return False if alike and limit is not None else None
    if pools.smallest is not None and pools.smallest < advertised:
        return True
    known = limit is not None or pools.smallest is not None
    return False if pools.complete and known else None


def limits_of(said: Told, pools: Pools, *, context: int | None) -> Limits:
    """Return what the server surely admits, and what it may admit.

    Nothing of a server with a rank that did not tell its pool, nor of one whose ranks differ and
    are not measured as the limit is.
    """
    limit, advertised = said.enforced, said.advertised or context
    if limit is None or not pools.complete:
        return Limits()
    smallest, largest = pools.smallest or limit, pools.largest or limit
    apart = pools.differ(sharded=said.sharded)
    if apart and (said.sharded or said.diffuses or advertised is None):
        return Limits()
    if said.sharded or (not apart and limit <= smallest):
        return Limits(least=limit, most=limit)
    roomy = min(largest, advertised or largest) - SPARE_TOKENS
    return Limits(
        least=max(0, min(limit, smallest - SPARE_TOKENS)),
        most=max(limit, roomy),
    )
