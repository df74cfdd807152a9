"""The metrics of the nodes under SGLang's names, in the text format."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.lab.engine import Counters
from monitor.lab.pages import PagePool
from monitor.lab.service import Service

_BUCKETS = (8, 128, 512, 1024, 2048, 4096, 8192, 16_384)


def exposition(service: Service) -> str:
    """Return the scrape of all nodes, told apart by ``engine_type``."""
    engine = service.engine
    first = "prefill" if engine.disaggregated else "unified"
    nodes = [(first, engine.prefill_pool, engine.prefill)]
    if engine.disaggregated:
        nodes.append(("decode", engine.decode_pool, engine.decode))
    families: dict[str, list[str]] = {}
    for kind, pool, counters in nodes:
        labels = (
            f'engine_type="{kind}",model_name="{service.settings.model}",moe_ep_rank="0",'
            'pp_rank="0",tp_rank="0"'
        )
        for name, family, value in _samples(service, kind, pool, counters):
            families.setdefault(f"# TYPE sglang:{name} {family}", []).append(
                f"sglang:{name}{{{labels}}} {value}"
            )
        families.setdefault("# TYPE sglang:prompt_tokens_histogram histogram", []).extend(
            _histogram(counters, labels)
        )
    lines = [line for family, samples in families.items() for line in (family, *samples)]
    return "\n".join(lines) + "\n"


def _samples(
    service: Service, kind: str, pool: PagePool, counters: Counters
) -> Iterator[tuple[str, str, float]]:
    engine, size = service.engine, service.settings.page_size
    cached = 0 if kind == "decode" else engine.cache.evictable_pages * size
    free = pool.free_pages * size
    used = max(0, pool.tokens - free - cached)
    running = 0 if kind == "prefill" else len(engine.running)
    yield "context_len", "gauge", service.settings.context_tokens
    yield "page_size", "gauge", size
    yield "num_pages", "gauge", pool.pages
    yield "max_total_num_tokens", "gauge", pool.tokens
    yield "token_usage", "gauge", round(used / pool.tokens, 4)
    yield "num_used_tokens", "gauge", used
    yield "kv_used_tokens", "gauge", used
    yield "kv_available_tokens", "gauge", free
    yield "kv_evictable_tokens", "gauge", cached
    yield "num_running_reqs", "gauge", running
    yield "num_queue_reqs", "gauge", 0 if kind == "decode" else len(engine.waiting)
    prompts = max(1, counters.prompt_tokens)
    yield "cache_hit_rate", "gauge", round(counters.cached_tokens / prompts, 4)
    yield "prompt_tokens_total", "counter", counters.prompt_tokens
    yield "generation_tokens_total", "counter", counters.generated_tokens
    yield "cached_tokens_total", "counter", counters.cached_tokens
    yield "num_requests_total", "counter", counters.requests
    yield "num_aborted_requests_total", "counter", counters.aborted


def _histogram(counters: Counters, labels: str) -> Iterator[str]:
    name = "sglang:prompt_tokens_histogram"
    for bound in _BUCKETS:
        count = sum(size <= bound for size in counters.prompt_sizes)
        yield f'{name}_bucket{{{labels},le="{bound}"}} {count}'
    yield f'{name}_bucket{{{labels},le="+Inf"}} {len(counters.prompt_sizes)}'
    yield f"{name}_count{{{labels}}} {len(counters.prompt_sizes)}"
    yield f"{name}_sum{{{labels}}} {sum(counters.prompt_sizes)}"
