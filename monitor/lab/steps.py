"""The steps of serving that a mechanism may replace, each with its healthy version.

A fault is this record with one field changed. The engine and the server call the fields and do
not know which version they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from monitor.lab.gateway import GatewaySteps
from monitor.lab.jobs import Job, OutputToken, Refusal, Usage
from monitor.lab.node_steps import NodeSteps
from monitor.lab.pages import PagePool, Slots
from monitor.lab.prefix import Evicted, Match, PrefixCache
from monitor.lab.responder.draft import Draft
from monitor.lab.template import Chat, Prompt
from monitor.lab.tokenizer import Special
from monitor.lab.trigger import Asker, Trigger

# Finished requests whose answers a gateway may still have, the oldest first.
Replies = Sequence[Job]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What the gateway does with a request before the engine sees it."""

    refusal: Refusal | None = None
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the output parser reads the generated tokens."""

    starts_in_reasoning: bool = False
    shows_specials: bool = False


def _same_chat(chat: Chat, asker: Asker) -> Chat:
    return chat


def _open_gate(asker: Asker) -> Gate:
    return Gate()


def _load_all(prompt: Prompt, room: int, asker: Asker) -> list[int]:
    return prompt.tokens


def _retire(job: Job) -> bool:
    """Return whether a refused job leaves the engine now."""
    return True


def _longest_common(cache: PrefixCache, job: Job) -> Match:
    """Return the cached pages a job reads instead of computing them."""
    return cache.find(job.loaded, job.cache_salt)


def _let_go(job: Job) -> None:
    """Do what else happens when the client of a job under way went away: nothing."""


def _dropped(page: Evicted) -> None:
    """Do what else happens to a page that the prefix cache lets go: nothing."""


def _called_off(job: Job) -> bool:
    """Return whether a write for an aborted request reaches the pages this job owns now."""
    return False


def _until_finish(job: Job) -> bool:
    """Return whether a job keeps its pages while it decodes."""
    return True


def _before_the_answer(asker: Asker) -> bool:
    """Return whether a refusal is an event inside a stream."""
    return False


def _own_tables(joined: list[Job], running: list[Job]) -> None:
    """Set which block table each joining job reads: its own."""
    for job in joined:
        job.read_table, job.read_length = job.table, job.length


def _as_drafted(draft: Draft, asker: Asker) -> Draft:
    return draft


def _next_planned(job: Job) -> OutputToken:
    return job.plan[min(len(job.output), len(job.plan) - 1)]


def _read_plainly(job: Job) -> Reading:
    return Reading()


def _as_counted(usage: Usage, asker: Asker) -> Usage:
    return usage


def _nothing_stored(replies: Replies, prompt: Prompt, asker: Asker) -> Job | None:
    """Return the finished request whose answer is served again: none."""
    return None


def _as_filled(job: Job, pool: PagePool) -> None:
    """Do what happens to a job's pages between prefill and decode: nothing."""


def _to_the_free_list(pool: PagePool, pages: list[int], job: Job) -> None:
    """Give back pages of a job that is done: all of them, once."""
    pool.free(pages)


def _as_held(slots: Slots, job: Job) -> Slots:
    """Return what decode sees of the slots it reads."""
    return slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Every replaceable step, in the order a request meets them."""

    gate: Callable[[Asker], Gate] = _open_gate
    template: Callable[[Chat, Asker], Chat] = _same_chat
    stored_reply: Callable[[Replies, Prompt, Asker], Job | None] = _nothing_stored
    load: Callable[[Prompt, int, Asker], list[int]] = _load_all
    retire_refused: Callable[[Job], bool] = _retire
    find_cached: Callable[[PrefixCache, Job], Match] = _longest_common
    after_prefill: Callable[[Job, PagePool], None] = _as_filled
    evicted: Callable[[Evicted], None] = _dropped
    aborted: Callable[[Job], None] = _let_go
    lands_late: Callable[[Job], bool] = _called_off
    release: Callable[[PagePool, list[int], Job], None] = _to_the_free_list
    keep_pages_until_finish: Callable[[Job], bool] = _until_finish
    assign_tables: Callable[[list[Job], list[Job]], None] = _own_tables
    read_slots: Callable[[Slots, Job], Slots] = _as_held
    word: Callable[[Draft, Asker], Draft] = _as_drafted
    sample: Callable[[Job], OutputToken] = _next_planned
    read_output: Callable[[Job], Reading] = _read_plainly
    report: Callable[[Usage, Asker], Usage] = _as_counted
    refuse_in_stream: Callable[[Asker], bool] = _before_the_answer
    gateway_shows_nodes: bool = True
    gateway: GatewaySteps = field(default_factory=GatewaySteps)
    node: NodeSteps = field(default_factory=NodeSteps)
    # One for each mechanism that is on, in the order they were switched on.
    triggers: tuple[Trigger, ...] = ()


END = int(Special.END)
