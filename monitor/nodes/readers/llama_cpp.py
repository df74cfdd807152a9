"""llama.cpp's server: a slot's context is the limit, whatever the model was trained for.

Pages and names: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md.
``/slots`` is never asked for: it may hold prompts.
"""

from __future__ import annotations

from monitor.engines.openai_fields import object_at
from monitor.nodes.pages import METRICS, Document, NodePages
from monitor.nodes.readers.base import (
    Gaps,
    Reading,
    listed_models,
    owned_by,
    settings_of,
    stated_context,
    tokens,
    word,
)
from monitor.nodes.readers.meter import Counted, Meter, exposed
from monitor.nodes.record import KvUse, Live, NodeCounter, NodeFacts, Role

PROPS = "/props"
MODELS = "/v1/models"
_OFF = f"{METRICS} is not served: start the node with --metrics"

_TRAINED = "n_ctx_train"
_SETTINGS = ("total_slots", "is_sleeping", "model_ftype")
_MOST_SLOTS = 10_000


RUNNING: Counted = ("requests_processing",)
QUEUED: Counted = ("requests_deferred",)
USAGE: Counted = ("kv_cache_usage_ratio",)
COUNTERS: dict[NodeCounter, Counted] = {
    NodeCounter.PROMPT_TOKENS: ("prompt_tokens_total",),
    NodeCounter.GENERATED_TOKENS: ("tokens_predicted_total",),
    NodeCounter.DRAFTED: ("spec_decode_num_draft_tokens_total",),
    NodeCounter.ACCEPTED: ("spec_decode_num_accepted_tokens_total",),
}
WANTED = frozenset(
    (*RUNNING, *QUEUED, *USAGE, *(name for each in COUNTERS.values() for name in each))
)


class LlamaCppReader:
    """Reads llama.cpp servers of one model; one that routes to several has no page of its own."""

    signs = (PROPS, MODELS)
    settings = (*_SETTINGS, _TRAINED)

    async def recognises(self, pages: NodePages) -> bool:
        """Go by the settings of a slot, then by the owner of the models."""
        props = await pages.document(PROPS)
        if props is not None and "default_generation_settings" in props:
            return True
        return owned_by(await pages.document(MODELS), "llamacpp")

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what ``/props``, ``/v1/models`` and, where they are on, the metrics say."""
        await pages.fetch((PROPS, MODELS, METRICS))
        gaps = Gaps()
        facts = _facts(await pages.document(PROPS) or {}, await pages.document(MODELS))
        for fact in ("version", "enforced_tokens", "slots"):
            if getattr(facts, fact) is None:
                gaps.add(fact, pages.why_not(PROPS))
        if facts.advertised_tokens is None:
            gaps.add("advertised_tokens", pages.why_not(MODELS))
        if not facts.models:
            gaps.add("models", pages.why_not(MODELS))
        exposition = await exposed(pages, wanted=WANTED, prefix="llamacpp")
        why = _OFF if pages.missing(METRICS) else pages.why_not(METRICS)
        return Reading(
            facts=facts, live=_live(Meter(exposition, gaps=gaps, why=why)), gaps=gaps.done()
        )


def _facts(props: Document, listing: Document | None) -> NodeFacts:
    slot = tokens(object_at(props, "default_generation_settings").get("n_ctx"))
    slots = tokens(props.get("total_slots"))
    trained = stated_context(listing, "meta", _TRAINED)
    settings = settings_of(props, _SETTINGS)
    return NodeFacts(
        engine="llama.cpp",
        version=word(props.get("build_info")),
        role=Role.UNIFIED,
        models=listed_models(listing),
        advertised_tokens=stated_context(listing, "meta", "n_ctx"),
        enforced_tokens=slot,
        least_admitted_tokens=slot,
        most_admitted_tokens=slot,
        slots=slots if slots and slots <= _MOST_SLOTS else None,
        settings=settings | ({_TRAINED: trained} if trained else {}),
    )


def _live(meter: Meter) -> Live:
    """Return what the metrics say. How full the pool is, only old versions do."""
    use = KvUse(
        usage_ratio=meter.ratio("usage_ratio", USAGE),
        running=meter.amount("running", RUNNING),
        queued=meter.amount("queued", QUEUED),
    )
    for fact in ("running", "queued"):
        if getattr(use, fact) is None:
            meter.missing(fact)
    read = {kind: meter.counter(kind, names) for kind, names in COUNTERS.items()}
    for kind in (NodeCounter.PROMPT_TOKENS, NodeCounter.GENERATED_TOKENS):
        if read[kind] is None:
            meter.missing(kind)
    return Live(
        kv=use,
        counters={kind: value for kind, value in read.items() if value is not None},
        started_seconds=meter.started(),
    )
