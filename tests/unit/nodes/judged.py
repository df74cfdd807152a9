"""Nodes to judge: a healthy one of each engine, and what a test changes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

from monitor.nodes import Live, NodeCounter, NodeFacts, NodeSnapshot, Role, Setting
from monitor.nodes.ruleset import load_rules

READ_AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = date(2026, 11, 30)
RULES = load_rules()
STRICT = load_rules(strict=True)
UNSAFE = "0.5.11"
FLOOR = "0.5.22"
CONTEXT = 131_072

SGLANG: Mapping[str, Setting] = {
    "allow_auto_truncate": False,
    "attention_backend": "fa3",
    "decode_attention_backend": None,
    "disable_radix_cache": True,
    "disaggregation_enable_kv_checksum": True,
    "dp_size": 1,
    "enable_dp_attention": False,
    "enable_hierarchical_cache": False,
    "kv_cache_dtype": "fp8_e4m3",
    "page_size": 64,
    "pp_size": 1,
    "prefill_attention_backend": None,
    "speculative_algorithm": None,
    "tp_size": 8,
}
VLLM: Mapping[str, Setting] = {
    "cache_dtype": "auto",
    "enable_prefix_caching": False,
    "kv_offloading_backend": "native",
    "kv_offloading_size": None,
    "mamba_cache_mode": "none",
}
SETTINGS = {"sglang": SGLANG, "vllm": VLLM, "llama.cpp": {"n_ctx_train": CONTEXT}, "ollama": {}}


def node(
    name: str = "n0",
    *,
    engine: str | None = "sglang",
    role: Role = Role.UNIFIED,
    target: str = "glm",
    settings: Mapping[str, Setting] | None = None,
    drafted: float | None = 0.0,
    **facts: object,
) -> NodeSnapshot:
    """Return a healthy node of an engine; ``facts`` and ``settings`` are what differs."""
    given: dict[str, object] = {
        "version": FLOOR if engine == "sglang" else "0.30.0",
        "role": role,
        "models": ("m",),
        "advertised_tokens": CONTEXT,
        "enforced_tokens": CONTEXT - 6 if engine == "sglang" else CONTEXT,
        "pool_tokens": 4 * CONTEXT,
        "pool_bound": False,
        "slots": 1,
        **facts,
    }
    for rank in ("least_admitted_tokens", "most_admitted_tokens"):
        given.setdefault(rank, given["enforced_tokens"])
    said = {**SETTINGS.get(engine or "", {}), **(settings or {})}
    counters = {} if drafted is None else {NodeCounter.DRAFTED: drafted}
    return NodeSnapshot(
        node=name,
        target=target,
        read_at=READ_AT,
        role=role,
        reached=True,
        facts=NodeFacts(engine=engine, settings=said, **given),  # type: ignore[arg-type]
        live=Live(counters=counters),
    )


def prefill(name: str = "p0", **changes: object) -> NodeSnapshot:
    """Return a healthy prefill node."""
    return node(name, role=Role.PREFILL, **changes)  # type: ignore[arg-type]


def decode(name: str = "d0", **changes: object) -> NodeSnapshot:
    """Return a healthy decode node."""
    return node(name, role=Role.DECODE, **changes)  # type: ignore[arg-type]


def bound(make=prefill, pool: int = 95_000, **changes: object) -> NodeSnapshot:
    """Return a node whose pool is smaller than the context that it advertises."""
    return make(pool_tokens=pool, enforced_tokens=pool - 6, pool_bound=True, **changes)


def without(snapshot: NodeSnapshot, *settings: str, **facts: None) -> NodeSnapshot:
    """Return a node that did not tell some settings, or some facts given as ``None``."""
    kept = {k: v for k, v in snapshot.facts.settings.items() if k not in settings}
    return replace(snapshot, facts=replace(snapshot.facts, settings=kept, **facts))


def silent(snapshot: NodeSnapshot) -> NodeSnapshot:
    """Return the same node as it looks when it does not answer."""
    return replace(snapshot, reached=False, facts=NodeFacts(), live=Live(), role=Role.UNIFIED)
