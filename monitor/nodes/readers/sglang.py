"""SGLang: every page and metric by version, new names first.

Pages: https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py.
"""

from __future__ import annotations

import asyncio

from monitor.nodes.exposition import Exposition
from monitor.nodes.pages import METRICS, Document, NodePages
from monitor.nodes.readers.base import Gaps, Reading, objects, owned_by, tokens
from monitor.nodes.readers.meter import Meter, exposed, own_models
from monitor.nodes.readers.sglang_info import MODES, SETTINGS, Told, told
from monitor.nodes.readers.sglang_live import CONTEXT, LOADS, POOL, WANTED, live_of
from monitor.nodes.readers.sglang_pool import Pools, limits_of, pool_bound, pools_of
from monitor.nodes.readers.sglang_role import ROLE_PAGES, role_of
from monitor.nodes.record import NodeFacts, Role
from monitor.nodes.scrape import Kept, Scrape

INFO = ("/server_info", "/get_server_info")
MODELS = "/v1/models"
_MARKS = ("max_req_input_len", "max_total_num_tokens", "internal_states", "disaggregation_mode")
_OFF = f"{METRICS} is not served: start the node with --enable-metrics"


class SglangReader:
    """Reads SGLang servers, unified and in prefill/decode mode."""

    signs = (INFO[0], MODELS, METRICS)
    settings = SETTINGS

    async def recognises(self, pages: NodePages) -> bool:
        """Go by what only its own pages say, then by the owner of the models."""
        info = await _info(pages)
        if any(mark in info for mark in _MARKS):
            return True
        if owned_by(await pages.document(MODELS), "sglang"):
            return True
        exposition = await exposed(pages, wanted=WANTED, prefix="sglang")
        return exposition is not None and exposition.prefixed

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what its pages say, the older names where the newer are not served."""
        await asyncio.gather(_info(pages), pages.fetch((MODELS, METRICS, *ROLE_PAGES)))
        gaps = Gaps()
        said = told(await _info(pages), await pages.document(MODELS))
        exposition = await exposed(pages, wanted=WANTED, prefix="sglang")
        own_role = await role_of(pages, said, exposition, given=role, gaps=gaps)
        kept = _kept(exposition, said, own_role or role or MODES.get(said.mode or ""))
        meter = Meter(exposition, gaps=gaps, kept=kept, why=_why_no_metrics(pages))
        live = await live_of(pages, meter, said, role=own_role or role, gaps=gaps)
        loads = objects((await pages.document(LOADS) or {}).get("loads"))
        pools = pools_of(said, meter.ranks(POOL), loads)
        facts = _facts(said, own_role, pools, meter)
        _note_missing(facts, said, pages, pools, gaps)
        return Reading(facts=facts, live=live, gaps=gaps.done())


async def _info(pages: NodePages) -> Document:
    for path in INFO:
        if info := await pages.document(path):
            return info
    return {}


def _kept(exposition: Exposition | None, said: Told, role: Role | None) -> list[Kept]:
    """Return which series are this node's, where a relay serves those of several."""
    if exposition is None:
        return []
    scrape = Scrape(exposition)
    kept = [*own_models(scrape, said.models)]
    types = scrape.values_of("engine_type")
    if role is not None and types:
        own = types & {role.value} or types - {Role.PREFILL, Role.DECODE}
        kept.append(Kept(label="engine_type", values=frozenset(own)))
    return kept


def _facts(said: Told, role: Role | None, pools: Pools, meter: Meter) -> NodeFacts:
    context = tokens(meter.gauge("context_len", CONTEXT, min)) or said.asked
    limits = limits_of(said, pools, context=context)
    return NodeFacts(
        engine="sglang",
        version=said.version,
        role=role,
        models=said.models,
        advertised_tokens=said.advertised or context,
        enforced_tokens=said.enforced,
        least_admitted_tokens=limits.least,
        most_admitted_tokens=limits.most,
        pool_tokens=pools.smallest,
        pool_bound=pool_bound(said, pools, context=context),
        settings=said.settings,
    )


def _note_missing(facts: NodeFacts, said: Told, pages: NodePages, pools: Pools, gaps: Gaps) -> None:
    for fact in ("version", "role", "enforced_tokens"):
        if getattr(facts, fact) is None:
            gaps.add(fact, pages.why_not(*INFO))
    if not facts.models:
        gaps.add("models", pages.why_not(MODELS))
    if facts.advertised_tokens is None:
        gaps.add("advertised_tokens", pages.why_not(MODELS))
    if facts.pool_tokens is None:
        gaps.add("pool_tokens", pages.why_not(*INFO, METRICS))
    elif not pools.complete:
        gaps.add("pool_tokens", "not every data-parallel rank told its pool: one may be smaller")
    if facts.pool_bound is None:
        sharded = "a sharded pool cannot be compared with the context, only the scheduler's limit"
        gaps.add("pool_bound", sharded if said.sharded else "context or pool is not known")
    for name in said.torn:
        gaps.add(name, "the node's options and its schedulers differ in it")


def _why_no_metrics(pages: NodePages) -> str:
    return _OFF if pages.missing(METRICS) else pages.why_not(METRICS)
