"""Write a configuration out of what an endpoint tells about itself. Its words are not trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from monitor.config.forbidden import wrong_with
from monitor.engines.base import DiscoveredModel, Discovery, Limit

MAX_TARGETS = 16
MAX_NAME = 200
_NOT_LABEL = re.compile(r"[^A-Za-z0-9]+")


def propose(
    url: str,
    key_env: str | None,
    models: Sequence[DiscoveredModel],
    *,
    engine: str = "openai",
    node_engine: str | None = None,
) -> str:
    """Return the text of a configuration with one target for each of the first models.

    With a ``node_engine`` the endpoint itself is a serving node of that engine.
    """
    node = list(_node(url, key_env, node_engine))
    return "\n".join([*_head(url), *_targets(engine, url, key_env, models, node)]) + "\n"


def _node(url: str, key_env: str | None, engine: str | None) -> Iterator[str]:
    if engine is None:
        yield "    # nodes: the processes behind it, if they can be reached, such as"
        yield '    #   - {url: "http://prefill-0:30000", role: prefill}'
        return
    token = f", token_env: {key_env}" if key_env else ""
    root = json.dumps(url.removesuffix("/v1"))
    yield "    # It answers as a serving node itself; list others behind it, if there are any."
    yield "    nodes:"
    yield f"      - {{url: {root}, engine: {engine}{token}}}"


def usable_models(found: Discovery) -> tuple[list[DiscoveredModel], int]:
    """Return the models a target can be written for, and how many are left out."""
    usable = [model for model in found.models if _is_usable(model.id)][:MAX_TARGETS]
    return usable, len(found.models) - len(usable)


def _is_usable(model: str) -> bool:
    plain = bool(model.strip()) and model.isprintable() and len(model) <= MAX_NAME
    return plain and wrong_with("model", model) is None


def _head(url: str) -> Iterator[str]:
    yield f"# Made by `davylamp init --from {_safe(url)}`."
    yield "# Every key is explained in docs/configuration.md."
    yield "version: 1"
    yield "environment: default"
    yield "storage:"
    yield "  path: ./davylamp-data"
    yield "targets:"


def _targets(
    engine: str,
    url: str,
    key_env: str | None,
    models: Sequence[DiscoveredModel],
    node: Sequence[str],
) -> Iterator[str]:
    taken: set[str] = set()
    for model in models:
        name = _free_name(model.id, taken)
        taken.add(name)
        yield f"  - name: {json.dumps(name)}"
        yield f"    engine: {engine}"
        yield from _target(model, url, key_env, node)


def _target(
    model: DiscoveredModel, url: str, key_env: str | None, node: Sequence[str]
) -> Iterator[str]:
    yield f"    base_url: {json.dumps(url)}"
    yield f"    model: {json.dumps(model.id, ensure_ascii=False)}"
    yield from _limits(model.limits)
    yield "    tenants:"
    yield f"      - name: {'tenant-a' if key_env else 'open'}"
    if key_env:
        yield f"        api_key_env: {key_env}"
    yield "      # A second tenant with a key of its own lets us prove that tenants are kept apart:"
    yield "      # - name: tenant-b"
    yield "      #   api_key_env: TENANT_B_KEY"
    yield from node
    yield "    overflow: refuse"
    yield "    # where no users are served: also bursts of 32 and requests that are broken off"
    yield "    # gentle: false"
    yield "    # price: {input_usd_per_million: 0.60, output_usd_per_million: 2.20}"
    yield "    probes: standard"


def _limits(limits: Sequence[Limit]) -> Iterator[str]:
    """Limits an endpoint states are read again at each start, so they are only comments here."""
    for limit in limits:
        source = _safe(limit.source)
        yield f"    # {source} states {limit.tokens:_} tokens; read again at each start"
    yield "    # what you were promised, if it differs: prompt plus answer"
    yield f"    # context_tokens: {min((limit.tokens for limit in limits), default=131_072):_}"


def _free_name(model: str, taken: set[str]) -> str:
    base = (
        _NOT_LABEL.sub("-", model.rsplit("/", 1)[-1]).strip("-").lower()[:48].strip("-") or "model"
    )
    names = (base if n == 1 else f"{base}-{n}" for n in range(1, MAX_TARGETS + 2))
    return next(name for name in names if name not in taken)


def _safe(text: str) -> str:
    return "".join(c if c.isprintable() and c.isascii() else "?" for c in text)[:200]
