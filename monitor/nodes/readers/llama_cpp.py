"""llama.cpp's server: a slot's context is the limit, whatever the model was trained for.

Pages and names: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md.
``/slots`` is never asked for: it may hold prompts.
"""

from __future__ import annotations

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import Document, NodePages
from monitor.nodes.readers.base import (
    Gaps,
    Reading,
    listed_models,
    owned_by,
    settings_of,
    tokens,
    word,
)
from monitor.nodes.record import NodeFacts, Role

_SETTINGS = ("total_slots", "is_sleeping", "model_ftype")
_MOST_SLOTS = 10_000


class LlamaCppReader:
    """Reads llama.cpp servers of one model; one that routes to several has no page of its own."""

    signs = ("/props", "/v1/models")

    async def recognises(self, pages: NodePages) -> bool:
        """Go by the settings of a slot, then by the owner of the models."""
        props = await pages.document("/props")
        if props is not None and "default_generation_settings" in props:
            return True
        return owned_by(await pages.document("/v1/models"), "llamacpp")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what ``/props`` and ``/v1/models`` say."""
        await pages.fetch(self.signs)
        gaps = Gaps()
        props = await pages.document("/props")
        if props is None:
            gaps.add("settings", pages.why_not("/props"))
        facts = _facts(props or {}, await pages.document("/v1/models"))
        for fact in ("version", "advertised_tokens", "enforced_tokens", "slots"):
            if getattr(facts, fact) is None:
                gaps.add(fact, pages.why_not("/props", "/v1/models"))
        return Reading(facts=facts, gaps=gaps.done())


def _facts(props: Document, listing: Document | None) -> NodeFacts:
    models = listed_models(listing)
    contexts = [tokens(object_at(entry, "meta").get("n_ctx")) for _, entry in models]
    trained = [tokens(object_at(entry, "meta").get("n_ctx_train")) for _, entry in models]
    slot = tokens(object_at(props, "default_generation_settings").get("n_ctx"))
    slots = tokens(props.get("total_slots"))
    known = [each for each in trained if each]
    settings = settings_of(props, _SETTINGS)
    return NodeFacts(
        engine="llama.cpp",
        version=word(props.get("build_info")),
        role=Role.UNIFIED,
        models=tuple(name for name, _ in models),
        advertised_tokens=max((each for each in contexts if each), default=None),
        enforced_tokens=slot,
        slots=slots if slots and slots <= _MOST_SLOTS else None,
        settings=settings | ({"n_ctx_train": max(known)} if known else {}),
    )
