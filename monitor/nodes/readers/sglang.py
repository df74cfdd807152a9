"""SGLang: every page and metric by version, new names first.

Pages: https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py.
"""

from __future__ import annotations

import asyncio

from packaging.version import Version

from monitor.engines.openai_fields import object_at
from monitor.nodes.exposition import Exposition
from monitor.nodes.pages import METRICS, Document, NodePages
from monitor.nodes.readers.base import Gaps, Reading, objects, owned_by, tokens, word
from monitor.nodes.readers.meter import Meter, exposed, own_models
from monitor.nodes.readers.sglang_info import MODES, SETTINGS, Told, pool_bound, role_told, told
from monitor.nodes.readers.sglang_live import CONTEXT, LOADS, POOL, WANTED, live_of
from monitor.nodes.record import NodeFacts, Role
from monitor.nodes.scrape import Kept, Scrape

INFO = ("/server_info", "/get_server_info")
MODEL_INFO = ("/model_info", "/get_model_info")
MODELS = "/v1/models"
_MARKS = ("max_req_input_len", "max_total_num_tokens", "internal_states", "disaggregation_mode")
_ALWAYS_UNIFIED = Version("0.5.3")
"""Up to this version a node in prefill/decode mode calls itself unified in its metrics."""
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
        await asyncio.gather(_info(pages), pages.fetch((MODELS, METRICS)))
        gaps = Gaps()
        said = told(await _info(pages), await pages.document(MODELS))
        exposition = await exposed(pages, wanted=WANTED, prefix="sglang")
        own_role = await _role(pages, said, exposition, gaps)
        kept = _kept(exposition, said, own_role or role)
        meter = Meter(exposition, gaps=gaps, kept=kept, why=_why_no_metrics(pages))
        live = await live_of(pages, meter, said, role=own_role or role, gaps=gaps)
        facts = _facts(said, own_role, meter)
        _note_missing(facts, said, pages, meter, gaps)
        return Reading(facts=facts, live=live, gaps=gaps.done())


async def _info(pages: NodePages) -> Document:
    for path in INFO:
        if info := await pages.document(path):
            return info
    return {}


async def _role(
    pages: NodePages, said: Told, exposition: Exposition | None, gaps: Gaps
) -> Role | None:
    """Return the role from the page that says it; where two roles are said, none."""
    role, two = role_told(said)
    if two:
        gaps.add("role", "the node states two roles: its options and its schedulers differ")
        return None
    if role is None:
        roles = {MODES[each] for each in await _modes(pages) if each in MODES}
        if len(roles) > 1:
            gaps.add("role", "the pages of the model and of the load state two roles")
            return None
        role = roles.pop() if roles else _role_of_metrics(said, exposition)
    return role


async def _modes(pages: NodePages) -> list[str | None]:
    """Return the mode as the pages of the model (0.5.21 and later) and of the load state it."""
    await pages.fetch((*MODEL_INFO, LOADS))
    documents = [await pages.document(path) for path in MODEL_INFO]
    words = [(document or {}).get("disaggregation_mode") for document in documents]
    loads = objects((await pages.document(LOADS) or {}).get("loads"))
    words += [object_at(each, "disaggregation").get("mode") for each in loads]
    return [word(each) for each in words]


def _role_of_metrics(said: Told, exposition: Exposition | None) -> Role | None:
    if exposition is None:
        return None
    types = Scrape(exposition).values_of("engine_type")
    known = next((each for each in Role if types == {each}), None)
    if known is Role.UNIFIED:
        release = said.release
        return known if release is not None and release > _ALWAYS_UNIFIED else None
    return known


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


def _facts(said: Told, role: Role | None, meter: Meter) -> NodeFacts:
    context = tokens(meter.gauge("context_len", CONTEXT, min)) or said.asked
    pools = said.pools()
    if measured := tokens(meter.gauge("pool_tokens", POOL, min)):
        pools.append(measured)
    pool = min(pools, default=None)
    return NodeFacts(
        engine="sglang",
        version=said.version,
        role=role,
        models=said.models,
        advertised_tokens=said.advertised or context,
        enforced_tokens=said.enforced,
        pool_tokens=pool,
        pool_bound=pool_bound(said, context=context, pool=pool),
        settings=said.settings,
    )


def _note_missing(facts: NodeFacts, said: Told, pages: NodePages, meter: Meter, gaps: Gaps) -> None:
    for fact in ("version", "role", "enforced_tokens"):
        if getattr(facts, fact) is None:
            gaps.add(fact, pages.why_not(*INFO))
    if not facts.models:
        gaps.add("models", pages.why_not(MODELS))
    if facts.advertised_tokens is None:
        gaps.add("advertised_tokens", pages.why_not(MODELS))
    if facts.pool_tokens is None:
        gaps.add("pool_tokens", pages.why_not(*INFO, METRICS))
    elif not said.complete() and len(meter.ranks(POOL)) != said.ranks:
        gaps.add("pool_tokens", "not every data-parallel rank told its pool: one may be smaller")
    if facts.pool_bound is None:
        sharded = "a sharded pool cannot be compared with the context, only the scheduler's limit"
        gaps.add("pool_bound", sharded if said.sharded else "context or pool is not known")


def _why_no_metrics(pages: NodePages) -> str:
    return _OFF if pages.missing(METRICS) else pages.why_not(METRICS)
