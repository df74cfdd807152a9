"""A smaller pool counts wherever it is told, and a rank that did not tell its own is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.record import NodeFacts
from tests.unit.nodes.readers.serving import gaps_of, read
from tests.unit.nodes.readers.shapes import CONTEXT, info, labelled, listing

SMALL, LARGE = 64_000, 120_000
FULL = CONTEXT - 6


def _state(capacity: object) -> dict[str, Any]:
    return {"memory_usage": {"token_capacity": capacity}}


def _node(*capacities: object, pool: object = LARGE, **options: Any) -> dict[str, Any]:
    """Return a node whose first rank refuses at its context, and the ranks' pools."""
    states = [_state(each) for each in capacities]
    options = {"max_total_num_tokens": pool, "max_req_input_len": FULL, **options}
    server = info(dp_size=max(1, len(states)), internal_states=states)
    return {"/server_info": server | options, "/v1/models": listing()}


def _gauge(*sizes: object) -> dict[str, str]:
    lines = [
        labelled({"sglang:max_total_num_tokens": str(size)}, dp_rank=str(rank))
        for rank, size in enumerate(sizes)
    ]
    return {"/metrics": "".join(lines)}


def _loads(*sizes: object) -> dict[str, Any]:
    entries = [{"dp_rank": rank, "max_total_num_tokens": size} for rank, size in enumerate(sizes)]
    return {"/v1/loads": {"loads": entries}}


def _facts(pages: dict[str, Any]) -> NodeFacts:
    return read(pages, engine="sglang").facts


@pytest.mark.parametrize(
    "pages",
    [
        _node(LARGE, SMALL),
        _node(LARGE, SMALL, pool=None),
        _node(pool=None) | _gauge(SMALL),
        _node(pool=None) | _loads(SMALL),
        _node(LARGE) | _gauge(SMALL),
        _node(SMALL, pool=SMALL),
        _node(None, None) | _loads(LARGE, SMALL),
        _node(LARGE, "?", pool=SMALL),
    ],
    ids=["rank", "ranks alone", "gauge", "load", "gauge beside", "first", "loads", "incomplete"],
)
def test_a_smaller_pool_counts_wherever_it_is_told(pages: dict[str, Any]) -> None:
    facts = _facts(pages)
    assert (facts.pool_tokens, facts.pool_bound) == (SMALL, True)
    assert facts.enforced_tokens == FULL


@pytest.mark.parametrize(
    "pages",
    [
        _node(LARGE, dp_size=2),
        _node(LARGE, None, dp_size=2),
        _node(LARGE, "64000"),
        _node(LARGE, "64000") | _gauge(LARGE, LARGE),
        _node(LARGE, dp_size=2) | _gauge(LARGE, "NaN"),
        _node(LARGE, dp_size="2"),
        _node(LARGE, "64000", dp_size=1),
        _node(LARGE) | _gauge(LARGE, LARGE) | _loads(LARGE, LARGE, "64000"),
    ],
)
def test_a_rank_that_did_not_tell_its_pool_leaves_untold_what_binds(pages: dict[str, Any]) -> None:
    snapshot = read(pages, engine="sglang")
    facts = snapshot.facts
    assert facts.pool_bound is None
    assert (facts.least_admitted_tokens, facts.most_admitted_tokens) == (None, None)
    assert {"pool_tokens", "pool_bound"} <= gaps_of(snapshot)


@pytest.mark.parametrize(
    "pages",
    [
        _node(LARGE),
        _node(pool=LARGE),
        _node(None, pool=LARGE),
        _node(LARGE, LARGE),
        _node(LARGE, dp_size=2) | _gauge(LARGE, LARGE),
        _node(None, None) | _loads(LARGE, LARGE),
        _node(SMALL, pool=SMALL, dcp_size=2),
        _node(LARGE, dp_size=None),
    ],
)
def test_a_healthy_node_admits_the_same_on_every_rank(pages: dict[str, Any]) -> None:
    snapshot = read(pages, engine="sglang")
    facts = snapshot.facts
    assert facts.pool_bound is False
    assert (facts.least_admitted_tokens, facts.most_admitted_tokens) == (FULL, FULL)
    assert "pool_tokens" not in gaps_of(snapshot)


@pytest.mark.parametrize(
    ("pages", "least", "most"),
    [
        (_node(LARGE, SMALL), SMALL - 6, FULL),
        (_node(SMALL, LARGE, pool=SMALL, max_req_input_len=SMALL - 6), SMALL - 6, FULL),
        (_node(SMALL, SMALL, pool=SMALL, max_req_input_len=SMALL - 6), SMALL - 6, SMALL - 6),
        (_node(SMALL, pool=SMALL), SMALL - 6, FULL),
        (_node(LARGE, SMALL, dcp_size=2), None, None),
        (_node(LARGE, SMALL, dllm_algorithm="x"), None, None),
        (_node(LARGE, dllm_algorithm="x", max_req_input_len=FULL - 32), FULL - 32, FULL - 32),
        (_node(LARGE, max_req_input_len=None), None, None),
    ],
)
def test_what_is_surely_admitted_is_of_the_smallest_rank_and_what_may_be_of_the_largest(
    pages: dict[str, Any], least: int | None, most: int | None
) -> None:
    facts = _facts(pages)
    assert (facts.least_admitted_tokens, facts.most_admitted_tokens) == (least, most)
