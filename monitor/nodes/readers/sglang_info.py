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
_LEFT_TO_SCHEDULER = (None, "auto")
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
    def mode(self) -> str | None:
        """The mode that the server was started in, by its options."""
        return word(self.info.get("disaggregation_mode"))

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings that rules may speak of, those of the schedulers where none was given.

        What options and schedulers contradict each other in is left out.
        """
        chosen = dict(self.info)
        for name in SETTINGS:
            if chosen.get(name) in _LEFT_TO_SCHEDULER and (said := self._scheduled(name)):
                chosen[name] = said[0]
        for name in self.torn:
            chosen.pop(name, None)
        return settings_of(chosen, SETTINGS)

    @property
    def torn(self) -> tuple[str, ...]:
        """The settings in which schedulers differ, and the flags in which the options do too.

        A scheduler may choose another number or word than it was given, and then all of them do.
        """
        return tuple(name for name in SETTINGS if self._is_torn(name))

    def _is_torn(self, name: str) -> bool:
        scheduled, given = self._scheduled(name), self.info.get(name)
        if any(each != scheduled[0] for each in scheduled):
            return True
        flags = any(isinstance(each, bool) for each in (given, *scheduled[:1]))
        return flags and given is not None and bool(scheduled) and given is not scheduled[0]

    def _scheduled(self, name: str) -> list[object]:
        """Return what the schedulers say of an option that is set there."""
        return [each[name] for each in self.states if each.get(name) is not None]

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


def told(info: Document, listing: Document | None) -> Told:
    """Return what ``/server_info`` and ``/v1/models`` say."""
    return Told(
        info=info,
        models=listed_models(listing),
        advertised=stated_context(listing, "max_model_len"),
    )
