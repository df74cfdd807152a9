"""The catalogue of Workers AI: which models an account may run, and the context of each."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.engines.discovery import plain_text, read_limit
from monitor.engines.openai_fields import is_object
from monitor.engines.wire import Refused, fetch_json
from monitor.http import HttpClient

ENGINE = "workers-ai"
_TIMEOUT_SECONDS = 10.0
_PAGE = 100
_SOURCE = "models_search.context_window"


def account_of(base_url: str) -> str:
    """Return the root of an account's AI, or of a gateway's path to it, given either base URL."""
    return base_url.rstrip("/").removesuffix("/v1").removesuffix("/run")


def catalogue_page(base_url: str, model: str) -> str:
    """Return where ``model`` is looked up, or all language models if it is empty."""
    query: dict[str, object] = {"per_page": _PAGE}
    query |= {"search": model.rsplit("/", 1)[-1]} if model else {"task": "Text Generation"}
    return f"{account_of(base_url)}/models/search?{urlencode(query)}"


async def discover(
    http: HttpClient, *, account: str, model: str, credential: str | None
) -> Discovery:
    """Search the catalogue of ``account`` for ``model``, or list its language models if empty."""
    try:
        document = await fetch_json(
            http,
            catalogue_page(account, model),
            credential=credential,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    except Refused as refused:
        return Discovery(engine=ENGINE, notes=(f"/models/search: {refused.why}",))
    result = document.get("result") if is_object(document) else None
    if not isinstance(result, list):
        return Discovery(engine=ENGINE, notes=("/models/search: no list of models",))
    found = [_model(entry) for entry in result[:_PAGE] if is_object(entry)]
    return Discovery(
        engine=ENGINE, models=tuple(each for each in found if not model or each.id == model)
    )


def _model(entry: dict[str, object]) -> DiscoveredModel:
    return DiscoveredModel(id=plain_text(entry.get("name")) or "", limits=tuple(_limits(entry)))


def _limits(entry: dict[str, object]) -> Iterator[Limit]:
    properties = entry.get("properties")
    for each in properties if isinstance(properties, list) else []:
        if is_object(each) and each.get("property_id") == "context_window":
            value = each.get("value")
            digits = isinstance(value, str) and value.isascii() and value.isdigit()
            yield from read_limit(int(str(value)[:12]) if digits else value, _SOURCE)
