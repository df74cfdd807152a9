"""What the reading of a node says of its KV pool, in the plain numbers that bytes are made of."""

from __future__ import annotations

from monitor.gpu import NodeTokens, Parallelism
from monitor.nodes.record import NodeSnapshot, Setting

# How a reading says that a page was refused.
_REFUSED = "wants a credential"


def tokens_of(snapshot: NodeSnapshot) -> NodeTokens:
    """Return what a node said. The settings go by the names its engine has for them."""
    settings = snapshot.facts.settings
    dtype = settings.get("kv_cache_dtype") or settings.get("cache_dtype")
    return NodeTokens(
        target=snapshot.target,
        node=snapshot.node,
        read_at=snapshot.read_at,
        used_tokens=snapshot.live.kv.used_tokens,
        capacity_tokens=snapshot.facts.pool_tokens,
        usage_ratio=snapshot.live.kv.usage_ratio,
        page_tokens=_size(settings.get("page_size")),
        kv_dtype=dtype if isinstance(dtype, str) else None,
        spread=Parallelism(
            tp=_size(settings.get("tp_size")),
            pp=_size(settings.get("pp_size")),
            dp=_size(settings.get("dp_size")),
            dp_attention=settings.get("enable_dp_attention") is True,
        ),
    )


def unread(snapshot: NodeSnapshot) -> str:
    """Return why a node is not read, or not all of its pages, for whoever can mend it.

    Empty if nothing is to be mended: what an engine has no word for is no fault of this machine's.
    """
    refused = next((each.why for each in snapshot.gaps if _REFUSED in each.why), None)
    if refused is not None:
        return f"{refused} (give --node-token-env)"
    if snapshot.reached:
        return ""
    return next((each.why for each in snapshot.gaps), "the node was not reached")


def _size(value: Setting) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
