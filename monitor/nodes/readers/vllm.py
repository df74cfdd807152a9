"""vLLM: it refuses to start with a context larger than its pool, so both are held together here.

Pages and metrics: https://docs.vllm.ai/en/latest/design/metrics/ and
https://github.com/vllm-project/vllm/tree/main/vllm/v1/metrics. Blocks times their size is no size
of the pool: hybrid models have several kinds of block
(https://github.com/vllm-project/vllm/issues/42966).
"""

from __future__ import annotations

import re

from monitor.nodes.exposition import Series
from monitor.nodes.pages import METRICS, NodePages
from monitor.nodes.readers.base import (
    Gaps,
    Reading,
    digits,
    listed_models,
    owned_by,
    settings_of,
    stated_context,
    word,
)
from monitor.nodes.readers.meter import Counted, Meter, exposed, own_models
from monitor.nodes.record import KvUse, Live, NodeCounter, NodeFacts, Role, Setting
from monitor.nodes.scrape import Kept, Scrape

VERSION = "/version"
MODELS = "/v1/models"
CONFIG = "cache_config_info"
POOL = "kv_cache_size_tokens"
USAGE: Counted = ("kv_cache_usage_perc", "gpu_cache_usage_perc")
RUNNING: Counted = ("num_requests_running",)
QUEUED: Counted = ("num_requests_waiting",)
FINISHED: Counted = ("request_success_total",)
_ABORTED = Kept(label="finished_reason", values=frozenset({"abort"}))
COUNTERS: dict[NodeCounter, Counted] = {
    NodeCounter.PROMPT_TOKENS: ("prompt_tokens_total",),
    NodeCounter.GENERATED_TOKENS: ("generation_tokens_total",),
    NodeCounter.REQUESTS: FINISHED,
    NodeCounter.PREEMPTED: ("num_preemptions_total",),
    NodeCounter.NOT_A_NUMBER: ("corrupted_requests_total",),
    NodeCounter.DRAFTED: ("spec_decode_num_draft_tokens_total",),
    NodeCounter.ACCEPTED: ("spec_decode_num_accepted_tokens_total",),
}
_TRANSFER_FAILED = (
    ("nixl_num_failed_transfers_total",),
    ("nixl_num_failed_notifications_total",),
    ("mooncake_num_failed_transfers_total",),
    ("mooncake_num_failed_recvs_total",),
)
_KV_EXPIRED = (("nixl_num_kv_expired_reqs_total",), ("mooncake_num_kv_expired_reqs_total",))
_TOGETHER: dict[NodeCounter, tuple[Counted, ...]] = {
    NodeCounter.TRANSFER_FAILED: _TRANSFER_FAILED,
    NodeCounter.KV_EXPIRED: _KV_EXPIRED,
}
SETTINGS = (
    "block_size",
    "cache_dtype",
    "calculate_kv_scales",
    "cpu_offload_gb",
    "enable_prefix_caching",
    "gpu_memory_utilization",
    "kv_cache_dtype_skip_layers",
    "kv_cache_max_concurrency",
    "kv_cache_memory_bytes",
    "kv_cache_size_tokens",
    "kv_offloading_backend",
    "kv_offloading_size",
    "kv_sharing_fast_prefill",
    "mamba_cache_mode",
    "num_gpu_blocks",
    "prefix_caching_hash_algo",
    "sliding_window",
    "swap_space",
)
WANTED = frozenset(
    name
    for names in (
        USAGE, RUNNING, QUEUED, (CONFIG,), *COUNTERS.values(), *_TRANSFER_FAILED,
        *_KV_EXPIRED,
    )
    for name in names
)  # fmt: skip


_CONSTANTS: dict[str, Setting] = {"None": None, "True": True, "False": False}
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:e-?\d{1,2})?", re.ASCII)
_NO_SIZE = "this version does not tell the size of its pool in tokens"
_NO_NANS = "vLLM counts it only with VLLM_COMPUTE_NANS_IN_LOGITS=1"


class VllmReader:
    """Reads vLLM servers."""

    signs = (MODELS, METRICS)
    settings = SETTINGS

    async def recognises(self, pages: NodePages) -> bool:
        """Go by the owner of the models, then by the names of its metrics."""
        if owned_by(await pages.document(MODELS), "vllm"):
            return True
        exposition = await exposed(pages, wanted=WANTED, prefix="vllm")
        return exposition is not None and exposition.prefixed

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what ``/version``, ``/v1/models`` and ``/metrics`` say.

        No page says which part a node has in a disaggregated group: that is for the configuration.
        """
        await pages.fetch((VERSION, MODELS, METRICS))
        gaps = Gaps()
        version = word((await pages.document(VERSION) or {}).get("version"))
        if version is None:
            gaps.add("version", pages.why_not(VERSION))
        listing = await pages.document(MODELS)
        models = listed_models(listing)
        if not models:
            gaps.add("models", pages.why_not(MODELS))
        meter = await _meter(pages, models, gaps)
        settings, sizes = _configured(meter.described("settings", CONFIG), gaps)
        advertised = stated_context(listing, "max_model_len")
        if advertised is None:
            gaps.add("advertised_tokens", pages.why_not(MODELS))
        if not sizes:
            gaps.add("pool_tokens", _NO_SIZE if meter.served else pages.why_not(METRICS))
        live = _live(meter, sum(sizes) if sizes else None)
        if role is None and NodeCounter.TRANSFER_FAILED in live.counters:
            gaps.add("role", "it takes part in transfers, and vLLM states no role: set it")
        facts = NodeFacts(
            engine="vllm",
            version=version,
            models=models,
            advertised_tokens=advertised,
            enforced_tokens=advertised,
            least_admitted_tokens=advertised,
            most_admitted_tokens=advertised,
            pool_tokens=min(sizes, default=None),
            pool_bound=min(sizes) < advertised if sizes and advertised else None,
            settings=settings,
        )
        return Reading(facts=facts, live=live, gaps=gaps.done())


async def _meter(pages: NodePages, models: tuple[str, ...], gaps: Gaps) -> Meter:
    exposition = await exposed(pages, wanted=WANTED, prefix="vllm")
    kept = own_models(Scrape(exposition), models) if exposition else ()
    return Meter(exposition, gaps=gaps, kept=kept, why=pages.why_not(METRICS))


def _configured(series: tuple[Series, ...], gaps: Gaps) -> tuple[dict[str, Setting], list[int]]:
    """Return the settings that all data-parallel engines share, and the pool of each."""
    settings: dict[str, Setting] = {}
    for name in SETTINGS:
        values = {each.labels[name] for each in series if name in each.labels}
        if len(values) == 1:
            settings |= settings_of({name: _value(values.pop())}, (name,))
        elif values:
            gaps.add(name, "the engines of this node differ in it")
    sizes = [digits(each.labels.get(POOL)) for each in series]
    known = [each for each in sizes if each]
    return settings, known if len(known) == len(sizes) else []


def _value(text: str) -> Setting:
    """Return the value that Python printed as ``text``."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    for kind in (int, float):
        if _NUMBER.fullmatch(text):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _live(meter: Meter, capacity: int | None) -> Live:
    use = KvUse(
        capacity_tokens=capacity,
        usage_ratio=meter.ratio("usage_ratio", USAGE),
        running=meter.amount("running", RUNNING),
        queued=meter.amount("queued", QUEUED),
    )
    for fact in ("usage_ratio", "running", "queued"):
        if getattr(use, fact) is None:
            meter.missing(fact)
    return Live(kv=use, counters=_counters(meter), started_seconds=meter.started())


def _counters(meter: Meter) -> dict[NodeCounter, float]:
    read = {kind: meter.counter(kind, names) for kind, names in COUNTERS.items()}
    read[NodeCounter.ABORTED] = meter.counter(NodeCounter.ABORTED, FINISHED, _ABORTED)
    for kind, parts in _TOGETHER.items():
        read[kind] = meter.together(kind, parts)
    for kind in (NodeCounter.PROMPT_TOKENS, NodeCounter.GENERATED_TOKENS):
        if read[kind] is None:
            meter.missing(kind)
    if read[NodeCounter.NOT_A_NUMBER] is None:
        meter.missing(NodeCounter.NOT_A_NUMBER, _NO_NANS)
    return {kind: value for kind, value in read.items() if value is not None}
