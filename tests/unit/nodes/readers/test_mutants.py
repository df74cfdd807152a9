"""Pages that went wrong never break a reader, and never give a fact that is not in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from monitor.nodes.readers.sglang_info import MODES, SETTINGS
from monitor.nodes.record import NodeSnapshot, Role
from tests.unit.nodes.readers import mutants, public
from tests.unit.nodes.readers.serving import gaps_of, read
from tests.unit.nodes.readers.shapes import CONTEXT, POOL, info, labelled, listing, sglang_metrics

STATES = [{"memory_usage": {"token_capacity": size}} for size in (POOL, POOL - 64)]
SERVER = {"info": info(dp_size=2, internal_states=STATES), "models": listing("lamp", "adapter")}


def _documents() -> list[Any]:
    """Return the pages to spoil: our own, and those of operators where they are at hand."""
    found = [SERVER]
    if public.folder():
        models = public.document("sglang_models_and_model_info_2026-07.json")["v1_models"]
        told = public.document("sglang_server_info_dev_2026-07.json")
        report = public.document("sglang_issue30233_pd_facts.json")
        found += [{"info": told, "models": models}, {"info": report, "models": models}]
    return found


def _whole(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value == int(value) and 0 < value <= 10**10


def _at(document: Any, *keys: str) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _every(document: Any, *keys: str) -> list[Any]:
    entries = _at(document, *keys)
    return entries if isinstance(entries, list) else []


def _pools(server: Any) -> set[int]:
    every = [_at(server, "max_total_num_tokens")]
    every += [
        _at(each, "memory_usage", "token_capacity") for each in _every(server, "internal_states")
    ]
    return {int(each) for each in every if _whole(each)}


def _contexts(server: Any, models: Any) -> set[int]:
    every = [_at(each, "max_model_len") for each in _every(models, "data")]
    return {int(each) for each in [*every, _at(server, "context_length")] if _whole(each)}


def _roles(server: Any) -> set[Role]:
    words = [_at(server, "disaggregation_mode")]
    words += [_at(each, "disaggregation_mode") for each in _every(server, "internal_states")]
    return {MODES[each] for each in words if isinstance(each, str) and each in MODES}


def _hold_to(snapshot: NodeSnapshot, server: Any, models: Any) -> None:
    facts, gaps = snapshot.facts, gaps_of(snapshot)
    limit = _at(server, "max_req_input_len")
    assert facts.version in [None, _at(server, "version")]
    assert facts.enforced_tokens == (int(limit) if _whole(limit) else None)
    assert facts.pool_tokens == min(_pools(server), default=None)
    assert facts.advertised_tokens in {None, *_contexts(server, models)}
    assert facts.role is None or _roles(server) == {facts.role}
    for name, value in facts.settings.items():
        assert name in SETTINGS
        assert value is server[name] or value == server[name]
    for fact in ("version", "role", "enforced_tokens", "advertised_tokens", "pool_tokens"):
        assert (getattr(facts, fact) is not None) or fact in gaps
    assert facts.pool_bound is not None or "pool_bound" in gaps
    assert facts.models or "models" in gaps
    if facts.pool_bound is False:
        assert facts.advertised_tokens is not None
        room = facts.enforced_tokens + 6 if facts.enforced_tokens else facts.pool_tokens
        assert room is not None
        assert room >= facts.advertised_tokens


@pytest.mark.parametrize("base", _documents())
def test_a_spoilt_description_gives_no_fact_that_is_not_in_it(base: Any) -> None:
    @given(mutants.documents(base))
    def hold(wrong: Any) -> None:
        server, models = _at(wrong, "info"), _at(wrong, "models")
        snapshot = read({"/server_info": server, "/v1/models": models}, engine="sglang")
        _hold_to(snapshot, server if isinstance(server, dict) else {}, models)

    hold()


@given(mutants.documents(SERVER))
def test_a_spoilt_description_is_told_apart_without_an_error(wrong: Any) -> None:
    snapshot = read({"/server_info": _at(wrong, "info"), "/v1/models": _at(wrong, "models")})
    assert snapshot.reached
    assert snapshot.facts.engine in {"sglang", None}


def test_a_key_that_is_there_twice_makes_a_page_say_nothing() -> None:
    page = '{"version": "0.5.22", "max_req_input_len": 5, "version": "0.5.11"}'
    snapshot = read({"/server_info": page}, engine="sglang")
    assert (snapshot.facts.version, snapshot.facts.enforced_tokens) == (None, None)
    assert {"version", "enforced_tokens"} <= gaps_of(snapshot)


METRICS = "".join(sglang_metrics(dp_rank=str(rank // 2), tp_rank=str(rank)) for rank in range(4))
AMOUNTS = {
    "used_tokens": ("kv_used_tokens", "num_used_tokens"),
    "free_tokens": ("kv_available_tokens",),
    "evictable_tokens": ("kv_evictable_tokens",),
    "running": ("num_running_reqs",),
    "queued": ("num_queue_reqs",),
}


MAY_LACK = {"free_tokens", "evictable_tokens"}


def _lines(page: str, name: str) -> Iterator[Sample | None]:
    """Yield the library's reading of each line of a metric, ``None`` where it has none."""
    for line in page.split("\n"):
        plain = line.strip().replace("sglang:", "sglang_", 1)
        if not plain.startswith(f"sglang_{name}"):
            continue
        rest = plain[len(f"sglang_{name}") :]
        if rest[:1].isalnum() or rest[:1] in {"_", ":"}:
            continue
        try:
            for family in text_string_to_metric_families(line + "\n"):
                yield from family.samples
        except (ValueError, IndexError):
            yield None


def _total(page: str, name: str) -> float | None:
    """Return what a metric says over all ranks, by another way than the reader's."""
    samples = list(_lines(page, name))
    whole = [each for each in samples if each is not None and not each.labels.get("priority")]
    parts: dict[tuple[str, str], float] = {}
    for sample in whole or samples:
        if sample is None or not 0 <= sample.value < math.inf:
            return None
        key = (sample.labels.get("dp_rank", ""), sample.labels.get("priority", ""))
        parts[key] = max(parts.get(key, 0.0), float(sample.value))
    return sum(parts.values()) if parts else None


@given(mutants.metrics(METRICS))
def test_spoilt_metrics_give_no_number_that_is_not_in_them(page: str) -> None:
    snapshot = read({"/server_info": info(dp_size=2), "/v1/models": listing(), "/metrics": page})
    for fact, names in AMOUNTS.items():
        value = getattr(snapshot.live.kv, fact)
        totals = {_total(page, name) for name in names} - {None}
        assert value is None or value in totals
        assert value is not None or fact in gaps_of(snapshot) or fact in MAY_LACK
    assert snapshot.facts.pool_tokens is not None
    assert snapshot.facts.pool_tokens <= POOL
    for count in snapshot.live.counters.values():
        assert math.isfinite(count)
        assert count >= 0
    ratio = snapshot.live.kv.usage_ratio
    assert ratio is None or 0 <= ratio <= 1


@given(mutants.metrics(METRICS))
def test_spoilt_metrics_change_no_fact_of_the_description(page: str) -> None:
    facts = read({"/server_info": info(), "/v1/models": listing(), "/metrics": page}).facts
    assert (facts.version, facts.role) == ("0.5.22", Role.UNIFIED)
    assert (facts.advertised_tokens, facts.enforced_tokens) == (CONTEXT, POOL - 6)


VLLM = "".join(
    labelled(
        {"vllm:cache_config_info": 1},
        engine=rank,
        kv_cache_size_tokens=size,
        enable_prefix_caching="True",
    )
    + labelled({"vllm:kv_cache_usage_perc": 0.5, "vllm:num_requests_running": 2}, engine=rank)
    for rank, size in (("0", "200000"), ("1", "150000"))
)


@given(mutants.metrics(VLLM))
def test_a_spoilt_page_of_vllm_gives_no_pool_that_is_not_in_it(page: str) -> None:
    snapshot = read({"/v1/models": listing(owner="vllm"), "/metrics": page}, engine="vllm")
    pool = snapshot.facts.pool_tokens
    assert pool is None or f'"{pool}"' in page
    assert (pool is None) is ("pool_tokens" in gaps_of(snapshot))
    assert (snapshot.facts.pool_bound is None) or pool is not None


PROPS = {"default_generation_settings": {"n_ctx": 8_192}, "total_slots": 4, "build_info": "b9801"}
LLAMA = {"props": PROPS, "models": {"data": [{"id": "a", "meta": {"n_ctx": 8_192}}]}}


@given(mutants.documents(LLAMA))
def test_a_spoilt_page_of_llama_cpp_gives_no_fact_that_is_not_in_it(wrong: Any) -> None:
    props = _at(wrong, "props")
    pages = {"/props": props, "/v1/models": _at(wrong, "models")}
    facts = read(pages, engine="llama.cpp").facts
    slot = _at(props, "default_generation_settings", "n_ctx")
    assert facts.enforced_tokens == (int(slot) if _whole(slot) else None)
    assert facts.version in [None, _at(props, "build_info")]


OLLAMA = {
    "version": {"version": "0.32.5"},
    "ps": {"models": [{"name": "a", "context_length": 4_096}, {"name": "b", "context_length": 8}]},
    "show": {"model_info": {"general.architecture": "q", "q.context_length": 8_192}},
}


@given(mutants.documents(OLLAMA))
def test_a_spoilt_page_of_ollama_gives_no_fact_that_is_not_in_it(wrong: Any) -> None:
    pages = {f"/api/{name}": _at(wrong, name) for name in ("version", "ps", "show")}
    facts = read(pages, engine="ollama").facts
    loaded = [_at(each, "context_length") for each in _every(pages["/api/ps"], "models")]
    assert facts.enforced_tokens is None or facts.enforced_tokens in loaded
    made_for = _at(pages["/api/show"], "model_info", "q.context_length")
    assert facts.advertised_tokens is None or facts.advertised_tokens == made_for
