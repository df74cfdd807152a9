"""The steps of serving that a mechanism may replace, each with its healthy version.

A fault is this record with one field changed. The engine and the server call the fields and do
not know which version they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from monitor.lab.jobs import Job, OutputToken, Refusal, Usage
from monitor.lab.responder.draft import Draft
from monitor.lab.template import Chat, Prompt
from monitor.lab.tokenizer import Special


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


def _same_chat(chat: Chat) -> Chat:
    return chat


def _open_gate(number: int) -> Gate:
    del number
    return Gate()


def _load_all(prompt: Prompt, room: int) -> list[int]:
    del room
    return prompt.tokens


def _retire(job: Job) -> bool:
    """Return whether a refused job leaves the engine now."""
    del job
    return True


def _whole_page(tokens: tuple[int, ...]) -> Hashable:
    return tokens


def _own_tables(joined: list[Job], running: list[Job]) -> None:
    """Set which block table each joining job reads: its own."""
    del running
    for job in joined:
        job.read_table, job.read_length = job.table, job.length


def _as_drafted(draft: Draft, number: int) -> Draft:
    del number
    return draft


def _next_planned(job: Job) -> OutputToken:
    return job.plan[min(len(job.output), len(job.plan) - 1)]


def _read_plainly(job: Job) -> Reading:
    del job
    return Reading()


def _as_counted(usage: Usage) -> Usage:
    return usage


def _no_reply_key(prompt: Prompt) -> Hashable | None:
    """Return the key under which a finished answer may be served again: never."""
    del prompt
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Every replaceable step, in the order a request meets them."""

    gate: Callable[[int], Gate] = _open_gate
    template: Callable[[Chat], Chat] = _same_chat
    reply_key: Callable[[Prompt], Hashable | None] = _no_reply_key
    load: Callable[[Prompt, int], list[int]] = _load_all
    retire_refused: Callable[[Job], bool] = _retire
    page_key: Callable[[tuple[int, ...]], Hashable] = _whole_page
    trim_cached_entry: bool = True
    keep_pages_until_finish: bool = True
    assign_tables: Callable[[list[Job], list[Job]], None] = _own_tables
    word: Callable[[Draft, int], Draft] = _as_drafted
    sample: Callable[[Job], OutputToken] = _next_planned
    read_output: Callable[[Job], Reading] = _read_plainly
    report: Callable[[Usage], Usage] = _as_counted
    refuse_in_stream: bool = False
    gateway_shows_nodes: bool = True


END = int(Special.END)
