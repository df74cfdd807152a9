"""What changes while an SGLang server runs: its metrics, else what its pages of load say.

Names: https://github.com/sgl-project/sglang, ``python/sglang/srt/observability`` (before 2026
``srt/metrics``) and ``srt/managers/io_struct.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from monitor.nodes.pages import Document, NodePages
from monitor.nodes.readers.base import Gaps, count, objects, share, value_at
from monitor.nodes.readers.meter import Counted, Meter
from monitor.nodes.readers.sglang_info import Told
from monitor.nodes.record import KvUse, Live, NodeCounter, Role
from monitor.nodes.scrape import Kept

CONTEXT: Counted = ("context_len",)
POOL: Counted = ("max_total_num_tokens",)
USED: Counted = ("kv_used_tokens", "num_used_tokens")
FREE: Counted = ("kv_available_tokens",)
EVICTABLE: Counted = ("kv_evictable_tokens",)
USAGE: Counted = ("token_usage",)
RUNNING: Counted = ("num_running_reqs",)
QUEUED: Counted = ("num_queue_reqs",)
# Whose prompt prefill has read: what waits to find its decode node before that is not among them.
IN_TRANSFER: dict[Role, tuple[Counted, ...]] = {
    Role.PREFILL: (("num_prefill_inflight_queue_reqs",),),
    Role.DECODE: (("num_decode_prealloc_queue_reqs",), ("num_decode_transfer_queue_reqs",)),
}
ACCEPT_LENGTH: Counted = ("spec_accept_length",)
ACCEPT_RATIO: Counted = ("spec_accept_rate",)
COUNTERS: dict[NodeCounter, Counted] = {
    NodeCounter.PROMPT_TOKENS: ("prompt_tokens_total",),
    NodeCounter.GENERATED_TOKENS: ("generation_tokens_total",),
    NodeCounter.REQUESTS: ("num_requests_total",),
    NodeCounter.ABORTED: ("num_aborted_requests_total",),
    NodeCounter.PREEMPTED: ("num_retracted_requests_total",),
    NodeCounter.BOOTSTRAP_FAILED: ("num_bootstrap_failed_reqs_total", "num_bootstrap_failed_reqs"),
    NodeCounter.TRANSFER_FAILED: ("num_transfer_failed_reqs_total", "num_transfer_failed_reqs"),
    NodeCounter.DEFERRED_RELEASES: ("decode_deferred_kv_release_total",),
}
# A release that was held back until the transfer had ended is the protection at work, no fault.
_UNDRAINED = Kept(label="outcome", values=frozenset({"drained"}), but=True)
_ONLY = {NodeCounter.DEFERRED_RELEASES: _UNDRAINED}
WANTED = frozenset(
    name
    for names in (
        CONTEXT,
        POOL,
        USED,
        FREE,
        EVICTABLE,
        USAGE,
        RUNNING,
        QUEUED,
        ACCEPT_LENGTH,
        ACCEPT_RATIO,
        *(names for each in IN_TRANSFER.values() for names in each),
        *COUNTERS.values(),
    )
    for name in names
)
LOADS = "/v1/loads"
OLD_LOAD = "/get_load"
_MOST_STEPS = 1_000.0
_ALWAYS = (NodeCounter.PROMPT_TOKENS, NodeCounter.GENERATED_TOKENS)
_IN_TRANSFER = (NodeCounter.BOOTSTRAP_FAILED, NodeCounter.TRANSFER_FAILED)

T = TypeVar("T", int, float)


class Loads:
    """``/v1/loads``: what each data-parallel rank says of its load; nothing unless all do."""

    def __init__(self, document: Document | None) -> None:
        entries = objects((document or {}).get("loads"))
        ranks = {str(each.get("dp_rank")) for each in entries}
        self._entries = entries if len(ranks) == len(entries) else []

    def all(self, read: Callable[[object], T | None], *path: str) -> list[T]:
        """Return the value at ``path`` of every rank, none unless each has one."""
        values = [read(value_at(each, path)) for each in self._entries]
        known = [each for each in values if each is not None]
        return known if len(known) == len(values) else []


async def live_of(
    pages: NodePages, meter: Meter, said: Told, *, role: Role | None, gaps: Gaps
) -> Live:
    """Return what changes; the pages of load are asked only where the metrics say too little."""
    use = _metered(meter, said, role)
    length = meter.gauge("accept_length", ACCEPT_LENGTH, _least) or None
    ratio = meter.ratio("accept_ratio", ACCEPT_RATIO, min)
    if use.used_tokens is None or use.running is None:
        loads = Loads(await pages.document(LOADS))
        use = _loaded(use, loads)
        length = length or _least(loads.all(steps, "speculative", "accept_length")) or None
        if use.running is None:
            use = _waiting(use, await pages.json(OLD_LOAD))
    if said.sharded:
        use = replace(use, capacity_tokens=None)  # of one part, where the others count all parts
    length = length or _average(said)
    _note(meter, use, length, said, gaps)
    return Live(
        kv=use,
        counters=_counters(meter, said, role),
        accept_length=length,
        accept_ratio=ratio if length is not None else None,
        started_seconds=meter.started(),
    )


def steps(value: object) -> float | None:
    """Return a number of tokens a step, ``None`` for anything else; none yet is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_STEPS else None


def _least(values: Iterable[float]) -> float:
    """Return the lowest that is not zero: a rank without requests says zero, and means nothing."""
    return min((each for each in values if each > 0), default=0.0)


def _metered(meter: Meter, said: Told, role: Role | None) -> KvUse:
    """Return the use of the pool by the metrics, with the capacity of just those ranks."""
    capacity = meter.amount("capacity_tokens", POOL)
    used = meter.amount("used_tokens", USED)
    if used is not None and set(meter.ranks(USED)) != set(meter.ranks(POOL)):
        capacity = said.pools()[0] if said.ranks == 1 and said.pools() else None
    return KvUse(
        capacity_tokens=capacity,
        used_tokens=used,
        free_tokens=meter.amount("free_tokens", FREE),
        evictable_tokens=meter.amount("evictable_tokens", EVICTABLE),
        usage_ratio=meter.ratio("usage_ratio", USAGE),
        running=meter.amount("running", RUNNING),
        queued=meter.amount("queued", QUEUED),
        in_transfer=_in_transfer(meter, role),
    )


def _in_transfer(meter: Meter, role: Role | None) -> int | None:
    """Return the requests between prefill and decode, of those queues that the metrics have."""
    queues = IN_TRANSFER.get(role, ()) if role is not None else ()
    return count(meter.together("in_transfer", queues))


def _loaded(use: KvUse, loads: Loads) -> KvUse:
    """Return ``use`` with what only the page of load tells; used and capacity of one source."""
    running = loads.all(count, "num_running_reqs")
    queued = loads.all(count, "num_waiting_reqs")
    if use.running is None and running and queued:
        use = replace(use, running=sum(running), queued=sum(queued))
    used = loads.all(count, "num_used_tokens")
    pools = loads.all(count, "max_total_num_tokens")
    if use.used_tokens is None and used and pools:
        use = replace(use, used_tokens=sum(used), capacity_tokens=sum(pools))
    usage = loads.all(share, "token_usage")
    if use.usage_ratio is None and usage:
        use = replace(use, usage_ratio=max(usage))
    return use


def _waiting(use: KvUse, page: object) -> KvUse:
    """Return ``use`` with the requests by the older page of load.

    What it calls tokens differs by version, and is not read.
    """
    entries = objects(page)
    every = [count(each.get("num_reqs")) for each in entries]
    queued = [count(each.get("num_waiting_reqs")) for each in entries]
    if not entries or None in every or None in queued:
        return use
    waiting = sum(each for each in queued if each)
    running = sum(each for each in every if each) - waiting
    return replace(use, running=running, queued=waiting) if running >= 0 else use


def _average(said: Told) -> float | None:
    """Return the acceptance since the start, of the rank that has the lowest."""
    lengths = [steps(each.get("avg_spec_accept_length")) for each in said.states]
    return _least(each for each in lengths if each) or None


def _counters(meter: Meter, said: Told, role: Role | None) -> dict[NodeCounter, float]:
    """Return what is counted.

    Failures have a metric from the first on. Where it is missing, a release had none; of other
    builds it is not known whether they have the metric.
    """
    counters: dict[NodeCounter, float] = {}
    expected = set(_ALWAYS)
    if role in {Role.PREFILL, Role.DECODE} and said.release is None:
        expected |= set(_IN_TRANSFER)
    for kind, names in COUNTERS.items():
        value = meter.counter(kind, names, _ONLY.get(kind))
        if value is not None:
            counters[kind] = value
        elif kind in expected:
            meter.missing(kind)
    return counters


def _note(meter: Meter, use: KvUse, length: float | None, said: Told, gaps: Gaps) -> None:
    for fact in ("used_tokens", "usage_ratio", "running", "queued"):
        if getattr(use, fact) is None:
            meter.missing(fact)
        else:
            gaps.filled(fact)
    if length is not None:
        gaps.filled("accept_length")
    elif said.settings.get("speculative_algorithm"):
        meter.missing("accept_length")
