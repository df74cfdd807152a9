"""What a node has to tell before anybody can say that it is well."""

from __future__ import annotations

from packaging.version import Version

from monitor.nodes.record import NodeSnapshot
from monitor.nodes.version import read_version

_ALWAYS = ("version", "advertised_tokens", "enforced_tokens")
_SGLANG = ("pool_tokens", "pool_bound")
_VLLM = ("pool_tokens",)
_VLLM_TELLS_SINCE = Version("0.29")
"""No earlier release is known to state the size of its pool in tokens wherever it runs."""


def untold_of(snapshot: NodeSnapshot) -> tuple[str, ...]:
    """Return the facts that a node of its engine owes and did not tell, or told with a gap."""
    facts, gaps = snapshot.facts, {gap.fact for gap in snapshot.gaps}
    pool: tuple[str, ...] = ()
    if facts.engine == "sglang":
        pool = _SGLANG
    elif facts.engine == "vllm" and _tells_pool(snapshot):
        pool = _VLLM
    owed = (*_ALWAYS, *pool)
    return tuple(name for name in owed if getattr(facts, name) is None or name in gaps)


def excused_of(snapshot: NodeSnapshot) -> frozenset[str]:
    """Return the facts for want of which no rule is untold: its release does not tell them."""
    if snapshot.facts.engine != "vllm" or _tells_pool(snapshot) is not False:
        return frozenset()
    return frozenset(_VLLM)


def _tells_pool(snapshot: NodeSnapshot) -> bool | None:
    """Tell whether a release of vLLM tells its pool; ``None`` of what is no release."""
    number = read_version(snapshot.facts.version or "").number
    return None if number is None else number >= _VLLM_TELLS_SINCE
