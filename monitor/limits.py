"""The limits on prompt size that a target is held to: what is declared, and what it states."""

from __future__ import annotations

from monitor.config import Target
from monitor.engines.base import Discovery
from monitor.probes.base import TokenLimit

# Limits this close are one limit: engines keep a few tokens for themselves (SGLang six).
SAME_LIMIT_TOKENS = 16


def configured_limits(target: Target) -> tuple[TokenLimit, ...]:
    """Return the limit that the configuration itself declares."""
    if target.context_tokens is None:
        return ()
    return (TokenLimit(tokens=target.context_tokens, source="config"),)


def merged_limits(
    declared: tuple[TokenLimit, ...], discovery: Discovery, model: str
) -> tuple[TokenLimit, ...]:
    """Return declared and discovered limits, near ones once; the target's own word comes first."""
    served = [found for found in discovery.models if found.id == model]
    if not served and len(discovery.models) == 1:
        # Servers of one model answer to any name.
        served = list(discovery.models)
    discovered = [
        TokenLimit(tokens=limit.tokens, source=limit.source)
        for found in served
        for limit in found.limits
        if limit.tokens > SAME_LIMIT_TOKENS
    ]
    merged: list[TokenLimit] = []
    for limit in sorted(
        [*discovered, *declared], key=lambda each: (not each.advertised, -each.tokens)
    ):
        if all(abs(limit.tokens - kept.tokens) > SAME_LIMIT_TOKENS for kept in merged):
            merged.append(limit)
    return tuple(sorted(merged, key=lambda each: each.tokens))
