"""What one serving node said of itself, in words that hold for every engine.

A fact that is ``None`` was not read. Where it should have been, a ``Gap`` says why: what cannot be
told is never taken for what is well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

Setting = str | int | float | bool | None
"""One setting of a node as it was read: bounded, and with nothing secret in it."""


class Role(StrEnum):
    """A node's part in serving."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


class Conformity(StrEnum):
    """What the rules make of a node. ``UNKNOWN`` is no pass."""

    PASS = "pass"  # noqa: S105 - not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class NodeCounter(StrEnum):
    """What a node counts since it started, whatever its engine calls it."""

    PROMPT_TOKENS = "prompt_tokens"
    GENERATED_TOKENS = "generated_tokens"
    REQUESTS = "requests"
    ABORTED = "aborted"
    PREEMPTED = "preempted"
    BOOTSTRAP_FAILED = "bootstrap_failed"
    TRANSFER_FAILED = "transfer_failed"
    DEFERRED_RELEASES = "deferred_releases"
    KV_EXPIRED = "kv_expired"
    NOT_A_NUMBER = "not_a_number"
    DRAFTED = "drafted"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A fact that should have been read and was not.

    ``fact`` is the field or setting; ``why`` is ours, never a word of the server's.
    """

    fact: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KvUse:
    """The KV pool as it is used now. Tokens over all data-parallel ranks; the ratio is 0 to 1.

    ``capacity_tokens`` is over all ranks too, for used, free and evictable together never exceed
    it. The ratio is that of the fullest rank. ``in_transfer`` counts requests between prefill and
    decode: whose KV waits to be sent or fetched, or is on its way.
    """

    capacity_tokens: int | None = None
    used_tokens: int | None = None
    free_tokens: int | None = None
    evictable_tokens: int | None = None
    usage_ratio: float | None = None
    running: int | None = None
    queued: int | None = None
    in_transfer: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What changes while a node serves.

    ``counters`` have only what was read. ``started_seconds`` is when the process began (since
    1970): where it changes, counters began again. Acceptance is that of speculative decoding:
    tokens a step, and the share of drafted tokens that were taken.
    """

    kv: KvUse = field(default_factory=KvUse)
    counters: Mapping[NodeCounter, float] = field(default_factory=dict)
    accept_length: float | None = None
    accept_ratio: float | None = None
    started_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What a node is.

    ``advertised_tokens`` is the context it states, ``enforced_tokens`` the limit of a prompt by
    the engine's own number (SGLang's ``max_req_input_len``, at which it refuses), ``pool_tokens``
    what its KV pool holds (one replica: over data-parallel ranks the smallest, since one request
    lives on one rank). ``least_admitted_tokens`` and ``most_admitted_tokens`` are the limit on the
    rank that admits least, which the node surely admits, and on the one that admits most, which it
    may admit. ``pool_bound`` says that the pool, not the context, limits a prompt; ``None`` where
    that cannot be told. ``settings`` are those that rules may speak of, redacted.
    """

    engine: str | None = None
    version: str | None = None
    role: Role | None = None
    models: tuple[str, ...] = ()
    advertised_tokens: int | None = None
    enforced_tokens: int | None = None
    least_admitted_tokens: int | None = None
    most_admitted_tokens: int | None = None
    pool_tokens: int | None = None
    pool_bound: bool | None = None
    slots: int | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshot:
    """One reading of one node: complete, and never changed afterwards.

    ``node`` is its name, unique within ``target``. ``role`` is what the configuration says, else
    what the node says, else unified. A node that did not answer has no facts and one gap.
    """

    node: str
    target: str
    read_at: datetime
    role: Role
    reached: bool
    facts: NodeFacts = field(default_factory=NodeFacts)
    live: Live = field(default_factory=Live)
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMatch:
    """One rule that speaks of a node.

    ``conformity`` is ``WARN``, ``FAIL`` or, where the rule needed a fact that is missing,
    ``UNKNOWN``. ``why`` is filled with numbers and our own words. ``public_since`` is the day the
    fault was made public, ``shape`` the probe that shows it. An accepted one is shown, and counts
    for nothing until ``accepted_until`` is past.
    """

    rule: str
    conformity: Conformity
    why: str
    link: str = ""
    public_since: date | None = None
    shape: str | None = None
    accepted_until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVerdict:
    """What the rules say of one reading: the worst that is not accepted, and each rule's word."""

    snapshot: NodeSnapshot
    conformity: Conformity
    matches: tuple[RuleMatch, ...] = ()

    @property
    def public_since(self) -> date | None:
        """The day the oldest fault that makes it fail was made public."""
        days = [
            each.public_since
            for each in self.matches
            if each.conformity is Conformity.FAIL and each.public_since and not each.accepted_until
        ]
        return min(days, default=None)
