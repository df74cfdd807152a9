"""What the nodes say of themselves, in SGLang's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.lab.service import Service

_KV_BYTES_PER_TOKEN = 73_728


def server_info(service: Service) -> Mapping[str, Any]:
    """Return ``/server_info`` of the node that takes prompts in."""
    settings, engine = service.settings, service.engine
    pool = engine.prefill_pool.tokens
    memory = {
        "weight": 14.2,
        "kvcache": round(pool * _KV_BYTES_PER_TOKEN / 2**30, 2),
        "graph": 0.4,
        "token_capacity": pool,
    }
    mode = "prefill" if engine.disaggregated else "null"
    return {
        "version": settings.version,
        "status": "ready",
        "served_model_name": settings.model,
        "model_path": settings.model,
        "context_length": settings.context_tokens,
        "page_size": settings.page_size,
        "kv_cache_dtype": "auto",
        "mem_fraction_static": 0.88,
        "disaggregation_mode": mode,
        "disaggregation_transfer_backend": "mooncake",
        "tp_size": 1,
        "dp_size": 1,
        "pp_size": 1,
        "enable_hierarchical_cache": False,
        "speculative_algorithm": None,
        "allow_auto_truncate": False,
        "max_running_requests": settings.max_batch,
        "max_total_num_tokens": pool,
        "max_req_input_len": settings.max_req_input_len,
        "internal_states": [{"memory_usage": memory, "last_gen_throughput": 0.0}],
    }


def model_info(service: Service) -> Mapping[str, Any]:
    """Return ``/model_info``."""
    return {
        "model_path": service.settings.model,
        "tokenizer_path": service.settings.model,
        "is_generation": True,
        "has_image_understanding": False,
        "has_audio_understanding": False,
        "model_type": "lamp",
        "architectures": ["LampForCausalLM"],
    }
