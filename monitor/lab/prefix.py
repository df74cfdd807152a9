"""The prefix cache: a tree of full pages, shared by all tenants, least recently used out first."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from monitor.lab.pages import Page, PagePool, split_pages

# One page in so many is freed beyond what is wanted.
_SPARE_SHARE = 32
PageKey = Callable[[tuple[int, ...]], Hashable]


def root_chain(salt: str) -> int:
    """Return the number of an empty beginning under a salt."""
    return zlib.crc32(salt.encode("utf-8", "replace"))


def next_chain(chain: int, page: tuple[int, ...]) -> int:
    """Return the number of a beginning with one more page; the same in every process."""
    return hash((chain, page))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """A page that the cache let go: the numbers of its beginnings, the shortest first."""

    path: tuple[int, ...]
    content: Page

    @property
    def chain(self) -> int:
        """Return the number of everything up to and with this page."""
        return self.path[-1]


@dataclass(slots=True, eq=False)
class _Node:
    page: int
    parent: _Node | None
    key: tuple[int, ...]
    chain: int
    children: dict[tuple[int, ...], _Node] = field(default_factory=dict)
    used: int = 0
    readers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Cached pages a request may read, and how many tokens the cache says it found."""

    pages: list[int]
    nodes: list[_Node]
    reported_tokens: int


class PrefixCache:
    """Keeps the pages of finished requests until somebody needs the room."""

    def __init__(self, pool: PagePool, on_evict: Callable[[Evicted], None] | None = None) -> None:
        self._pool = pool
        self._on_evict = on_evict
        self._roots: dict[str, _Node] = {}
        self._clock = 0
        self._count = 0

    @property
    def evictable_pages(self) -> int:
        """Return how many pages are cached (those being read included)."""
        return self._count

    def find(self, tokens: list[int], salt: str = "", alike: PageKey | None = None) -> Match:
        """Return the longest cached beginning.

        At least one token is always left to compute. Entries of another salt do not count.
        With ``alike``, a page that gives the same key is taken for the same page.
        """
        limit = (len(tokens) - 1) // self._pool.page_size
        nodes = self._walk(split_pages(tokens, self._pool.page_size)[:limit], salt, alike)
        return Match(
            pages=[node.page for node in nodes],
            nodes=nodes,
            reported_tokens=len(nodes) * self._pool.page_size,
        )

    def parts_at_edge(self, match: Match, tokens: list[int]) -> bool:
        """Return whether tokens and every entry differ from the first slot after a match on."""
        at = len(match.nodes) * self._pool.page_size
        if not match.nodes or at >= len(tokens):
            return False
        following = match.nodes[-1].children.values()
        return bool(following) and all(child.key[0] != tokens[at] for child in following)

    def with_tail(self, match: Match, tokens: list[int], most: int | None = None) -> Match:
        """Return a match together with what follows it in its most recent entry.

        The count of tokens stays that of the part found.
        """
        room = (len(tokens) - 1) // self._pool.page_size - len(match.nodes)
        room = room if most is None else min(room, most)
        tail = _tail(match.nodes[-1], room) if match.nodes else []
        pages = [node.page for node in tail]
        return replace(match, pages=match.pages + pages, nodes=match.nodes + tail)

    def hold(self, match: Match) -> None:
        """Keep the pages of a match until it is released."""
        self._clock += 1
        for node in match.nodes:
            node.used = self._clock
            node.readers += 1

    def release(self, match: Match) -> None:
        """Stop holding the pages of a match."""
        for node in match.nodes:
            node.readers -= 1

    def insert(self, table: list[int], length: int, salt: str = "") -> list[int]:
        """Keep the full pages of a block table; return the pages the cache did not take."""
        self._clock += 1
        node, spare = self._root(salt), []
        full = length // self._pool.page_size
        for page in table[:full]:
            key = self._pool.page_tokens(page)
            child = node.children.get(key)
            if child is None:
                child = _Node(
                    page=page,
                    parent=node,
                    key=key,
                    chain=next_chain(node.chain, key),
                )
                node.children[key] = child
                self._count += 1
            elif child.page != page:
                spare.append(page)
            child.used = self._clock
            node = child
        return spare + table[full:]

    def keep_at_most(self, pages: int) -> None:
        """Evict least recently used leaves that nobody reads until so many are left."""
        self._evict(lambda: self._count - pages)

    def make_room(self, wanted: int) -> None:
        """Evict what was least recently used until the pool has the wanted free pages.

        Once there is too little room, some more is made, so that not every page costs a search.
        """
        if self._pool.free_pages < wanted:
            wanted += self._pool.pages // _SPARE_SHARE
            self._evict(lambda: wanted - self._pool.free_pages)

    def _evict(self, excess: Callable[[], int]) -> None:
        """Drop branches from their leaves on, the least recently used first."""
        while excess() > 0:
            leaves = [n for n in self._nodes() if not n.children and not n.readers]
            if not leaves:
                return
            for leaf in sorted(leaves, key=lambda node: node.used):
                if excess() <= 0:
                    return
                self._drop_branch(leaf, excess)

    def _drop_branch(self, leaf: _Node, excess: Callable[[], int]) -> None:
        node = leaf
        while excess() > 0 and node.parent and not node.children and not node.readers:
            parent = node.parent
            self._drop(node)
            node = parent

    def _root(self, salt: str) -> _Node:
        return self._roots.setdefault(
            salt, _Node(page=-1, parent=None, key=(), chain=root_chain(salt))
        )

    def _walk(self, pages: list[tuple[int, ...]], salt: str, alike: PageKey | None) -> list[_Node]:
        node, found = self._root(salt), []
        for content in pages:
            child = node.children.get(content)
            if child is None and alike:
                child = _latest_alike(node, alike, alike(content))
            if child is None:
                break
            found.append(child)
            node = child
        return found

    def _drop(self, leaf: _Node) -> None:
        if leaf.parent is not None:
            del leaf.parent.children[leaf.key]
            self._count -= 1
            if self._on_evict:
                content = self._pool.page(leaf.page)
                self._on_evict(Evicted(path=_path(leaf), content=content))
            self._pool.free([leaf.page])

    def _nodes(self) -> list[_Node]:
        found: list[_Node] = []
        queue = [node for root in self._roots.values() for node in root.children.values()]
        while queue:
            node = queue.pop()
            found.append(node)
            queue.extend(node.children.values())
        return found


def _path(node: _Node) -> tuple[int, ...]:
    found: list[int] = []
    at: _Node | None = node
    while at is not None and at.parent is not None:
        found.append(at.chain)
        at = at.parent
    return tuple(reversed(found))


def _latest_alike(node: _Node, alike: PageKey, wanted: Hashable) -> _Node | None:
    found = [child for child in node.children.values() if alike(child.key) == wanted]
    return max(found, key=lambda child: child.used, default=None)


def _tail(node: _Node, limit: int) -> list[_Node]:
    """Return what follows a node in its most recent entry: the part a trim would cut off."""
    found: list[_Node] = []
    while node.children and len(found) < limit:
        node = max(node.children.values(), key=lambda child: child.used)
        found.append(node)
    return found
