"""Pages, their writers, and the prefix cache."""

from __future__ import annotations

import pytest

from monitor.lab.pages import UNWRITTEN, PagePool, PoolFullError, split_pages
from monitor.lab.prefix import PrefixCache


def test_freed_pages_keep_their_content_and_their_writer() -> None:
    pool = PagePool(2, 4)
    first = pool.allocate(1)
    pool.write(first, 0, [70, 71, 72, 73], "donor")
    pool.free(first)
    slots = pool.read(pool.allocate(1), 4)
    assert slots.tokens == (70, 71, 72, 73)
    assert set(slots.writers) == {"donor"}


def test_a_partial_write_leaves_the_rest_of_the_page() -> None:
    pool = PagePool(1, 4)
    table = pool.allocate(1)
    pool.write(table, 0, [70, 71, 72, 73], "donor")
    pool.write(table, 0, [80], "victim")
    assert pool.read(table, 4).writers == ("victim", "donor", "donor", "donor")


def test_slots_nobody_wrote_have_no_writer() -> None:
    pool = PagePool(1, 4)
    assert set(pool.read(pool.allocate(1), 4).writers) == {UNWRITTEN}


def test_a_full_pool_gives_nothing() -> None:
    pool = PagePool(2, 4)
    pool.allocate(1)
    with pytest.raises(PoolFullError):
        pool.allocate(2)
    assert pool.free_pages == 1


def test_freeing_twice_does_not_hand_a_page_out_twice() -> None:
    pool = PagePool(2, 4)
    pages = pool.allocate(2)
    pool.free(pages)
    pool.free(pages)
    assert sorted(pool.allocate(2)) == [0, 1]


def test_a_copy_carries_the_whole_page() -> None:
    source, target = PagePool(1, 4), PagePool(3, 4)
    pages, there = source.allocate(1), target.allocate(3)
    source.write(pages, 0, [70, 71], "writer")
    target.copy_from(source, pages, there[1:2])
    assert target.read(there[1:], 4).tokens == (70, 71, 0, 0)


def test_the_stamp_changes_with_every_write() -> None:
    pool = PagePool(2, 4)
    table = pool.allocate(2)
    before = pool.stamp(table)
    pool.write(table, 5, [70], "writer")
    assert pool.stamp(table) != before


def test_only_full_pages_are_split_off() -> None:
    assert split_pages(list(range(7)), 3) == [(0, 1, 2), (3, 4, 5)]


def _cached(pool: PagePool, cache: PrefixCache, tokens: list[int]) -> list[int]:
    table = pool.allocate(-(-len(tokens) // pool.page_size))
    pool.write(table, 0, tokens, "first")
    pool.free(cache.insert(table, len(tokens)))
    return table


def test_the_cache_finds_the_common_beginning_only() -> None:
    pool = PagePool(8, 2)
    cache = PrefixCache(pool)
    table = _cached(pool, cache, [1, 2, 3, 4, 5, 6])
    match = cache.find([1, 2, 3, 4, 9, 9, 9])
    assert match.pages == table[:2]
    assert match.reported_tokens == 4


def test_an_untrimmed_entry_brings_its_tail_and_reports_the_beginning() -> None:
    pool = PagePool(8, 2)
    cache = PrefixCache(pool)
    table = _cached(pool, cache, [1, 2, 3, 4, 5, 6])
    match = cache.with_tail(cache.find([1, 2, 9, 9, 9, 9, 9]), [1, 2, 9, 9, 9, 9, 9])
    assert match.pages == table[:3]
    assert match.reported_tokens == 2


def test_the_last_token_is_never_cached() -> None:
    pool = PagePool(8, 2)
    cache = PrefixCache(pool)
    _cached(pool, cache, [1, 2, 3, 4])
    assert cache.find([1, 2, 3, 4]).reported_tokens == 2


def test_room_is_made_by_forgetting_what_nobody_reads() -> None:
    pool = PagePool(4, 2)
    cache = PrefixCache(pool)
    _cached(pool, cache, [1, 2, 3, 4])
    held = cache.find([1, 2, 9])
    cache.hold(held)
    _cached(pool, cache, [5, 6, 7, 8])
    cache.make_room(3)
    assert pool.free_pages == 3
    cache.make_room(4)
    assert pool.free_pages == 3
    cache.release(held)
    cache.make_room(4)
    assert pool.free_pages == 4
