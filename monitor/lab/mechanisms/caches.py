"""Faults of caches: entries not trimmed, keys that compare too little, pages given away early."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from monitor.lab.draws import Between, Spread, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.pages import Slots
from monitor.lab.prefix import Match, PrefixCache
from monitor.lab.steps import Replies, Steps
from monitor.lab.template import Prompt
from monitor.lab.trigger import Asker


def _keep_tail(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def find(cache: PrefixCache, job: Job) -> Match:
        trimmed = steps.find_cached(cache, job)
        whole = cache.with_tail(trimmed, job.loaded)
        return whole if whole.pages != trimmed.pages and trigger.strikes(job) else trimmed

    return replace(steps, find_cached=find)


def _short_key(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    compared = int(params["tokens"])

    def alike(page: tuple[int, ...]) -> Hashable:
        return page[:compared]

    def find(cache: PrefixCache, job: Job) -> Match:
        right = steps.find_cached(cache, job)
        wrong = cache.find(job.loaded, job.cache_salt, alike)
        return wrong if wrong.pages != right.pages and trigger.strikes(job) else right

    return replace(steps, find_cached=find)


def _reuse_early(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def keep(job: Job) -> bool:
        return steps.keep_pages_until_finish(job) and not trigger.would_strike(job)

    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        members = [*running, *joined]
        if joined and len(members) > 1:
            # Whoever decodes in company meets the condition; those without pages are hit.
            for job in members:
                trigger.strikes(job)

    return replace(steps, keep_pages_until_finish=keep, assign_tables=assign)


def _stale(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    compared = int(params["tokens"])

    def stored(replies: Replies, prompt: Prompt, asker: Asker) -> Job | None:
        for earlier in reversed(replies):
            alike = earlier.prompt.tokens[:compared] == prompt.tokens[:compared]
            if alike and earlier.prompt.tokens != prompt.tokens:
                return earlier if trigger.strikes(asker) else None
        return None

    return replace(steps, stored_reply=stored)


def _one_page_too_many(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def find(cache: PrefixCache, job: Job) -> Match:
        right = steps.find_cached(cache, job)
        if not cache.parts_at_edge(right, job.loaded):
            return right
        wrong = cache.with_tail(right, job.loaded, most=1)
        return wrong if wrong.pages != right.pages and trigger.strikes(job) else right

    return replace(steps, find_cached=find)


def _other_layout(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    group = int(params["group"])

    def view(slots: Slots, job: Job) -> Slots:
        slots = steps.read_slots(slots, job)
        cached = len(job.match.pages) * slots.page_size if job.match else 0
        if not cached or not trigger.strikes(job):
            return slots
        # Within a group the cache has the last slot first.
        turned = [place - place % group + group - 1 - place % group for place in range(cached)]
        return slots.seen_as([*turned, *range(cached, len(slots))])

    return replace(steps, read_slots=view)


PREFIX_TAIL_KEPT = Mechanism(
    name="prefix_tail_kept",
    sentence=(
        "A cached prompt that shares a beginning with the new one is reused without being "
        "trimmed, so the slots after the common part keep the old request's tail."
    ),
    install=_keep_tail,
    ranges={"rate": Spread(0.1, 1.0)},
)
PREFIX_KEY_SHORT = Mechanism(
    name="prefix_key_short",
    sentence=(
        "The prefix cache compares only the first tokens of each page, so a page of another "
        "request that begins alike is taken for a hit."
    ),
    install=_short_key,
    ranges={"rate": Spread(0.1, 1.0), "tokens": one_of(4, 6, 7)},
    params={"tokens": 8},
)
PAGE_REUSED_EARLY = Mechanism(
    name="page_reused_early",
    sentence=(
        "Pages go back to the free list when decoding starts, so the next prompt overwrites what "
        "a running answer still reads."
    ),
    install=_reuse_early,
    ranges={"rate": Spread(0.1, 1.0)},
)
STALE_ANSWER = Mechanism(
    name="stale_answer",
    sentence=(
        "The gateway serves a stored answer again to any prompt that begins with the same tokens."
    ),
    install=_stale,
    ranges={"rate": Spread(0.1, 1.0), "tokens": one_of(8, 12, 16)},
    params={"tokens": 12},
)
BLOCK_EDGE = Mechanism(
    name="block_edge",
    sentence=(
        "If what two prompts share ends exactly at the edge of a page, the second reuses one page "
        "too many, and it is the first one's."
    ),
    install=_one_page_too_many,
    ranges={"rate": Spread(0.5, 1.0), "onset": Between(0, 8)},
    # Where pages are large, few beginnings end at an edge.
    lab_ranges={"page_size": one_of(8, 16)},
)
CACHED_LAYOUT_MIXED = Mechanism(
    name="cached_layout_mixed",
    sentence=(
        "Pages that come from the prefix cache are read in another layout than they were written "
        "in, so an answer from the cache differs from the cold one, which is right."
    ),
    install=_other_layout,
    params={"group": 2},
    ranges={"rate": Spread(0.2, 1.0), "group": one_of(2, 4, 8)},
)
