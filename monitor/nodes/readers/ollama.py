"""Ollama: what is loaded, and with which context. A longer prompt is cut without a word.

Pages: https://github.com/ollama/ollama/blob/main/docs/api.md. What a model was made for is told by
POST alone (``/api/show``), and a reader sends none: that fact is a gap.
"""

from __future__ import annotations

from monitor.nodes.pages import NodePages
from monitor.nodes.readers.base import Gaps, Reading, listed_models, owned_by, tokens, word
from monitor.nodes.record import NodeFacts, Role


class OllamaReader:
    """Reads Ollama servers."""

    signs = ("/api/version", "/v1/models")

    async def recognises(self, pages: NodePages) -> bool:
        """Go by its own page of the version, then by the owner of the models."""
        if word((await pages.document("/api/version") or {}).get("version")):
            return True
        return owned_by(await pages.document("/v1/models"), "library")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what ``/api/version``, ``/api/ps`` and ``/api/tags`` say.

        Of several loaded models the smallest context counts as enforced: any of them may be asked.
        """
        await pages.fetch(("/api/version", "/api/ps", "/api/tags"))
        gaps = Gaps()
        version = word((await pages.document("/api/version") or {}).get("version"))
        if version is None:
            gaps.add("version", pages.why_not("/api/version"))
        tags = await pages.document("/api/tags")
        if tags is None:
            gaps.add("models", pages.why_not("/api/tags"))
        enforced = await self._enforced(pages, gaps)
        gaps.add("advertised_tokens", "Ollama states it to POST alone, and a reader only sends GET")
        facts = NodeFacts(
            engine="ollama",
            version=version,
            role=Role.UNIFIED,
            models=tuple(name for name, _ in listed_models(tags, "models")),
            enforced_tokens=enforced,
        )
        return Reading(facts=facts, gaps=gaps.done())

    async def _enforced(self, pages: NodePages, gaps: Gaps) -> int | None:
        loaded = await pages.document("/api/ps")
        contexts = [
            tokens(entry.get("context_length")) for _, entry in listed_models(loaded, "models")
        ]
        known = [each for each in contexts if each]
        if known and len(known) == len(contexts):
            return min(known)
        empty = loaded is not None and loaded.get("models") == []
        why = "no model is loaded" if empty else pages.why_not("/api/ps")
        gaps.add("enforced_tokens", why)
        return None
