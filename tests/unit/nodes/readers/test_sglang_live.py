"""What changes in an SGLang node: ranks that repeat, ranks that add up, and pages of load."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.record import NodeCounter, NodeSnapshot, Role
from tests.unit.nodes.readers.serving import gaps_of, read, why
from tests.unit.nodes.readers.shapes import POOL, info, labelled, listing, sglang_metrics


def _read(metrics: Any, *, role: Role | None = None, **options: Any) -> NodeSnapshot:
    pages = {"/server_info": info(**options), "/v1/models": listing(), "/metrics": metrics}
    return read(pages, role=role)


def test_the_pool_is_read_as_used_free_and_evictable() -> None:
    live = _read(sglang_metrics()).live
    kv = live.kv
    assert (kv.capacity_tokens, kv.used_tokens) == (POOL, 1_000)
    assert (kv.free_tokens, kv.evictable_tokens) == (39_000, 960)
    assert (kv.usage_ratio, kv.running, kv.queued) == (0.25, 3, 1)
    assert live.counters[NodeCounter.PROMPT_TOKENS] == 5_000
    assert live.counters[NodeCounter.GENERATED_TOKENS] == 700


def test_ranks_that_repeat_each_other_count_once() -> None:
    metrics = "".join(
        sglang_metrics(tp_rank=tp, pp_rank=pp, moe_ep_rank=tp, pid=tp)
        for tp in "0123"
        for pp in "01"
    )
    assert _read(metrics).live.kv == _read(sglang_metrics()).live.kv


def test_of_ranks_that_differ_the_largest_counts() -> None:
    metrics = labelled({"sglang:kv_used_tokens": 10}, tp_rank="0")
    metrics += labelled({"sglang:kv_used_tokens": 30}, tp_rank="1")
    assert _read(metrics).live.kv.used_tokens == 30


def test_data_parallel_ranks_add_up_and_the_smallest_pool_is_the_pool() -> None:
    metrics = sglang_metrics(dp_rank="0")
    metrics += sglang_metrics(dp_rank="1").replace(str(POOL), str(POOL - 64))
    snapshot = _read(metrics, dp_size=2)
    assert snapshot.live.kv.used_tokens == 2_000
    assert snapshot.live.kv.capacity_tokens == 2 * POOL - 64
    assert snapshot.live.kv.usage_ratio == 0.25
    assert snapshot.live.kv.running == 6
    assert snapshot.live.counters[NodeCounter.PROMPT_TOKENS] == 10_000
    assert snapshot.facts.pool_tokens == POOL - 64


def test_tensor_ranks_within_data_parallel_ranks_repeat() -> None:
    metrics = "".join(
        sglang_metrics(dp_rank=str(rank // 2), tp_rank=str(rank)) for rank in range(4)
    )
    assert _read(metrics, dp_size=2).live.kv.used_tokens == 2_000


def test_the_capacity_is_that_of_the_ranks_that_tell_their_use() -> None:
    metrics = labelled({"sglang:kv_used_tokens": 5}, dp_rank="0")
    metrics += "".join(
        labelled({"sglang:max_total_num_tokens": POOL}, dp_rank=rank) for rank in "01"
    )
    kv = _read(metrics, dp_size=2).live.kv
    assert (kv.used_tokens, kv.capacity_tokens) == (5, None)


def test_of_a_pool_in_parts_the_gauge_is_no_capacity() -> None:
    """The gauge tells one part, and what is free is counted over all of them."""
    kv = _read(sglang_metrics(), dcp_size=4, max_req_input_len=98_298).live.kv
    assert (kv.capacity_tokens, kv.used_tokens) == (None, 1_000)


def test_a_priority_is_part_of_the_total_beside_it() -> None:
    gauge = "sglang:num_queue_reqs"
    total = labelled({gauge: 5}, priority="")
    parts = labelled({gauge: 2}, priority="1") + labelled({gauge: 3}, priority="7")
    assert _read(total + parts).live.kv.queued == 5
    assert _read(parts).live.kv.queued == 5


def test_a_counter_in_parts_is_added_up() -> None:
    counter = "sglang:num_aborted_requests_total"
    metrics = labelled({counter: 4}, reason="a", tp_rank="0")
    metrics += labelled({counter: 4}, reason="a", tp_rank="1")
    metrics += labelled({counter: 1}, reason="b", tp_rank="0")
    assert _read(metrics).live.counters[NodeCounter.ABORTED] == 5


def test_a_release_that_waited_for_the_end_of_its_transfer_is_no_fault() -> None:
    counter = "sglang:decode_deferred_kv_release_total"
    drained = labelled({counter: 400}, outcome="drained")
    late = "".join(labelled({counter: 2}, outcome="timeout", tp_rank=rank) for rank in "01")
    other = labelled({counter: 1}, outcome="other")
    kind = NodeCounter.DEFERRED_RELEASES
    assert kind not in _read(drained).live.counters
    assert kind not in _read(labelled({counter: 400})).live.counters
    assert _read(drained + late + other).live.counters[kind] == 3


INFLIGHT, PREALLOC, TRANSFER, BOOTSTRAP = (
    f"sglang:num_{name}_queue_reqs"
    for name in ("prefill_inflight", "decode_prealloc", "decode_transfer", "prefill_bootstrap")
)


@pytest.mark.parametrize(
    ("mode", "metrics", "many"),
    [
        ("prefill", {INFLIGHT: 2, BOOTSTRAP: 7}, 2),
        ("decode", {PREALLOC: 3, TRANSFER: 4}, 7),
        ("decode", {TRANSFER: 0}, 0),
        ("decode", {PREALLOC: 3, TRANSFER: "NaN"}, None),
        ("decode", {INFLIGHT: 0}, None),
        ("prefill", {BOOTSTRAP: 0}, None),
        ("null", {INFLIGHT: 0, PREALLOC: 0, TRANSFER: 0}, None),
    ],
)
def test_requests_between_prefill_and_decode_are_counted(
    mode: str, metrics: dict[str, Any], many: int | None
) -> None:
    snapshot = _read(labelled(metrics), disaggregation_mode=mode)
    assert snapshot.live.kv.in_transfer == many


@pytest.mark.parametrize("label", ["is_streaming", "tenant", "priority"])
def test_a_counter_split_by_a_label_nobody_knows_is_still_one(label: str) -> None:
    counter = "sglang:prompt_tokens_total"
    metrics = labelled({counter: 4}, **{label: "a"}) + labelled({counter: 5}, **{label: "b"})
    assert _read(metrics).live.counters[NodeCounter.PROMPT_TOKENS] == 9


@pytest.mark.parametrize("label", ["instance", "pod", "worker_id", "engine_type", "model_name"])
def test_counters_of_several_places_are_not_one(label: str) -> None:
    counter = "sglang:prompt_tokens_total"
    metrics = labelled({counter: 4}, **{label: "a"}) + labelled({counter: 5}, **{label: "b"})
    snapshot = _read(metrics, disaggregation_mode=None)
    assert snapshot.live.counters == {}
    assert "several engines" in why(snapshot, "prompt_tokens")


@pytest.mark.parametrize("prefix", ["sglang:", "sglang_", "", "fleet_sglang_"])
def test_a_relay_may_rewrite_names(prefix: str) -> None:
    assert _read(sglang_metrics(prefix)).live.kv == _read(sglang_metrics()).live.kv


def test_a_relay_may_quote_names_with_dots() -> None:
    lines = sglang_metrics("sglang.").splitlines()
    metrics = "".join(
        f'{{"{name}",{rest}\n' for name, _, rest in (line.partition("{") for line in lines)
    )
    assert _read(metrics).live.kv == _read(sglang_metrics()).live.kv


def test_the_engines_own_name_counts_before_a_rewritten_one() -> None:
    metrics = "sglang_kv_used_tokens 7\nsglang:other 1\nkv_used_tokens 9\n"
    assert _read(metrics).live.kv.used_tokens == 7


def test_older_names_are_read_where_the_newer_are_missing() -> None:
    metrics = "sglang:num_used_tokens 37\nsglang:num_bootstrap_failed_reqs 2\n"
    live = _read(metrics).live
    assert live.kv.used_tokens == 37
    assert live.counters[NodeCounter.BOOTSTRAP_FAILED] == 2
    both = "sglang:num_used_tokens 37\nsglang:kv_used_tokens 30\n"
    assert _read(both).live.kv.used_tokens == 30


def _pair() -> str:
    decode = sglang_metrics(engine_type="decode").replace(" 1000", " 2222")
    return sglang_metrics(engine_type="prefill") + decode


@pytest.mark.parametrize(("mode", "used"), [("prefill", 1_000), ("decode", 2_222)])
def test_a_page_of_two_engines_is_told_apart_by_the_nodes_role(mode: str, used: int) -> None:
    assert _read(_pair(), disaggregation_mode=mode).live.kv.used_tokens == used


def test_without_a_role_a_page_of_two_engines_says_nothing() -> None:
    snapshot = _read(_pair(), disaggregation_mode=None)
    assert snapshot.live.kv.used_tokens is None
    assert "several engines" in why(snapshot, "used_tokens")
    assert snapshot.facts.role is None


def test_a_configured_role_tells_them_apart_too() -> None:
    assert _read(_pair(), role=Role.DECODE, disaggregation_mode=None).live.kv.used_tokens == 2_222


def test_metrics_of_another_role_are_not_this_nodes() -> None:
    snapshot = _read(sglang_metrics(engine_type="decode"), disaggregation_mode="prefill")
    assert snapshot.live.kv.used_tokens is None
    assert "used_tokens" in gaps_of(snapshot)


def test_a_page_of_two_models_is_told_apart_by_the_nodes_own() -> None:
    other = sglang_metrics(model_name="other").replace(" 1000", " 2222")
    assert _read(sglang_metrics() + other).live.kv.used_tokens == 1_000
    strangers = sglang_metrics(model_name="x") + sglang_metrics(model_name="y")
    assert "several engines" in why(_read(strangers), "used_tokens")


@pytest.mark.parametrize("label", ["instance", "pod", "worker_id", "shard_of_some_kind"])
def test_series_that_differ_in_where_they_come_from_say_nothing(label: str) -> None:
    metrics = sglang_metrics(**{label: "a"}) + sglang_metrics(**{label: "b"})
    snapshot = _read(metrics)
    assert snapshot.live.kv.used_tokens is None
    assert "several engines" in why(snapshot, "used_tokens")


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1", "1e300", "0.5"])
def test_a_value_that_is_no_number_of_tokens_is_a_gap(value: str) -> None:
    snapshot = _read(f"sglang:kv_used_tokens {value}\n")
    assert snapshot.live.kv.used_tokens is None
    assert "used_tokens" in gaps_of(snapshot)


def test_one_rank_that_is_no_number_spoils_the_sum() -> None:
    metrics = labelled({"sglang:kv_used_tokens": 5}, dp_rank="0")
    metrics += labelled({"sglang:kv_used_tokens": "NaN"}, dp_rank="1")
    snapshot = _read(metrics, dp_size=2)
    assert snapshot.live.kv.used_tokens is None
    assert "no number" in why(snapshot, "used_tokens")


def test_a_usage_above_one_is_a_gap() -> None:
    snapshot = _read("sglang:token_usage 1.4\n")
    assert snapshot.live.kv.usage_ratio is None
    assert "above one" in why(snapshot, "usage_ratio")


def _load(rank: int, **values: Any) -> dict[str, Any]:
    return {
        "dp_rank": rank,
        "num_running_reqs": 2,
        "num_waiting_reqs": 1,
        "num_used_tokens": 100,
        "max_total_num_tokens": POOL,
        "token_usage": 0.1 * (rank + 1),
        "speculative": {"accept_length": 3.0 - rank, "accept_rate": 0.5},
        **values,
    }


def _loaded(*loads: Any, metrics: Any = 404) -> NodeSnapshot:
    pages = {
        "/server_info": info(dp_size=2),
        "/v1/models": listing(),
        "/v1/loads": {"loads": list(loads)},
        "/metrics": metrics,
    }
    return read(pages)


def test_the_page_of_load_tells_where_metrics_are_off() -> None:
    live = _loaded(_load(0), _load(1)).live
    assert (live.kv.used_tokens, live.kv.capacity_tokens) == (200, 2 * POOL)
    assert (live.kv.running, live.kv.queued, live.kv.usage_ratio) == (4, 2, 0.2)
    assert live.accept_length == 2.0


def test_a_rank_that_is_missing_or_twice_on_the_page_of_load_says_nothing() -> None:
    assert _loaded(_load(0), _load(0)).live.kv.used_tokens is None
    assert _loaded(_load(0), _load(1, num_used_tokens=None)).live.kv.used_tokens is None


def test_the_older_page_of_load_tells_requests_and_no_tokens() -> None:
    entries = [
        {"dp_rank": rank, "num_reqs": 5, "num_waiting_reqs": 2, "num_tokens": 9} for rank in (0, 1)
    ]
    pages = {"/server_info": info(), "/v1/models": listing(), "/get_load": entries}
    kv = read(pages).live.kv
    assert (kv.running, kv.queued, kv.used_tokens) == (6, 4, None)


def test_acceptance_is_that_of_the_rank_with_the_lowest() -> None:
    metrics = "".join(
        labelled(
            {"sglang:spec_accept_length": length, "sglang:spec_accept_rate": rate}, dp_rank=rank
        )
        for rank, length, rate in (("0", 3.4, 0.8), ("1", 1.2, 0.1))
    )
    live = _read(metrics, speculative_algorithm="EAGLE", dp_size=2).live
    assert (live.accept_length, live.accept_ratio) == (1.2, 0.1)


def test_an_acceptance_of_zero_is_none_yet() -> None:
    """The gauge stands at zero until something was drafted, and without drafting for ever."""
    metrics = "sglang:spec_accept_length 0\nsglang:spec_accept_rate 0\n"
    snapshot = _read(metrics)
    assert (snapshot.live.accept_length, snapshot.live.accept_ratio) == (None, None)
    assert "accept_length" not in gaps_of(snapshot)


def test_the_average_since_the_start_is_read_where_no_gauge_is() -> None:
    states = [{"avg_spec_accept_length": 2.5}, {"avg_spec_accept_length": 3.5}]
    assert _read(404, internal_states=states).live.accept_length == 2.5


def test_a_node_that_drafts_and_tells_no_acceptance_is_a_gap() -> None:
    snapshot = _read("sglang:kv_used_tokens 1\n", speculative_algorithm="EAGLE")
    assert "accept_length" in gaps_of(snapshot)


def test_missing_metrics_are_gaps() -> None:
    snapshot = _read("sglang:max_total_num_tokens 5\n", disaggregation_mode="prefill")
    missing = {"used_tokens", "usage_ratio", "running", "queued", "prompt_tokens"}
    assert missing <= gaps_of(snapshot)
    assert snapshot.live.counters == {}


@pytest.mark.parametrize(
    ("version", "mode", "gap"),
    [
        ("0.5.22", "prefill", False),
        ("0.0.0.dev1+g70df09b83", "prefill", True),
        ("0.0.0.dev1+g70df09b83", "decode", True),
        ("0.0.0.dev1+g70df09b83", "null", False),
    ],
)
def test_a_failure_that_was_never_counted_is_a_gap_only_of_builds_nobody_knows(
    version: str, mode: str, gap: bool
) -> None:
    snapshot = _read(sglang_metrics(engine_type=mode), version=version, disaggregation_mode=mode)
    assert ({"bootstrap_failed", "transfer_failed"} <= gaps_of(snapshot)) is gap


def test_the_start_of_the_process_is_read() -> None:
    assert _read("process_start_time_seconds 1.75e9\n").live.started_seconds == 1.75e9


def test_a_histogram_is_not_taken_for_the_gauge_of_its_name() -> None:
    metrics = 'sglang:token_usage_bucket{le="1"} 3\nsglang:token_usage_count 3\n'
    assert _read(metrics).live.kv.usage_ratio is None
