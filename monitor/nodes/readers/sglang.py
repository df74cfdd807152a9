"""SGLang: every name by version, new ones first.

Pages and names: https://github.com/sgl-project/sglang, ``python/sglang/srt/entrypoints`` and
``python/sglang/srt/server_args.py``.
"""

from __future__ import annotations

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import Document, NodePages
from monitor.nodes.readers.base import (
    Gaps,
    Reading,
    listed_models,
    objects,
    owned_by,
    settings_of,
    tokens,
    word,
)
from monitor.nodes.record import NodeFacts, Role, Setting

MODES = {"null": Role.UNIFIED, "prefill": Role.PREFILL, "decode": Role.DECODE}
_INFO = ("/server_info", "/get_server_info")
_MARKS = ("max_req_input_len", "max_total_num_tokens", "internal_states", "disaggregation_mode")
_SPARE_TOKENS = 6
SETTINGS = (
    "allow_auto_truncate",
    "attention_backend",
    "chunked_prefill_size",
    "context_length",
    "disable_overlap_schedule",
    "disable_radix_cache",
    "disaggregation_enable_kv_checksum",
    "disaggregation_mode",
    "disaggregation_transfer_backend",
    "dp_size",
    "dtype",
    "enable_dp_attention",
    "enable_hierarchical_cache",
    "enable_lora",
    "enable_metrics",
    "enable_mixed_chunk",
    "ep_size",
    "hicache_ratio",
    "hicache_size",
    "hicache_storage_backend",
    "hicache_write_policy",
    "kv_cache_dtype",
    "load_balance_method",
    "max_req_input_len",
    "max_running_requests",
    "max_total_num_tokens",
    "mem_fraction_static",
    "moe_a2a_backend",
    "page_size",
    "pp_size",
    "quantization",
    "schedule_policy",
    "speculative_algorithm",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "tp_size",
)


class SglangReader:
    """Reads SGLang servers, unified and in prefill/decode mode."""

    signs = (*_INFO, "/v1/models")

    async def recognises(self, pages: NodePages) -> bool:
        """Go by what only its own page says, then by the owner of the models."""
        for path in _INFO:
            info = await pages.document(path)
            if info is not None and any(mark in info for mark in _MARKS):
                return True
        return owned_by(await pages.document("/v1/models"), "sglang")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what its pages say, the older names where the newer are not served."""
        await pages.fetch((*_INFO, "/v1/models"))
        gaps = Gaps()
        info = await pages.document(_INFO[0]) or await pages.document(_INFO[1])
        models = listed_models(await pages.document("/v1/models"))
        facts = _facts(info or {}, models)
        for fact in ("version", "role", "enforced_tokens", "pool_tokens", "pool_bound"):
            if getattr(facts, fact) is None:
                gaps.add(fact, await pages.why_not(*_INFO))
        if facts.advertised_tokens is None:
            gaps.add("advertised_tokens", await pages.why_not("/v1/models"))
        return Reading(facts=facts, gaps=gaps.done())


def _facts(info: Document, models: list[tuple[str, Document]]) -> NodeFacts:
    contexts = [tokens(entry.get("max_model_len")) for _, entry in models]
    advertised = max((each for each in contexts if each), default=None)
    enforced = tokens(info.get("max_req_input_len"))
    states = [object_at(each, "memory_usage") for each in objects(info.get("internal_states"))]
    pools = [tokens(info.get("max_total_num_tokens"))]
    pools += [tokens(each.get("token_capacity")) for each in states]
    mode: Setting = word(info.get("disaggregation_mode"))
    return NodeFacts(
        engine="sglang",
        version=word(info.get("version")),
        role=MODES.get(str(mode)),
        models=tuple(name for name, _ in models),
        advertised_tokens=advertised,
        enforced_tokens=enforced,
        pool_tokens=min((each for each in pools if each), default=None),
        pool_bound=enforced + _SPARE_TOKENS < advertised if enforced and advertised else None,
        settings=settings_of(info, SETTINGS),
    )
