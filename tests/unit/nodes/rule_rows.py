"""One row a rule: fleets whose first node it holds of, lets go of, and cannot be told of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from monitor.nodes import Live, NodeSnapshot, Role
from tests.unit.nodes.judged import CONTEXT, bound, decode, node, prefill, without

Fleet = Sequence[NodeSnapshot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Three fleets; the first node of each is judged. ``gateway`` is what the gateway states."""

    holds: Fleet
    clean: Fleet
    untold: Fleet
    gateway: int | None = None


def _in_prefill_decode(unsafe: str, safe: str) -> Row:
    """Return the row of a rule about a range of versions in prefill/decode mode."""
    return Row(
        holds=[prefill(version=unsafe), decode(version=unsafe)],
        clean=[prefill(version=safe), decode(version=safe)],
        untold=[prefill(version="0.0.0.dev1+g70df09b83"), decode()],
    )


def _setting(name: str, bad: object, good: object, make=node, **also: object) -> Row:
    """Return the row of a rule about one setting; ``also`` are settings of all three."""
    base = make(settings={**also, name: good})
    return Row(
        holds=[make(settings={**also, name: bad})], clean=[base], untold=[without(base, name)]
    )


def _differs(name: str, here: object, there: object, make, other, **facts: object) -> Row:
    """Return the row of a rule about a setting that differs between two nodes."""
    mine = make(settings={name: here}, **facts)
    return Row(
        holds=[mine, other(settings={name: there}, **facts)],
        clean=[mine, other(settings={name: here}, **facts)],
        untold=[without(mine, name), other(settings={name: there}, **facts)],
    )


def _replica(**facts: object) -> NodeSnapshot:
    return node("n1", **facts)  # type: ignore[arg-type]


def _replicas(fact: str, mine: object, other: object) -> Row:
    """Return the row of a rule about a fact that differs between replicas."""
    return Row(
        holds=[node(**{fact: mine}), _replica(**{fact: other})],
        clean=[node(**{fact: mine}), _replica(**{fact: mine})],
        untold=[without(node(), **{fact: None}), _replica(**{fact: other})],
    )


def _vllm(name: str = "n0", **changes: object) -> NodeSnapshot:
    return node(name, engine="vllm", **changes)  # type: ignore[arg-type]


_CACHING = {"enable_prefix_caching": True}
_HYBRID = {**_CACHING, "mamba_cache_mode": "align"}
_SLOTS = {"engine": "llama.cpp", "slots": 4, "advertised_tokens": CONTEXT // 4}
_PD_FP8 = {"kv_cache_dtype": "bfloat16"}

ROWS: dict[str, Row] = {
    # SGLang in prefill/decode mode
    "sglang-pd-over-length": _in_prefill_decode("0.5.19", "0.5.20"),
    "sglang-pd-pool-bound-unsafe": Row(
        holds=[bound(version="0.5.11"), decode(version="0.5.11")],
        clean=[prefill(version="0.5.11"), decode(version="0.5.11")],
        untold=[without(prefill(version="0.5.11"), pool_bound=None), decode()],
    ),
    "sglang-pd-pool-bound": Row(
        holds=[bound(), bound(decode)],
        clean=[prefill(), decode()],
        untold=[without(prefill(), pool_bound=None), decode()],
    ),
    "sglang-decode-admits-more": Row(
        holds=[bound(), decode()],
        clean=[bound(), bound(decode)],
        untold=[without(prefill(), enforced_tokens=None), decode()],
    ),
    "sglang-pd-below-floor": _in_prefill_decode("0.5.21", "0.5.22"),
    "sglang-pd-pages-reused": _in_prefill_decode("0.5.20.post1", "0.5.21"),
    "sglang-pd-abort-in-transfer": Row(
        holds=[prefill(), decode()],
        clean=[node()],
        untold=[replace(without(prefill(), role=None), role=Role.UNIFIED), decode()],
    ),
    "sglang-pd-metadata-collision": _in_prefill_decode("0.5.8.post1", "0.5.9"),
    "sglang-pd-metadata-of-stages": Row(
        holds=[decode(), prefill(settings={"pp_size": 4})],
        clean=[decode(settings={"pp_size": 4}), prefill()],
        untold=[without(prefill(), "pp_size"), decode()],
    ),
    "sglang-pd-hierarchical-cache": _setting("enable_hierarchical_cache", True, False, prefill),
    "sglang-pd-kv-types-differ": _differs(
        "kv_cache_dtype", "fp8_e4m3", "bfloat16", prefill, decode
    ),
    "sglang-pd-page-sizes-differ": _differs("page_size", 64, 1, prefill, decode),
    "sglang-pd-parallelism-differs": _differs("tp_size", 8, 4, prefill, decode),
    "sglang-pd-kv-checksum-off": _setting(
        "disaggregation_enable_kv_checksum", False, True, prefill
    ),
    # SGLang
    "sglang-auto-truncate": _setting("allow_auto_truncate", True, False),
    "sglang-pool-bound": Row(
        holds=[bound(node)], clean=[node()], untold=[without(node(), pool_bound=None)]
    ),
    "sglang-hierarchical-cache-drafting": _setting(
        "speculative_algorithm", "EAGLE", None, enable_hierarchical_cache=True
    ),
    "sglang-hierarchical-cache-sparse": _setting(
        "attention_backend", "dsa", "fa3", enable_hierarchical_cache=True
    ),
    "sglang-dflash-concurrent": _setting("speculative_algorithm", "DFLASH2", "EAGLE"),
    "sglang-fp8-latent-attention": _setting(
        "enable_dp_attention", True, False, attention_backend="dsv4", dp_size=8
    ),
    "sglang-prefix-cache-shared": _setting("disable_radix_cache", False, True),
    "sglang-replica-kv-types-differ": _differs(
        "kv_cache_dtype", "fp8_e4m3", "bfloat16", node, _replica
    ),
    # vLLM
    "vllm-pool-below-context": Row(
        holds=[_vllm(pool_tokens=CONTEXT - 1)],
        clean=[_vllm(pool_tokens=CONTEXT)],
        untold=[without(_vllm(), pool_tokens=None)],
    ),
    "vllm-hybrid-prefix-cache-drafting": Row(
        holds=[_vllm(version="0.28.0", settings=_HYBRID, drafted=7.0)],
        clean=[_vllm(version="0.28.0", settings=_HYBRID)],
        untold=[replace(_vllm(version="0.28.0", settings=_HYBRID), live=Live())],
    ),
    "vllm-host-offload": _setting("kv_offloading_size", 64.0, None, make=_vllm),
    "vllm-prefix-hash-predictable": Row(
        holds=[_vllm(version="0.7.1", settings=_CACHING)],
        clean=[_vllm(version="0.7.1")],
        untold=[without(_vllm(version="0.7.1"), "enable_prefix_caching")],
    ),
    "vllm-image-hash-collides": Row(
        holds=[_vllm(version="0.8.5.post1")],
        clean=[_vllm(version="0.9.0")],
        untold=[_vllm(version="0.8.5.dev1")],
    ),
    "vllm-prefix-cache-shared": _setting("enable_prefix_caching", True, False, make=_vllm),
    "vllm-replica-kv-types-differ": _differs(
        "cache_dtype", "fp8", "bfloat16", _vllm, lambda **s: _vllm("n1", **s)
    ),
    # llama.cpp and Ollama
    "llama-cpp-slot-below-trained": Row(
        holds=[node(**_SLOTS, enforced_tokens=CONTEXT // 4)],
        clean=[node(**{**_SLOTS, "slots": 1}, enforced_tokens=CONTEXT // 4)],
        untold=[without(node(**_SLOTS, enforced_tokens=CONTEXT // 4), "n_ctx_train")],
    ),
    "llama-cpp-drafting-in-slots": Row(
        holds=[node(engine="llama.cpp", slots=4, drafted=9.0)],
        clean=[node(engine="llama.cpp", slots=4), node("n1", engine="llama.cpp", drafted=9.0)],
        untold=[node(engine="llama.cpp", slots=4, drafted=None)],
    ),
    "llama-cpp-slot-below-advertised": Row(
        holds=[node(engine="llama.cpp", enforced_tokens=CONTEXT // 4)],
        clean=[node(engine="llama.cpp")],
        untold=[without(node(engine="llama.cpp"), advertised_tokens=None)],
    ),
    "ollama-loaded-below-advertised": Row(
        holds=[node(engine="ollama", enforced_tokens=4_096)],
        clean=[node(engine="ollama")],
        untold=[without(node(engine="ollama"), advertised_tokens=None)],
    ),
    # Nodes beside each other
    "gateway-advertises-more": Row(
        holds=[node(enforced_tokens=95_000)],
        clean=[node()],
        untold=[without(node(), enforced_tokens=None)],
        gateway=CONTEXT,
    ),
    "replica-advertises-less": _replicas("advertised_tokens", CONTEXT, CONTEXT // 2),
    "replica-admits-less": _replicas("enforced_tokens", CONTEXT - 6, CONTEXT // 2),
    "replica-versions-differ": _replicas("version", "0.5.22", "0.5.23"),
    "replica-models-differ": Row(
        holds=[node(), _replica(models=("m", "another"))],
        clean=[node(models=("a", "B")), _replica(models=("b", "a"))],
        untold=[node(models=()), _replica()],
    ),
    "decode-admits-more": Row(
        holds=[decode(engine="vllm"), bound(engine="vllm")],
        clean=[prefill(engine="vllm"), bound(decode, engine="vllm")],
        untold=[without(prefill(engine="vllm"), enforced_tokens=None), decode(engine="vllm")],
    ),
    "counterpart-versions-differ": Row(
        holds=[prefill(), decode(version="0.5.23")],
        clean=[prefill(), decode()],
        untold=[without(prefill(), version=None), decode()],
    ),
}

UNSAID_ROLE = replace(without(node(), role=None), role=Role.UNIFIED)
"""A node of an engine that says its role, which said none."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The releases at the ends of a range: the last before it, its first and last, the next.

    A range without a first has no lower end, and one without a last has no upper end.
    """

    before: str | None = None
    first: str | None = None
    last: str | None = None
    after: str | None = None

    def within(self) -> tuple[str, ...]:
        """Return releases of the range, far ones where it has no end."""
        return (self.first or "0.0.1", self.last or "99.0")

    def beyond(self) -> tuple[str, ...]:
        """Return releases that are not of the range."""
        return tuple(each for each in (self.before, self.after) if each is not None)


EDGES: dict[str, Edges] = {
    "sglang-pd-over-length": Edges(last="0.5.19.post9", after="0.5.20"),
    "sglang-pd-pool-bound-unsafe": Edges(last="0.5.19.post9", after="0.5.20"),
    "sglang-pd-pool-bound": Edges(before="0.5.19.post9", first="0.5.20"),
    "sglang-pd-below-floor": Edges("0.5.19.post9", "0.5.20", "0.5.21.post9", "0.5.22"),
    "sglang-pd-pages-reused": Edges(last="0.5.20.post9", after="0.5.21"),
    "sglang-pd-metadata-collision": Edges(last="0.5.8.post9", after="0.5.9"),
    "sglang-pd-kv-checksum-off": Edges(before="0.5.21.post9", first="0.5.22"),
    "vllm-hybrid-prefix-cache-drafting": Edges(before="0.22.9", first="0.23.0"),
    "vllm-host-offload": Edges(before="0.12.9", first="0.13.0"),
    "vllm-prefix-hash-predictable": Edges(last="0.7.1.post9", after="0.7.2"),
    "vllm-image-hash-collides": Edges("0.6.9", "0.7.0", "0.8.5.post9", "0.9.0"),
}
"""The ends of every range; a rule that is not here speaks of all versions."""

FAILS = {
    "sglang-auto-truncate",
    "sglang-decode-admits-more",
    "sglang-pd-over-length",
    "sglang-pd-pool-bound-unsafe",
}
"""Rules that fail a node."""

FAILS_IN_STRICT_MODE = {
    *FAILS,
    "sglang-pd-below-floor",
    "sglang-pd-kv-types-differ",
    "sglang-pd-pages-reused",
}

IN_STRICT_MODE_ONLY = {
    "llama-cpp-slot-below-trained",
    "sglang-prefix-cache-shared",
    "vllm-prefix-cache-shared",
}
"""Rules that say nothing in the ordinary mode; all that is not named here or above warns."""
