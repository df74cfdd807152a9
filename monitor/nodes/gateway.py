"""What a gateway says it serves, and which of it nobody asks.

LiteLLM's ``/model/info`` (https://docs.litellm.ai/docs/proxy/model_management) gives for each
deployment its public name and what a map of models says of it: the sizes may be missing, null or
of a wrong kind, and its parameters, which may hold keys, are never looked at. Any other gateway is
asked for ``/models`` as OpenAI has it.

A size that is missing says nothing. One that is there and is no number of tokens could be any; so
could that of a target's model which the gateway does not list by its name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.clock import Clock
from monitor.config import NodeTarget, Target
from monitor.config.nodes import Gateway
from monitor.engines.openai_fields import is_object, object_at
from monitor.engines.wire import Refused, fetch_json
from monitor.http import HttpClient, Limits, Transport, origin_of
from monitor.nodes.credentials import Credentials
from monitor.nodes.readers.base import names_key, tokens
from monitor.nodes.record import Gap

MAX_MODELS = 2_000
_BODY_BYTES = 16_000_000
_MAX_VALUES = 400_000
_MAX_NAME_CHARS = 200
_NAME = re.compile(r"[A-Za-z0-9*][A-Za-z0-9_.:/@+*-]*", re.ASCII)
_LISTED_SIZES = (
    *("max_model_len", "context_length", "context_window", "max_context_length"),
    "max_input_tokens",
)
# What says that a page of a listing is not the last.
_MORE = ("has_more", "next", "next_page", "next_page_token", "nextPageToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayModel:
    """One model as a gateway names it.

    ``context_tokens`` is the context it states: the largest prompt, else the largest of all it
    says; ``None`` where it states none. ``unclear`` says that it states one that is no number of
    tokens, so that the context may be any.
    """

    name: str
    context_tokens: int | None = None
    unclear: bool = False


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
    credentials: Credentials | None = None,
) -> GatewayReading:
    """Return what a gateway serves; what it does wrong is a gap, and never an exception.

    ``asked`` are the models that targets ask, by the names that the gateway gives them. Nothing of
    it repeats any of ``credentials``, else its own.
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
    if not is_object(page) or not isinstance(entries, list):
        return _unread(reading, "no list of models")
    known = credentials or Credentials([credential] if credential else [])
    read = _concluded(reading, gateway, entries, asked, known)
    if any(page.get(key) for key in _MORE):
        gap = Gap(fact="models", why="only the first page of them was read")
        read = replace(read, gaps=(*read.gaps, gap))
    return read


def listing_of(gateway: Gateway) -> str:
    """Return where a gateway lists its models."""
    if gateway.engine == "litellm":
        return f"{gateway.url.removesuffix('/v1')}/model/info"
    return f"{gateway.url}/models"


def names_of(target: Target | NodeTarget, served: Collection[str]) -> frozenset[str]:
    """Return the names by which a gateway may list a target's model.

    ``served`` are the models that the target's nodes say they serve: they, and the target's own
    name, stand for a target that is never asked for one. Without nodes it has no model at all.
    """
    if isinstance(target, Target):
        return frozenset({target.model})
    if not (target.nodes or target.node_sources):
        return frozenset()
    return frozenset({target.name, *served})


def held_to(reading: GatewayReading, names: Collection[str]) -> GatewayReading:
    """Return a reading that says so where it does not tell what it promises for a model.

    ``names`` are those of the model; without any, nothing is promised. Where nothing could be read,
    that says enough.
    """
    if not names or (reading.gaps and not reading.models):
        return reading
    found = [each for each in reading.models if each.name in names]
    if not found:
        gap = Gap(fact="context_tokens", why="the target's model is not among those it lists")
    elif any(each.unclear for each in found):
        why = "the context it states for the target's model is no number of tokens"
        gap = Gap(fact="context_tokens", why=why)
    else:
        return reading
    return replace(reading, gaps=(*reading.gaps, gap))


def _unread(reading: GatewayReading, why: str) -> GatewayReading:
    """Return the reading of a gateway whose models could not be read."""
    gap = Gap(fact="models", why=why)
    return GatewayReading(target=reading.target, engine=reading.engine, gaps=(gap,))


def _concluded(
    reading: GatewayReading,
    gateway: Gateway,
    entries: Sequence[object],
    asked: Collection[str],
    credentials: Credentials,
) -> GatewayReading:
    litellm = gateway.engine == "litellm"
    models: dict[str, GatewayModel] = {}
    unnamed = 0
    for entry in entries[:MAX_MODELS]:
        name = _name(entry, "model_name" if litellm else "id")
        if name is None or credentials.repeated_in(name):
            unnamed += 1
            continue
        stated = [*(_litellm_sizes(entry) if litellm else _listed_sizes(entry))]
        models[name] = _together(name, models.get(name), stated)
    known = {*asked, *gateway.unprobed}
    return GatewayReading(
        target=reading.target,
        engine=reading.engine,
        models=tuple(models.values()),
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
    if not isinstance(value, str) or len(value) > _MAX_NAME_CHARS or names_key(value):
        return None
    return value if _NAME.fullmatch(value) else None


def _together(name: str, before: GatewayModel | None, stated: Sequence[object]) -> GatewayModel:
    """Return a model as all its deployments so far have it, of which one states these sizes."""
    before = before or GatewayModel(name=name)
    there = [each for each in stated if each is not None]
    sizes = [before.context_tokens, *(tokens(each) for each in there)]
    return GatewayModel(
        name=name,
        context_tokens=max((each for each in sizes if each is not None), default=None),
        unclear=before.unclear or any(tokens(each) is None for each in there),
    )


def _litellm_sizes(entry: object) -> Iterator[object]:
    """Yield the largest prompt; ``max_tokens`` alone may mean the answer, and is not taken."""
    yield object_at(entry, "model_info").get("max_input_tokens")


def _listed_sizes(entry: object) -> Iterator[object]:
    if is_object(entry):
        yield from (entry.get(key) for key in _LISTED_SIZES)
    yield object_at(entry, "meta").get("n_ctx")
    yield object_at(entry, "top_provider").get("context_length")
