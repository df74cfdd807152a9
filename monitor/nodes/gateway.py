"""What a gateway says it serves, and which of it nobody asks.

LiteLLM's ``/model/info`` (https://docs.litellm.ai/docs/proxy/model_management) gives for each
deployment its public name and what a map of models says of it: the sizes may be missing, null or
of a wrong kind, and its parameters, which may hold keys, are never looked at. Any other gateway is
asked for ``/models`` as OpenAI has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from monitor.clock import Clock
from monitor.config import NodeTarget, Target
from monitor.config.nodes import Gateway
from monitor.engines.openai_fields import is_object, object_at
from monitor.engines.wire import Refused, fetch_json
from monitor.http import HttpClient, Limits, Transport, origin_of
from monitor.nodes.readers.base import holds_key, tokens
from monitor.nodes.record import Gap

MAX_MODELS = 2_000
_BODY_BYTES = 16_000_000
_MAX_VALUES = 400_000
_MAX_NAME_CHARS = 200
_NAME = re.compile(r"[A-Za-z0-9*][A-Za-z0-9_.:/@+*-]*", re.ASCII)
_LISTED_SIZES = ("max_model_len", "context_length", "context_window", "max_context_length")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayModel:
    """One model as a gateway names it.

    ``context_tokens`` is the context it states: the largest prompt, else the largest of all it
    says; ``None`` where it states none.
    """

    name: str
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayReading:
    """What the gateway of one target said.

    ``unprobed`` are models it serves that no target asks and that are not known to be so; what it
    serves is not known where ``gaps`` say so.
    """

    target: str
    engine: str
    models: tuple[GatewayModel, ...] = ()
    unprobed: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()

    def context_of(self, names: Collection[str]) -> int | None:
        """Return the largest context it states for a model of these names."""
        found = [each.context_tokens for each in self.models if each.name in names]
        return max((each for each in found if each is not None), default=None)


async def read_gateway(
    target: str,
    gateway: Gateway,
    *,
    asked: Collection[str],
    credential: str | None,
    clock: Clock,
    timeout_seconds: float,
    transport: Transport | None = None,
) -> GatewayReading:
    """Return what a gateway serves; what it does wrong is a gap, and never an exception.

    ``asked`` are the models that targets ask, by the names that the gateway gives them.
    """
    http = HttpClient(
        origins=frozenset({origin_of(gateway.url)}),
        clock=clock,
        limits=Limits(body_bytes=_BODY_BYTES),
        transport=transport,
    )
    reading = GatewayReading(target=target, engine=gateway.engine)
    try:
        page = await fetch_json(
            http,
            listing_of(gateway),
            credential=credential,
            timeout_seconds=timeout_seconds,
            max_values=_MAX_VALUES,
        )
    except Refused as refused:
        return _unread(reading, refused.why)
    finally:
        if transport is None:
            await http.aclose()
    entries = page.get("data") if is_object(page) else None
    if not isinstance(entries, list):
        return _unread(reading, "no list of models")
    return _concluded(reading, gateway, entries, asked, credential)


def listing_of(gateway: Gateway) -> str:
    """Return where a gateway lists its models."""
    if gateway.engine == "litellm":
        return f"{gateway.url.removesuffix('/v1')}/model/info"
    return f"{gateway.url}/models"


def advertised_of(
    target: Target | NodeTarget, reading: GatewayReading, served: Collection[str]
) -> int | None:
    """Return the context that a gateway states for a target.

    ``served`` are the models that the target's nodes say they serve: they, and the target's own
    name, stand for a target that is never asked for one.
    """
    names = {target.model} if isinstance(target, Target) else {target.name, *served}
    return reading.context_of(names)


def _unread(reading: GatewayReading, why: str) -> GatewayReading:
    """Return the reading of a gateway whose models could not be read."""
    gap = Gap(fact="models", why=why)
    return GatewayReading(target=reading.target, engine=reading.engine, gaps=(gap,))


def _concluded(
    reading: GatewayReading,
    gateway: Gateway,
    entries: Sequence[object],
    asked: Collection[str],
    credential: str | None,
) -> GatewayReading:
    litellm = gateway.engine == "litellm"
    models: dict[str, int | None] = {}
    unnamed = 0
    for entry in entries[:MAX_MODELS]:
        name = _name(entry, "model_name" if litellm else "id")
        if name is None or (credential and credential in name):
            unnamed += 1
            continue
        size = _litellm_size(entry) if litellm else _listed_size(entry)
        models[name] = max((each for each in (models.get(name), size) if each), default=None)
    known = {*asked, *gateway.unprobed}
    return GatewayReading(
        target=reading.target,
        engine=reading.engine,
        models=tuple(GatewayModel(name=name, context_tokens=size) for name, size in models.items()),
        unprobed=tuple(sorted(name for name in models if name not in known)),
        gaps=tuple(_gaps(unnamed, len(entries) - MAX_MODELS)),
    )


def _gaps(unnamed: int, beyond: int) -> Iterator[Gap]:
    if unnamed:
        yield Gap(fact="models", why=f"{unnamed} without a name that can be shown")
    if beyond > 0:
        yield Gap(fact="models", why=f"only the first {MAX_MODELS} were read")


def _name(entry: object, key: str) -> str | None:
    value = entry.get(key) if is_object(entry) else None
    if not isinstance(value, str) or len(value) > _MAX_NAME_CHARS or holds_key(value):
        return None
    return value if _NAME.fullmatch(value) else None


def _litellm_size(entry: object) -> int | None:
    """Return the largest prompt; ``max_tokens`` alone may mean the answer, and is not taken."""
    return tokens(object_at(entry, "model_info").get("max_input_tokens"))


def _listed_size(entry: object) -> int | None:
    stated = [tokens(entry.get(key)) for key in _LISTED_SIZES] if is_object(entry) else []
    stated.append(tokens(object_at(entry, "meta").get("n_ctx")))
    stated.append(tokens(object_at(entry, "top_provider").get("context_length")))
    return max((each for each in stated if each is not None), default=None)
