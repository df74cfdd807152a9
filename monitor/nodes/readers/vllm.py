"""vLLM: it refuses to start with a context larger than its pool, so both are held together here.

Pages and metrics: https://docs.vllm.ai/en/latest/design/metrics/.
"""

from __future__ import annotations

from monitor.nodes.pages import NodePages
from monitor.nodes.readers.base import Gaps, Reading, listed_models, owned_by, tokens, word
from monitor.nodes.record import NodeFacts, Role


class VllmReader:
    """Reads vLLM servers."""

    signs = ("/v1/models",)

    async def recognises(self, pages: NodePages) -> bool:
        """Go by the owner of the models."""
        return owned_by(await pages.document("/v1/models"), "vllm")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what ``/version``, ``/v1/models`` and ``/metrics`` say."""
        await pages.fetch(("/version", "/v1/models"))
        gaps = Gaps()
        version = word((await pages.document("/version") or {}).get("version"))
        if version is None:
            gaps.add("version", await pages.why_not("/version"))
        models = listed_models(await pages.document("/v1/models"))
        contexts = [tokens(entry.get("max_model_len")) for _, entry in models]
        advertised = max((each for each in contexts if each), default=None)
        if advertised is None:
            gaps.add("advertised_tokens", await pages.why_not("/v1/models"))
        facts = NodeFacts(
            engine="vllm",
            version=version,
            models=tuple(name for name, _ in models),
            advertised_tokens=advertised,
            enforced_tokens=advertised,
        )
        return Reading(facts=facts, gaps=gaps.done())
