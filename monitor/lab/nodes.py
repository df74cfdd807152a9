"""What the nodes say of themselves, in SGLang's words and as its versions say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.lab.occupancy import occupancy, pool_of
from monitor.lab.service import Service
from monitor.lab.settings import LabSettings, NodeRole
from monitor.lab.versions import does

_KV_BYTES_PER_TOKEN = 73_728
_WEIGHT_GB, _GRAPH_GB = 14.2, 0.4


def server_info(service: Service, role: NodeRole | None = None) -> Mapping[str, Any]:
    """Return ``/server_info`` of a node, by default of the one that takes prompts in."""
    settings = service.settings
    role = role or settings.roles[0]
    pool = pool_of(service.engine, role).tokens
    return {
        **_arguments(settings, role),
        **_by_version(settings, role),
        "version": settings.version,
        "status": "ready",
        "max_total_num_tokens": pool,
        "max_req_input_len": settings.admitted_by(role),
        "internal_states": [{"memory_usage": _memory(settings, pool), "last_gen_throughput": 0.0}],
    }


def model_info(service: Service, role: NodeRole | None = None) -> Mapping[str, Any]:
    """Return ``/model_info`` of a node, by default of the one that takes prompts in."""
    settings = service.settings
    info = {
        "model_path": settings.model,
        "tokenizer_path": settings.model,
        "is_generation": True,
        "has_image_understanding": False,
        "has_audio_understanding": False,
        "model_type": "lamp",
        "architectures": ["LampForCausalLM"],
    }
    if does(settings.version, "mode_in_model_info"):
        info["disaggregation_mode"] = _mode(role or settings.roles[0])
        info["served_model_name"] = settings.model
    return info


def loads(service: Service, role: NodeRole) -> Mapping[str, Any]:
    """Return ``/v1/loads`` of a node: one rank, what it has to do and what it holds."""
    settings, engine = service.settings, service.engine
    pool, pages = pool_of(engine, role), occupancy(engine, role)
    used = pages.used * settings.page_size
    load = {
        "dp_rank": 0,
        "num_running_reqs": 0 if role is NodeRole.PREFILL else len(engine.running),
        "num_waiting_reqs": 0 if role is NodeRole.DECODE else len(engine.waiting),
        "num_used_tokens": used,
        "num_total_tokens": used,
        "max_total_num_tokens": pool.tokens,
        "max_running_requests": settings.max_batch,
        "token_usage": round(used / pool.tokens, 4),
        "memory": _memory(settings, pool.tokens),
    }
    return {"version": settings.version, "loads": [load]}


def _arguments(settings: LabSettings, role: NodeRole) -> Mapping[str, Any]:
    """Return the arguments the node was started with, resolved."""
    return {
        "served_model_name": settings.model,
        "model_path": settings.model,
        "context_length": settings.context_tokens,
        "page_size": settings.page_size,
        "kv_cache_dtype": "auto",
        "mem_fraction_static": 0.88,
        "disaggregation_mode": _mode(role),
        "disaggregation_transfer_backend": "mooncake",
        "tp_size": settings.tp_size,
        "dp_size": 1,
        "pp_size": 1,
        "enable_hierarchical_cache": False,
        "speculative_algorithm": None,
        "allow_auto_truncate": False,
        "max_running_requests": settings.max_batch,
    }


def _by_version(settings: LabSettings, role: NodeRole) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    if does(settings.version, "kv_checksum"):
        found["disaggregation_enable_kv_checksum"] = False
    if does(settings.version, "launch_command"):
        # As in SGLang, with whatever secret stands in it.
        key = f" --api-key {settings.node_token}" if settings.node_auth else ""
        mode = "" if role is NodeRole.UNIFIED else f" --disaggregation-mode {role}"
        model = f"--model-path {settings.model}"
        found["launch_command"] = f"python -m sglang.launch_server {model}{mode}{key}"
    return found


def _memory(settings: LabSettings, pool: int) -> Mapping[str, Any]:
    kvcache = round(pool * _KV_BYTES_PER_TOKEN / 2**30, 2)
    return {
        "weight": _WEIGHT_GB,
        "kvcache": kvcache,
        "graph": _GRAPH_GB,
        "token_capacity": pool,
    }


def _mode(role: NodeRole) -> str:
    return "null" if role is NodeRole.UNIFIED else role.value
