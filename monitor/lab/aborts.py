"""What is still on its way to the pages of a request whose client went away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from monitor.lab.jobs import Job
from monitor.lab.pages import Page, PagePool

# A write that is later than this many turns does not come any more.
_LATEST_TURNS = 60


@dataclass(slots=True, kw_only=True)
class LateWrite:
    """The pages a write was meant for, and what it brings."""

    contents: dict[int, Page]
    turns_left: int = _LATEST_TURNS

    @classmethod
    def of(cls, job: Job, decode: PagePool, prefill: PagePool) -> Self:
        """Return the write under way for a job: of what prefill has, else of what decode has."""
        if job.pages_released:
            return cls(contents={})
        shared = set(job.match.pages) if job.match else set()
        if job.has_arrived:
            own = [page for page in job.table if page not in shared or decode is not prefill]
            return cls(contents={page: decode.page(page) for page in own})
        pairs = zip(job.table or job.prefill_table, job.prefill_table, strict=False)
        return cls(
            contents={
                target: prefill.page(source)
                for target, source in pairs
                if target not in shared or decode is not prefill
            }
        )

    def land(self, pool: PagePool, pages: Collection[int]) -> None:
        """Write what is meant for these pages."""
        for page, content in self.contents.items():
            if page in pages:
                pool.put(page, content)
