"""The metrics of the nodes under SGLang's names, in the text format."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from monitor.lab.engine import Counters
from monitor.lab.occupancy import counters_of, occupancy, pool_of
from monitor.lab.service import Service
from monitor.lab.settings import NodeRole
from monitor.lab.versions import does

_BUCKETS = (8, 128, 512, 1024, 2048, 4096, 8192, 16_384)
_Sample = tuple[str, str, float]


def exposition(service: Service, roles: Collection[NodeRole] = ()) -> str:
    """Return the scrape of some nodes, by default of all, told apart by ``engine_type``."""
    families: dict[str, list[str]] = {}
    for role in roles or service.settings.roles:
        counters = counters_of(service.engine, role)
        for labels in _labels(service, role):
            for name, family, value in _samples(service, role, counters):
                families.setdefault(f"# TYPE sglang:{name} {family}", []).append(
                    f"sglang:{name}{{{labels}}} {value}"
                )
            families.setdefault("# TYPE sglang:prompt_tokens_histogram histogram", []).extend(
                _histogram(counters, labels)
            )
    lines = [line for family, samples in families.items() for line in (family, *samples)]
    return "\n".join(lines) + "\n"


def _labels(service: Service, role: NodeRole) -> Iterator[str]:
    """Yield the labels of every rank: all ranks say the same."""
    settings = service.settings
    kind = role if does(settings.version, "names_engine_type") else NodeRole.UNIFIED
    for rank in range(settings.tp_size):
        yield (
            f'engine_type="{kind}",model_name="{settings.model}",moe_ep_rank="0",'
            f'pp_rank="0",tp_rank="{rank}"'
        )


def _samples(service: Service, role: NodeRole, counters: Counters) -> Iterator[_Sample]:
    every = (
        *_capacity(service, role),
        *_occupied(service, role),
        *_load(service, role),
        *_traffic(counters),
    )
    yield from (each for each in every if does(service.settings.version, each[0]))
    if role is not NodeRole.UNIFIED:
        yield "num_transfer_failed_reqs_total", "counter", counters.transfer_failed


def _capacity(service: Service, role: NodeRole) -> Iterator[_Sample]:
    pool = pool_of(service.engine, role)
    yield "context_len", "gauge", service.settings.context_tokens
    yield "page_size", "gauge", service.settings.page_size
    yield "num_pages", "gauge", pool.pages
    yield "max_total_num_tokens", "gauge", pool.tokens


def _occupied(service: Service, role: NodeRole) -> Iterator[_Sample]:
    """Yield who has the pool. As in SGLang, the usage is what is neither free nor evictable."""
    size, capacity = service.settings.page_size, pool_of(service.engine, role).tokens
    pages = occupancy(service.engine, role)
    taken = max(0, capacity - (pages.free + pages.evictable) * size)
    yield "token_usage", "gauge", round(taken / capacity, 4)
    yield "num_used_tokens", "gauge", taken
    yield "kv_used_tokens", "gauge", pages.used * size
    yield "kv_available_tokens", "gauge", pages.free * size
    yield "kv_evictable_tokens", "gauge", pages.evictable * size


def _load(service: Service, role: NodeRole) -> Iterator[_Sample]:
    engine = service.engine
    yield "num_running_reqs", "gauge", 0 if role is NodeRole.PREFILL else len(engine.running)
    yield "num_queue_reqs", "gauge", 0 if role is NodeRole.DECODE else len(engine.waiting)
    if role is NodeRole.PREFILL:
        yield "num_prefill_inflight_queue_reqs", "gauge", len(engine.arriving)
    if role is NodeRole.DECODE:
        yield "num_decode_transfer_queue_reqs", "gauge", len(engine.arriving)


def _traffic(counters: Counters) -> Iterator[_Sample]:
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
