"""Who has the pages of a node's pool: requests under way, the prefix cache, or nobody.

The three are counted apart, each from those who have them, and not from one another. So they add up
to the pool only while nothing is lost and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from monitor.lab.engine import Counters, Engine
from monitor.lab.jobs import Job
from monitor.lab.pages import PagePool
from monitor.lab.settings import NodeRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """Pages of one pool: read or written by requests under way, free, and cached but unread."""

    used: int
    free: int
    evictable: int


def pool_of(engine: Engine, role: NodeRole) -> PagePool:
    """Return the pool of a node."""
    return engine.decode_pool if role is NodeRole.DECODE else engine.prefill_pool


def counters_of(engine: Engine, role: NodeRole) -> Counters:
    """Return what a node has counted since it started."""
    return engine.decode if role is NodeRole.DECODE else engine.prefill


def occupancy(engine: Engine, role: NodeRole) -> Occupancy:
    """Return who has the pages of a node now."""
    under_way = [*engine.arriving, *engine.running]
    if role is NodeRole.DECODE:
        used = sum(len(job.table) for job in under_way if not job.pages_released)
        return Occupancy(used=used, free=engine.decode_pool.free_pages, evictable=0)
    if engine.disaggregated:
        under_way = [job for job in under_way if not job.has_arrived]
    read = _cached_pages(under_way)
    own = sum(len(_table(job)) - _shared(job) for job in under_way if not job.pages_released)
    return Occupancy(
        used=own + len(read),
        free=engine.prefill_pool.free_pages,
        evictable=engine.cache.evictable_pages - len(read),
    )


def _cached_pages(jobs: Iterable[Job]) -> set[int]:
    return {page for job in jobs if job.match for page in job.match.pages}


def _table(job: Job) -> list[int]:
    """Return the block table of a job on the node that takes prompts in."""
    return job.table if job.has_arrived else job.prefill_table


def _shared(job: Job) -> int:
    return len(job.match.pages) if job.match else 0
