"""The paged KV pool: every slot holds a token id and the id of the request that wrote it.

Freed pages are not scrubbed, as in real engines: who gets a page and does not write it reads what
was there before.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

UNWRITTEN = ""
# The tokens of a page and, slot by slot, who wrote them.
Page = tuple[list[int], list[str]]


class PoolFullError(Exception):
    """There are fewer free pages than asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """What a reader of a block table sees, position by position: the only thing it may see."""

    page_size: int
    tokens: tuple[int, ...]
    cells: tuple[int, ...]
    writers: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.tokens)

    def seen_as(self, places: Sequence[int]) -> Slots:
        """Return the slots in another order: at each position what stands at the named place."""
        return Slots(
            page_size=self.page_size,
            tokens=tuple(self.tokens[place] for place in places),
            cells=tuple(self.cells[place] for place in places),
            writers=tuple(self.writers[place] for place in places),
        )


@dataclass(slots=True)
class PagePool:
    """Pages of slots with a free list; the lowest free page is handed out first."""

    pages: int
    page_size: int
    _tokens: list[int] = field(init=False)
    _writers: list[str] = field(init=False)
    _stamps: list[int] = field(init=False)
    _free: list[int] = field(init=False)
    _is_free: bytearray = field(init=False)

    def __post_init__(self) -> None:
        """Start with every slot unwritten and every page free."""
        slots = self.pages * self.page_size
        self._tokens = [0] * slots
        self._writers = [UNWRITTEN] * slots
        self._stamps = [0] * self.pages
        self._free = list(range(self.pages))
        self._is_free = bytearray(b"\x01" * self.pages)

    @property
    def tokens(self) -> int:
        """Return the capacity in tokens."""
        return self.pages * self.page_size

    @property
    def free_pages(self) -> int:
        """Return how many pages can be allocated."""
        return len(self._free)

    def allocate(self, count: int) -> list[int]:
        """Take pages from the free list as they are; raise ``PoolFullError`` if too few."""
        if count > len(self._free):
            raise PoolFullError(count)
        taken = [heapq.heappop(self._free) for _ in range(count)]
        for page in taken:
            self._is_free[page] = 0
        return taken

    def free(self, pages: list[int]) -> None:
        """Put pages back. Their content stays. Freeing a free page changes nothing."""
        for page in pages:
            if not self._is_free[page]:
                self._is_free[page] = 1
                heapq.heappush(self._free, page)

    def free_again(self, pages: list[int]) -> None:
        """Put pages on the free list a second time: what ``free`` keeps from happening."""
        for page in pages:
            heapq.heappush(self._free, page)

    def write(self, table: list[int], position: int, tokens: list[int], writer: str) -> None:
        """Write tokens through a block table, from a position on."""
        size = self.page_size
        for place, token in enumerate(tokens, position):
            page = table[place // size]
            cell = page * size + place % size
            self._tokens[cell] = token
            self._writers[cell] = writer
            self._stamps[page] += 1

    def copy_from(self, other: PagePool, sources: list[int], targets: list[int]) -> None:
        """Copy whole pages from another pool, contents and writers alike."""
        size = self.page_size
        for source, target in zip(sources, targets, strict=True):
            here, there = target * size, source * size
            self._tokens[here : here + size] = other._tokens[there : there + size]
            self._writers[here : here + size] = other._writers[there : there + size]
            self._stamps[target] += 1

    def read(self, table: list[int], length: int) -> Slots:
        """Return what the first ``length`` positions of a block table hold now."""
        size = self.page_size
        cells = [page * size + offset for page in table for offset in range(size)][:length]
        return Slots(
            page_size=size,
            tokens=tuple(self._tokens[cell] for cell in cells),
            cells=tuple(cells),
            writers=tuple(self._writers[cell] for cell in cells),
        )

    def page(self, page: int) -> Page:
        """Return a copy of one page: its tokens and who wrote them."""
        here, size = page * self.page_size, self.page_size
        return (self._tokens[here : here + size], self._writers[here : here + size])

    def put(self, page: int, content: Page) -> None:
        """Write one page, writers included."""
        here, size = page * self.page_size, self.page_size
        self._tokens[here : here + size], self._writers[here : here + size] = content
        self._stamps[page] += 1

    def page_tokens(self, page: int) -> tuple[int, ...]:
        """Return the token ids of one page."""
        size = self.page_size
        return tuple(self._tokens[page * size : (page + 1) * size])

    def stamp(self, table: list[int]) -> int:
        """Return a number that changes whenever a page of the table is written."""
        stamps = self._stamps
        return sum(stamps[page] for page in table)


def split_pages(tokens: list[int], page_size: int) -> list[tuple[int, ...]]:
    """Return the full pages' worth of tokens, the rest left out."""
    bounds = range(0, len(tokens) + 1, page_size)
    return [tuple(tokens[start:end]) for start, end in pairwise(bounds)]
