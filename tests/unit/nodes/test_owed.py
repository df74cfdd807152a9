"""What a node owes and did not tell is unknown, and of what it tells twice the worse counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from monitor.nodes import Conformity, Gap, NodeFacts, NodeSnapshot
from monitor.nodes.judging import FACTS_UNTOLD, judge_nodes
from tests.unit.nodes.judged import CONTEXT, RULES, TODAY, bound, decode, node, prefill, without


def conformities(fleet: Sequence[NodeSnapshot]) -> list[Conformity]:
    return [each.conformity for each in judge_nodes(fleet, RULES, today=TODAY)]


def ranks(make, least: int | None, most: int | None, **changes: object) -> NodeSnapshot:
    """Return a node whose first rank is limited by its context, and others differ."""
    return make(least_admitted_tokens=least, most_admitted_tokens=most, **changes)


FULL = CONTEXT - 6


@pytest.mark.parametrize(
    ("fleet", "expected"),
    [
        ([ranks(prefill, 60_000, FULL), decode()], Conformity.FAIL),
        ([ranks(prefill, 60_000, 60_000, enforced_tokens=60_000), decode()], Conformity.FAIL),
        (
            [bound(pool=60_006), ranks(decode, 60_000, FULL, enforced_tokens=60_000)],
            Conformity.FAIL,
        ),
        (
            [
                ranks(prefill, 60_000, FULL),
                ranks(decode, 60_000, 60_000, enforced_tokens=60_000),
            ],
            Conformity.WARN,
        ),
        ([ranks(prefill, None, None), decode()], Conformity.UNKNOWN),
        ([prefill(), ranks(decode, None, None)], Conformity.UNKNOWN),
        ([ranks(prefill, None, None, enforced_tokens=60_000), decode()], Conformity.FAIL),
        ([prefill(), ranks(decode, 60_000, FULL)], Conformity.WARN),
    ],
)
def test_prefill_surely_admits_what_its_smallest_rank_does_and_decode_may_what_its_largest(
    fleet: list[NodeSnapshot], expected: Conformity
) -> None:
    assert conformities(fleet) == [expected, expected]


def test_a_page_more_of_decode_is_more() -> None:
    """Decided: the few tokens between two pools are taken by decode and not by prefill."""
    fleet = [bound(pool=95_040), bound(decode, pool=95_104)]
    assert conformities(fleet) == [Conformity.FAIL, Conformity.FAIL]


OWED = [
    *[(each, fact) for each in ("sglang", "vllm", "llama.cpp", "ollama") for fact in
      ("version", "advertised_tokens", "enforced_tokens")],
    ("sglang", "pool_tokens"), ("sglang", "pool_bound"), ("vllm", "pool_tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "fact"), OWED)
def test_what_every_judgement_needs_and_was_not_told_is_never_a_mere_warning(
    engine: str, fact: str
) -> None:
    untold = without(node(engine=engine), **{fact: None})
    (verdict,) = judge_nodes([untold], RULES, today=TODAY)
    assert verdict.conformity is Conformity.UNKNOWN
    said = {each.rule: each.why for each in verdict.matches}
    assert fact in said[FACTS_UNTOLD]


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp", "ollama", "sglang"])
def test_a_node_of_a_configured_engine_that_tells_nothing_is_unknown(engine: str) -> None:
    assert conformities([replace(node(), facts=NodeFacts(engine=engine))]) == [Conformity.UNKNOWN]


def test_a_fact_that_is_only_a_part_of_it_is_untold() -> None:
    part = replace(node(), gaps=(Gap(fact="pool_tokens", why="one may be smaller"),))
    assert conformities([part]) == [Conformity.UNKNOWN]


@pytest.mark.parametrize("version", ["0.10.0", "0.28.0", "0.30.0"])
def test_a_pool_of_vllm_counts_in_every_version_that_tells_it(version: str) -> None:
    small = node(engine="vllm", version=version, pool_tokens=CONTEXT - 1)
    assert conformities([small]) == [Conformity.WARN]


@pytest.mark.parametrize("on", ["1", "yes", "on", "enabled", None])
def test_a_flag_in_a_form_that_nobody_knows_is_unknown(on: object) -> None:
    assert conformities([node(settings={"allow_auto_truncate": on})]) == [Conformity.UNKNOWN]


@pytest.mark.parametrize("on", [1, 1.0, "true", "True"])
def test_a_flag_in_a_form_that_is_surely_on_is_on(on: object) -> None:
    assert conformities([node(settings={"allow_auto_truncate": on})]) == [Conformity.FAIL]


def test_decode_of_vllm_that_admits_more_warns() -> None:
    fleet = [
        make(engine="vllm", advertised_tokens=size, enforced_tokens=size)
        for make, size in ((prefill, CONTEXT), (decode, 8 * CONTEXT))
    ]
    assert Conformity.PASS not in conformities(fleet)
