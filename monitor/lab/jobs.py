"""What the engine keeps of one request, and what it says about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from monitor.lab.prefix import Match
from monitor.lab.template import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where an output token comes from.

    ``kind`` is ``pages`` (copied from this slot) or ``weights`` (known by the model; the slot is
    that of the question which called for it). ``writer`` is the request that wrote the slot.
    """

    kind: str
    page: int
    slot: int
    writer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputToken:
    """One generated token with its origin."""

    token: int
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a request is not served: an HTTP status and the message of the error body."""

    status: int
    message: str
    kind: str = "BadRequest"
    by_scheduler: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as reported to the client, and whether they end a stream."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int = 0
    streamed: bool = False


def request_id(seed: int, number: int) -> str:
    """Return the id of a request: a function of the lab's seed and the request's number."""
    return hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: the number of the request, from 1, and the tenant of its key, "" if none."""

    number: int
    tenant: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """A request under way. Only the engine and its steps touch it; the responder never sees it."""

    number: int
    rid: str
    prompt: Prompt
    max_new_tokens: int
    tenant: str = ""
    cache_salt: str = ""
    loaded: list[int] = field(default_factory=list)
    refusal: Refusal | None = None
    match: Match | None = None
    prefill_table: list[int] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    read_table: list[int] = field(default_factory=list)
    length: int = 0
    reported_length: int | None = None
    read_length: int = 0
    stamp: int = -1
    plan: list[OutputToken] = field(default_factory=list)
    output: list[OutputToken] = field(default_factory=list)
    # Turns until decode has the pages, and whether it has them.
    turns_left: int = 0
    has_arrived: bool = False
    # Its row in the batch.
    row: int = 0
    pages_released: bool = False
    finish_reason: str = ""
    cancelled: bool = False
    # How many tokens at its beginning are not its own, although they were loaded as such.
    borrowed: int = 0
    # True if the engine broke down over it.
    failed: bool = False
    # Slots it reads that hold what another request wrote there: by page and slot, the writer.
    foreign_slots: dict[tuple[int, int], str] = field(default_factory=dict)
    # Requests whose words, or whose question, its answer is made of.
    foreign_writers: set[str] = field(default_factory=set)

    @property
    def cached_tokens(self) -> int:
        """Return how many prompt tokens the prefix cache says it supplied."""
        return self.match.reported_tokens if self.match else 0

    def is_finished(self) -> bool:
        """Return whether the last token is out."""
        return bool(self.finish_reason)

    @property
    def prompt_tokens(self) -> int:
        """Return the prompt length as the node in charge of usage knows it."""
        return self.length if self.reported_length is None else self.reported_length
