"""What a target says of itself: engine, version, models and limits, read with GET alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.engines.faults import FaultList
from monitor.engines.openai_fields import MAX_NAME_CHARS, clean, is_object, object_at
from monitor.engines.wire import Refused, fetch_json
from monitor.http import HttpClient

_TIMEOUT_SECONDS = 5.0
_MAX_MODELS = 2_000
_MAX_LIMIT = 10**10
_NOT_SERVED = frozenset({404, 405})
_ROOT_PATHS = ("/version", "/server_info", "/get_server_info", "/props", "/api/version")
_MODEL_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NESTED_MODEL_FIELDS = (("meta", "n_ctx"), ("top_provider", "context_length"))
_OWNERS = {
    "sglang": "sglang",
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "lmdeploy": "lmdeploy",
    "library": "ollama",
}
_TOKENIZING = frozenset({"vllm", "llama.cpp"})

Document = dict[str, object]


async def discover(
    http: HttpClient, *, base_url: str, model: str, credential: str | None
) -> Discovery:
    """Ask ``<base_url>/models``, then the server's own pages on the same origin.

    The server's pages are asked only if ``base_url`` ends in ``/v1``, which an engine's does. A
    page that is not there is no note; one that fails otherwise is.
    """
    reader = _Reader(http, credential)
    listing = await reader.get(f"{base_url}/models", "/models")
    root = base_url.removesuffix("/v1")
    pages: dict[str, Document] = {}
    if root != base_url:
        for path in _ROOT_PATHS:
            if path == "/get_server_info" and "/server_info" in pages:
                continue
            if page := await reader.get(f"{root}{path}", path):
                pages[path.replace("get_", "")] = page
    else:
        reader.notes.append("base URL does not end in /v1: only /models was read")
    return _conclude(listing, pages, tuple(reader.notes), model)


class _Reader:
    """Fetches pages and keeps a note of each that fails."""

    def __init__(self, http: HttpClient, credential: str | None) -> None:
        self._http = http
        self._credential = credential
        self.notes: list[str] = []

    async def get(self, url: str, name: str) -> Document:
        """Return the object at ``url``, empty if there is none."""
        try:
            page = await fetch_json(
                self._http, url, credential=self._credential, timeout_seconds=_TIMEOUT_SECONDS
            )
        except Refused as refused:
            if refused.status not in _NOT_SERVED:
                self.notes.append(f"{name}: {refused.why}")
            return {}
        if is_object(page):
            return page
        self.notes.append(f"{name}: not a JSON object")
        return {}


def _conclude(
    listing: Document, pages: dict[str, Document], notes: tuple[str, ...], model: str
) -> Discovery:
    entries = listing.get("data")
    entries = [entry for entry in entries if is_object(entry)] if isinstance(entries, list) else []
    models = [
        DiscoveredModel(id=plain_text(entry.get("id")) or "", limits=tuple(_model_limits(entry)))
        for entry in entries[:_MAX_MODELS]
    ]
    server_limits = tuple(_server_limits(pages))
    if server_limits and not models:
        models = [DiscoveredModel(id=model)]
    engine = _engine(entries, pages)
    return Discovery(
        engine=engine,
        version=_version(pages, engine),
        models=tuple(replace(each, limits=each.limits + server_limits) for each in models),
        notes=notes,
        can_tokenize=engine in _TOKENIZING,
    )


def _model_limits(entry: Document) -> Iterator[Limit]:
    for name in _MODEL_FIELDS:
        yield from read_limit(entry.get(name), f"v1_models.{name}")
    for outer, inner in _NESTED_MODEL_FIELDS:
        yield from read_limit(object_at(entry, outer).get(inner), f"v1_models.{outer}.{inner}")


def _server_limits(pages: dict[str, Document]) -> Iterator[Limit]:
    first_refused = pages.get("/server_info", {}).get("max_req_input_len")
    for limit in read_limit(first_refused, "server_info.max_req_input_len"):
        yield replace(limit, tokens=limit.tokens - 1)  # SGLang refuses at this length already
    settings = object_at(pages.get("/props", {}), "default_generation_settings")
    yield from read_limit(settings.get("n_ctx"), "props.default_generation_settings.n_ctx")


def read_limit(value: object, source: str) -> Iterator[Limit]:
    """Yield the limit that ``source`` states as ``value``, if that is a plausible size."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 < value <= _MAX_LIMIT:
        yield Limit(tokens=value, source=source)


def _engine(entries: list[Document], pages: dict[str, Document]) -> str | None:
    """Go by pages that only one engine serves, then by the owner that ``/models`` names."""
    if "max_req_input_len" in pages.get("/server_info", {}):
        return "sglang"
    if "default_generation_settings" in pages.get("/props", {}):
        return "llama.cpp"
    owners = (entry.get("owned_by") for entry in entries)
    named = (_OWNERS.get(owner) for owner in owners if isinstance(owner, str))
    if owner := next((name for name in named if name), None):
        return owner
    if "version" in pages.get("/api/version", {}):
        return "ollama"
    return None


def _version(pages: dict[str, Document], engine: str | None) -> str | None:
    if engine == "llama.cpp":
        return plain_text(pages.get("/props", {}).get("build_info"))
    path = {"sglang": "/server_info", "ollama": "/api/version"}.get(engine or "", "/version")
    return plain_text(pages.get(path, {}).get("version"))


def plain_text(value: object) -> str | None:
    """Return a short text of the target's without control characters, ``None`` if it is none."""
    if not isinstance(value, str):
        return None
    text = clean(value[:MAX_NAME_CHARS], FaultList())
    return "".join(letter if letter.isprintable() else "?" for letter in text)
