"""Ollama: what is loaded, and with which context. A longer prompt is cut without a word.

Pages: https://github.com/ollama/ollama/blob/main/docs/api.md.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import DESCRIPTION, Document, NodePages
from monitor.nodes.readers.base import (
    Gaps,
    Reading,
    listed_models,
    model_name,
    objects,
    owned_by,
    tokens,
    word,
)
from monitor.nodes.record import NodeFacts, Role

VERSION = "/api/version"
LOADED = "/api/ps"
HELD = "/api/tags"
_MOST_ASKED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One loaded model: the context it was loaded with, and the one it was made for."""

    context: int | None
    made_for: int | None

    @property
    def share(self) -> float:
        """How much of its context is loaded; all of it where that is not known."""
        if self.context is None or self.made_for is None:
            return 1.0
        return self.context / self.made_for


class OllamaReader:
    """Reads Ollama servers."""

    signs = (VERSION, "/v1/models")
    settings: tuple[str, ...] = ()

    async def recognises(self, pages: NodePages) -> bool:
        """Go by its own page of the version, then by the owner of the models."""
        if word((await pages.document(VERSION) or {}).get("version")):
            return True
        return owned_by(await pages.document("/v1/models"), "library")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what its pages say of the version, and of the models it holds and has loaded.

        Of several loaded models, the facts are those of the one with the least of its context.
        """
        await pages.fetch((VERSION, LOADED, HELD))
        gaps = Gaps()
        version = word((await pages.document(VERSION) or {}).get("version"))
        if version is None:
            gaps.add("version", pages.why_not(VERSION))
        held = await pages.document(HELD)
        if held is None:
            gaps.add("models", pages.why_not(HELD))
        worst = await _worst(pages, gaps)
        facts = NodeFacts(
            engine="ollama",
            version=version,
            role=Role.UNIFIED,
            models=listed_models(held, "models"),
            advertised_tokens=worst.made_for,
            enforced_tokens=worst.context,
            least_admitted_tokens=worst.context,
            most_admitted_tokens=worst.context,
        )
        return Reading(facts=facts, gaps=gaps.done())


async def _worst(pages: NodePages, gaps: Gaps) -> Loaded:
    """Return the model with the least of its context; none where another may have less."""
    page = await pages.document(LOADED)
    entries = objects((page or {}).get("models"))
    if page is None or not entries or len(entries) > _MOST_ASKED:
        none = page is not None and page.get("models") == []
        why = "no model is loaded" if none else pages.why_not(LOADED)
        if len(entries) > _MOST_ASKED:
            why = f"more than {_MOST_ASKED} models are loaded"
        gaps.add("enforced_tokens", why)
        gaps.add("advertised_tokens", why)
        return Loaded(context=None, made_for=None)
    loaded = await asyncio.gather(*(_loaded(pages, entry) for entry in entries))
    if any(each.context is None for each in loaded):
        gaps.add("enforced_tokens", f"{LOADED} does not say it of every loaded model")
    if any(each.made_for is None for each in loaded):
        gaps.add("advertised_tokens", f"{DESCRIPTION} does not say it of every loaded model")
    worst = min(loaded, key=lambda each: each.share)
    known = all(each.context is not None and each.made_for is not None for each in loaded)
    return worst if known or worst.share < 1 else Loaded(context=None, made_for=None)


async def _loaded(pages: NodePages, entry: Document) -> Loaded:
    context = tokens(entry.get("context_length"))
    name = entry.get("name")
    if not isinstance(name, str) or model_name(name) != name:
        return Loaded(context=context, made_for=None)
    info = object_at(await pages.description(name), "model_info")
    family = word(info.get("general.architecture"))
    return Loaded(context=context, made_for=tokens(info.get(f"{family}.context_length")))
