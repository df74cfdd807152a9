"""What an SGLang server is, from its own description and its list of models.

Keys: https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py and
``managers/scheduler.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import Document
from monitor.nodes.readers.base import (
    listed_models,
    objects,
    settings_of,
    stated_context,
    tokens,
    word,
)
from monitor.nodes.record import Role, Setting
from monitor.nodes.version import read_version

MODES = {"null": Role.UNIFIED, "prefill": Role.PREFILL, "decode": Role.DECODE}
SPARE_TOKENS = 6
"""``max_req_input_len`` is this much below the smaller of context and pool (scheduler and
``managers/utils.py`` of 0.5.3 to 0.5.23)."""
_SHARDING = ("dcp_size", "attn_cp_size")
SETTINGS = (
    "allow_auto_truncate",
    "attention_backend",
    "attn_cp_size",
    "chunked_prefill_size",
    "context_length",
    "dcp_size",
    "dllm_algorithm",
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
    "enable_two_batch_overlap",
    "ep_size",
    "hicache_io_backend",
    "hicache_mem_layout",
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
    "prefill_attention_backend",
    "decode_attention_backend",
    "quantization",
    "radix_eviction_policy",
    "sampling_backend",
    "schedule_policy",
    "speculative_algorithm",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "tp_size",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the server's pages say, before its metrics are asked."""

    info: Document
    models: tuple[str, ...]
    advertised: int | None

    @property
    def version(self) -> str | None:
        """The version as it is stated."""
        return word(self.info.get("version"))

    @property
    def release(self) -> Version | None:
        """The version's number if it is a release, else ``None``."""
        return read_version(self.version or "").number

    @property
    def states(self) -> list[Document]:
        """The state of each data-parallel rank."""
        return objects(self.info.get("internal_states"))

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings that rules may speak of."""
        return settings_of(self.info, SETTINGS)

    @property
    def ranks(self) -> int | None:
        """How many data-parallel ranks there are."""
        return tokens(self.info.get("dp_size"))

    @property
    def sharded(self) -> bool:
        """True if one replica's pool lies in parts, each smaller than what a request can use."""
        return any((tokens(self.info.get(name)) or 1) > 1 for name in _SHARDING)

    @property
    def diffuses(self) -> bool:
        """True for a diffusion model, whose scheduler keeps another block of room for itself."""
        return self.info.get("dllm_algorithm") is not None

    @property
    def enforced(self) -> int | None:
        """The length at which the scheduler refuses a prompt."""
        return tokens(self.info.get("max_req_input_len"))

    @property
    def asked(self) -> int | None:
        """The context that the server was started with; null where it took the model's own."""
        return tokens(self.info.get("context_length"))

    @property
    def first_pool(self) -> int | None:
        """The pool of the first rank."""
        return tokens(self.info.get("max_total_num_tokens"))

    def pools(self) -> list[int]:
        """Return the pool of each rank as far as it is told, the first rank's first."""
        usage = [object_at(each, "memory_usage") for each in self.states]
        pools = [self.first_pool, *(tokens(each.get("token_capacity")) for each in usage)]
        return [each for each in pools if each is not None]

    def complete(self) -> bool:
        """Tell whether every data-parallel rank told its pool."""
        usage = [object_at(each, "memory_usage") for each in self.states]
        told = [each for each in usage if tokens(each.get("token_capacity"))]
        ranks = self.ranks
        return ranks == 1 or len(told) == (ranks or len(usage) or 1)


def told(info: Document, listing: Document | None) -> Told:
    """Return what ``/server_info`` and ``/v1/models`` say."""
    return Told(
        info=info,
        models=listed_models(listing),
        advertised=stated_context(listing, "max_model_len"),
    )


def role_told(said: Told) -> tuple[Role | None, bool]:
    """Return the role that the server states, and whether it states two.

    The scheduler's own word stands beside the option the server was started with; a server whose
    role was switched may say one thing here and another there.
    """
    words = [word(said.info.get("disaggregation_mode"))]
    words += [word(each.get("disaggregation_mode")) for each in said.states]
    roles = {MODES[each] for each in words if each in MODES}
    return (roles.pop() if len(roles) == 1 else None), len(roles) > 1


def pool_bound(said: Told, *, context: int | None, pool: int | None) -> bool | None:
    """Tell whether the pool limits a prompt before the context does.

    The scheduler's limit tells exactly, also where the pool is sharded. A rank with a smaller pool
    than the first, whose limit it is, is held to its own pool, and so are all where the limit is
    not told or is that of a diffusion model; which a sharded pool does not allow.
    """
    advertised = said.advertised or context
    if advertised is None:
        return None
    if said.enforced is not None and not said.diffuses:
        smaller = said.first_pool is not None and pool is not None and pool < said.first_pool
        if said.enforced + SPARE_TOKENS < advertised or not smaller:
            return said.enforced + SPARE_TOKENS < advertised
    if pool is None or said.sharded:
        return None
    return pool < advertised
