"""Pages as engines serve them, with figures of our own."""

from __future__ import annotations

from typing import Any

CONTEXT = 98_304
POOL = 40_960


def listing(*names: str, owner: str = "sglang", context: int | None = CONTEXT) -> dict[str, Any]:
    """Return ``/v1/models``."""
    entries = [
        {"id": name, "object": "model", "created": 1, "owned_by": owner, "max_model_len": context}
        for name in names or ("lamp",)
    ]
    return {"object": "list", "data": entries}


def info(*, pool: int = POOL, context: int = CONTEXT, **options: Any) -> dict[str, Any]:
    """Return SGLang's ``/server_info`` of one node with one data-parallel rank."""
    return {
        "version": "0.5.22",
        "status": "ready",
        "served_model_name": "lamp",
        "model_path": "/models/lamp",
        "context_length": None,
        "page_size": 64,
        "kv_cache_dtype": "auto",
        "disaggregation_mode": "null",
        "tp_size": 4,
        "dp_size": 1,
        "pp_size": 1,
        "allow_auto_truncate": False,
        "speculative_algorithm": None,
        "max_total_num_tokens": pool,
        "max_req_input_len": min(pool, context) - 6,
        "internal_states": [{"memory_usage": {"kvcache": 3.5, "token_capacity": pool}}],
        **options,
    }


def labelled(values: dict[str, float | str], **labels: str) -> str:
    """Return one line for each metric, all with these labels."""
    inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return "".join(f"{name}{{{inner}}} {value}\n" for name, value in values.items())


def sglang_metrics(prefix: str = "sglang:", *, dp_rank: str | None = None, **labels: str) -> str:
    """Return a page of SGLang's metrics of one rank."""
    rank = {} if dp_rank is None else {"dp_rank": dp_rank}
    labels = {"model_name": "lamp", "engine_type": "unified", "tp_rank": "0", **rank, **labels}
    values: dict[str, float | str] = {
        "max_total_num_tokens": POOL,
        "context_len": CONTEXT,
        "kv_used_tokens": 1_000,
        "kv_available_tokens": 39_000,
        "kv_evictable_tokens": 960,
        "token_usage": 0.25,
        "num_running_reqs": 3,
        "num_queue_reqs": 1,
        "prompt_tokens_total": 5_000,
        "generation_tokens_total": 700,
    }
    return labelled({f"{prefix}{name}": value for name, value in values.items()}, **labels)
