"""Pages of serving nodes in their engines' shapes, written by us: vLLM, llama.cpp, Ollama, LiteLLM.

Names: https://docs.vllm.ai/en/latest/design/metrics/ ,
https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md ,
https://github.com/ollama/ollama/blob/main/docs/api.md and https://docs.litellm.ai/docs/proxy/model_management.
In each stand things that a reader must neither keep nor show: ``PLANTED``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PLANTED = "sk-live-7Qd2mX9vT4kB8nR1zL6cW3hY"
"""A secret that stands on every node's pages."""
Pages = Mapping[str, "Page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a node answers to one method and path: any status, by default 200."""

    body: bytes = field(repr=False)
    kind: str = "application/json"
    status: int = 200


def document(said: Mapping[str, Any]) -> Page:
    """Return a page of JSON."""
    return Page(body=json.dumps(said).encode())


def exposition(lines: Iterable[str]) -> Page:
    """Return a page of metrics."""
    return Page(body="".join(f"{line}\n" for line in lines).encode(), kind="text/plain")


def vllm(
    *, version: str = "0.33.0", context: int = 4096, pool: int = 65_536, used: float = 0.25
) -> Pages:
    """Return the pages of a vLLM server whose pool holds ``pool`` tokens."""
    labels = 'engine="0",model_name="lamp"'
    cache = (
        f'block_size="16",cache_dtype="auto",enable_prefix_caching="True",engine="0",'
        f'gpu_memory_utilization="0.9",kv_cache_max_concurrency="{pool / context:.4f}",'
        f'kv_cache_size_tokens="{pool}",num_gpu_blocks="{pool // 16}"'
    )
    card = {"id": "lamp", "object": "model", "created": 1, "owned_by": "vllm", "root": PLANTED}
    return {
        "GET /version": document({"version": version}),
        "GET /v1/models": document({"object": "list", "data": [card | {"max_model_len": context}]}),
        "GET /health": Page(body=b""),
        "GET /metrics": exposition(
            [
                "# TYPE process_start_time_seconds gauge",
                "process_start_time_seconds 1.79e+09",
                "# TYPE vllm:cache_config_info gauge",
                f"vllm:cache_config_info{{{cache}}} 1.0",
                "# TYPE vllm:kv_cache_usage_perc gauge",
                f"vllm:kv_cache_usage_perc{{{labels}}} {used}",
                "# TYPE vllm:num_requests_running gauge",
                f"vllm:num_requests_running{{{labels}}} 1.0",
                "# TYPE vllm:num_requests_waiting gauge",
                f"vllm:num_requests_waiting{{{labels}}} 0.0",
                "# TYPE vllm:prompt_tokens counter",
                f"vllm:prompt_tokens_total{{{labels}}} 1200.0",
                "# TYPE vllm:generation_tokens counter",
                f"vllm:generation_tokens_total{{{labels}}} 340.0",
                "# TYPE vllm:num_preemptions counter",
                f"vllm:num_preemptions_total{{{labels}}} 0.0",
            ]
        ),
    }


def llama_cpp(*, slots: int = 4, slot_context: int = 2048, trained: int = 8192) -> Pages:
    """Return the pages of a llama.cpp server with so many slots of so many tokens."""
    meta = {"n_ctx": slot_context, "n_ctx_train": trained, "n_vocab": 32_000}
    card = {"id": "lamp", "object": "model", "owned_by": "llamacpp", "meta": meta}
    return {
        "GET /props": document(
            {
                "default_generation_settings": {"n_ctx": slot_context, "params": {}},
                "total_slots": slots,
                "model_alias": "lamp",
                "model_path": f"/home/{PLANTED}/lamp.gguf",
                "build_info": "b6712-1a2b3c4d",
                "chat_template": PLANTED,
                "is_sleeping": False,
            }
        ),
        "GET /slots": document({"0": {"prompt": PLANTED}}),
        "GET /v1/models": document({"object": "list", "data": [card]}),
        "GET /health": document({"status": "ok"}),
        "GET /metrics": exposition(
            [
                "# TYPE llamacpp:prompt_tokens_total counter",
                "llamacpp:prompt_tokens_total 1200",
                "# TYPE llamacpp:tokens_predicted_total counter",
                "llamacpp:tokens_predicted_total 340",
                "# TYPE llamacpp:requests_processing gauge",
                "llamacpp:requests_processing 1",
                "# TYPE llamacpp:requests_deferred gauge",
                "llamacpp:requests_deferred 0",
            ]
        ),
    }


def ollama(*, loaded: int | None = 4096, made_for: int = 131_072) -> Pages:
    """Return the pages of an Ollama server with one model, loaded or not."""
    model = {"name": "lamp:latest", "model": "lamp:latest", "size": 1, "digest": PLANTED}
    info = {"general.architecture": "lamp", "lamp.context_length": made_for}
    running = [model | {"context_length": loaded, "size_vram": 1}] if loaded else []
    return {
        "GET /api/version": document({"version": "0.13.1"}),
        "GET /api/ps": document({"models": running}),
        "GET /api/tags": document({"models": [model]}),
        "POST /api/show": document({"model_info": info, "parameters": PLANTED}),
        "GET /v1/models": document({"data": [{"id": "lamp:latest", "owned_by": "library"}]}),
    }


def litellm(*models: str, most: int | None = 4096) -> Pages:
    """Return the pages of a LiteLLM proxy that serves these models."""
    entries = [
        {
            "model_name": model,
            "litellm_params": {"model": f"openai/{model}", "api_key": PLANTED},
            "model_info": {"id": f"id-{model}", "max_input_tokens": most, "max_tokens": most},
        }
        for model in models
    ]
    cards = [{"id": model, "object": "model", "owned_by": "openai"} for model in models]
    return {
        "GET /model/info": document({"data": entries}),
        "GET /v1/model/info": document({"data": entries}),
        "GET /v1/models": document({"object": "list", "data": cards}),
        "GET /models": document({"object": "list", "data": cards}),
    }
