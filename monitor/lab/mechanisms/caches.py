"""Faults of caches: entries not trimmed, keys that compare too little, pages given away early."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from monitor.lab.mechanisms.base import Chance, Mechanism, Value
from monitor.lab.steps import Steps
from monitor.lab.template import Prompt


def _keep_tail(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    del params, chance
    return replace(steps, trim_cached_entry=False)


def _short_key(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    del chance
    compared = int(params["tokens"])

    def page_key(tokens: tuple[int, ...]) -> Hashable:
        return tokens[:compared]

    return replace(steps, page_key=page_key)


def _reuse_early(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    del params, chance
    return replace(steps, keep_pages_until_finish=False)


def _stale(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    del chance
    compared = int(params["tokens"])

    def reply_key(prompt: Prompt) -> Hashable | None:
        return tuple(prompt.tokens[:compared])

    return replace(steps, reply_key=reply_key)


PREFIX_TAIL_KEPT = Mechanism(
    name="prefix_tail_kept",
    sentence=(
        "A cached prompt that shares a beginning with the new one is reused without being "
        "trimmed, so the slots after the common part keep the old request's tail."
    ),
    install=_keep_tail,
)
PREFIX_KEY_SHORT = Mechanism(
    name="prefix_key_short",
    sentence=(
        "The prefix cache compares only the first tokens of each page, so a page of another "
        "request that begins alike is taken for a hit."
    ),
    install=_short_key,
    params={"tokens": 8},
)
PAGE_REUSED_EARLY = Mechanism(
    name="page_reused_early",
    sentence=(
        "Pages go back to the free list when decoding starts, so the next prompt overwrites what "
        "a running answer still reads."
    ),
    install=_reuse_early,
)
STALE_ANSWER = Mechanism(
    name="stale_answer",
    sentence=(
        "The gateway serves a stored answer again to any prompt that begins with the same tokens."
    ),
    install=_stale,
    params={"tokens": 12},
)
