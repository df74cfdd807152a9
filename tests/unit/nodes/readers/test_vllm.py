"""What a vLLM node says of itself: labels that are all text, and counters by data-parallel rank."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.record import NodeCounter, NodeSnapshot, Role
from tests.unit.nodes.readers.serving import gaps_of, read, why
from tests.unit.nodes.readers.shapes import CONTEXT, labelled, listing

CONFIG = "vllm:cache_config_info"


def _config(**labels: str) -> str:
    told = {
        "block_size": "16",
        "cache_dtype": "auto",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.9",
        "kv_cache_size_tokens": "400128",
        "num_gpu_blocks": "1147",
        "sliding_window": "None",
        "engine": "0",
    }
    return labelled({CONFIG: 1.0}, **(told | labels))


def _read(metrics: Any = 404, *, role: Role | None = None, **pages: Any) -> NodeSnapshot:
    served = {
        "/version": {"version": "0.33.0"},
        "/v1/models": listing(owner="vllm"),
        "/metrics": metrics,
    }
    return read(served | {f"/{name}": page for name, page in pages.items()}, role=role)


def test_a_node_states_version_context_and_pool() -> None:
    facts = _read(_config()).facts
    assert (facts.engine, facts.version, facts.models) == ("vllm", "0.33.0", ("lamp",))
    assert (facts.advertised_tokens, facts.enforced_tokens) == (CONTEXT, CONTEXT)
    assert (facts.pool_tokens, facts.pool_bound) == (400_128, False)


def test_labels_are_read_as_the_values_that_were_printed() -> None:
    settings = _read(_config()).facts.settings
    assert settings["block_size"] == 16
    assert settings["enable_prefix_caching"] is True
    assert settings["gpu_memory_utilization"] == 0.9
    assert settings["cache_dtype"] == "auto"
    assert settings["sliding_window"] is None


def test_blocks_times_their_size_is_never_the_pool() -> None:
    snapshot = _read(_config(kv_cache_size_tokens="None"))
    assert (snapshot.facts.pool_tokens, snapshot.facts.pool_bound) == (None, None)
    assert "does not tell" in why(snapshot, "pool_tokens")


@pytest.mark.parametrize("size", ["", "-5", "0", "1e6", "400128.5", "9" * 40, "٤٠٠"])
def test_a_pool_that_is_no_number_of_tokens_is_a_gap(size: str) -> None:
    snapshot = _read(_config(kv_cache_size_tokens=size))
    assert snapshot.facts.pool_tokens is None
    assert "pool_tokens" in gaps_of(snapshot)


def test_engines_of_one_node_add_up_and_the_smallest_is_the_pool() -> None:
    metrics = _config() + _config(engine="1", kv_cache_size_tokens="300000")
    metrics += "".join(
        labelled({"vllm:num_requests_running": 2, "vllm:kv_cache_usage_perc": usage}, engine=rank)
        for rank, usage in (("0", 0.25), ("1", 0.5))
    )
    snapshot = _read(metrics)
    assert snapshot.facts.pool_tokens == 300_000
    assert snapshot.live.kv.capacity_tokens == 700_128
    assert (snapshot.live.kv.usage_ratio, snapshot.live.kv.running) == (0.5, 4)


def test_an_engine_that_does_not_tell_its_pool_leaves_none() -> None:
    snapshot = _read(_config() + _config(engine="1", kv_cache_size_tokens="None"))
    assert (snapshot.facts.pool_tokens, snapshot.live.kv.capacity_tokens) == (None, None)
    assert "pool_tokens" in gaps_of(snapshot)


def test_engines_that_differ_in_a_setting_share_none() -> None:
    snapshot = _read(_config() + _config(engine="1", cache_dtype="fp8"))
    assert "cache_dtype" not in snapshot.facts.settings
    assert "differ" in why(snapshot, "cache_dtype")


@pytest.mark.parametrize("name", ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"])
def test_usage_is_a_share_whatever_its_name_says(name: str) -> None:
    assert _read(f"{name} 0.42\n").live.kv.usage_ratio == 0.42


def test_counters_are_those_of_every_kind() -> None:
    metrics = "".join(
        (
            labelled({"vllm:prompt_tokens_total": 10, "vllm:num_preemptions_total": 2}, engine="0"),
            labelled({"vllm:prompt_tokens_total": 30, "vllm:num_preemptions_total": 1}, engine="1"),
            labelled({"vllm:request_success_total": 7}, engine="0", finished_reason="stop"),
            labelled({"vllm:request_success_total": 3}, engine="0", finished_reason="abort"),
            labelled({"vllm:request_success_total": 1}, engine="1", finished_reason="abort"),
            labelled({"vllm:corrupted_requests_total": 2}, engine="0"),
            labelled({"vllm:spec_decode_num_draft_tokens_total": 90}, engine="0"),
            labelled({"vllm:spec_decode_num_accepted_tokens_total": 60}, engine="0"),
            labelled({"vllm:nixl_num_failed_transfers_total": 4}, engine="0"),
            labelled({"vllm:mooncake_num_failed_recvs_total": 5}, engine="0"),
            labelled({"vllm:nixl_num_kv_expired_reqs_total": 6}, engine="0"),
            labelled({"vllm:generation_tokens_total": 8, "vllm:generation_tokens_created": 1.7e9}),
        )
    )
    assert _read(metrics).live.counters == {
        NodeCounter.PROMPT_TOKENS: 40,
        NodeCounter.GENERATED_TOKENS: 8,
        NodeCounter.REQUESTS: 11,
        NodeCounter.ABORTED: 4,
        NodeCounter.PREEMPTED: 3,
        NodeCounter.NOT_A_NUMBER: 2,
        NodeCounter.DRAFTED: 90,
        NodeCounter.ACCEPTED: 60,
        NodeCounter.TRANSFER_FAILED: 9,
        NodeCounter.KV_EXPIRED: 6,
    }


@pytest.mark.parametrize(
    ("kind", "unclear", "clear"),
    [
        (
            NodeCounter.TRANSFER_FAILED,
            "nixl_num_failed_transfers_total",
            "nixl_num_failed_notifications_total",
        ),
        (
            NodeCounter.KV_EXPIRED,
            "mooncake_num_kv_expired_reqs_total",
            "nixl_num_kv_expired_reqs_total",
        ),
    ],
)
def test_a_part_that_is_unclear_leaves_no_sum(kind: NodeCounter, unclear: str, clear: str) -> None:
    metrics = labelled({f"vllm:{unclear}": 500}, pod="a")
    metrics += labelled({f"vllm:{unclear}": 500}, pod="b")
    metrics += labelled({f"vllm:{clear}": 0}, engine="0")
    snapshot = _read(metrics, role=Role.DECODE)
    assert kind not in snapshot.live.counters
    assert "several engines" in why(snapshot, kind)


def test_a_node_in_transfers_whose_role_nobody_knows_is_a_gap() -> None:
    metrics = labelled({"vllm:nixl_num_failed_transfers_total": 0}, engine="0")
    assert "role" in gaps_of(_read(metrics))
    assert "role" not in gaps_of(_read(metrics, role=Role.DECODE))
    assert "role" not in gaps_of(_read(_config()))


def test_a_counter_that_is_switched_off_says_how_to_have_it() -> None:
    assert "VLLM_COMPUTE_NANS_IN_LOGITS" in why(_read(_config()), "not_a_number")


def test_a_label_of_any_size_costs_only_itself() -> None:
    snapshot = _read(_config(hf_overrides="x" * 5_000))
    assert snapshot.facts.pool_tokens == 400_128
    assert "hf_overrides" not in snapshot.facts.settings
    huge = _read(_config(hf_overrides="x" * 100_000))
    assert huge.facts.pool_tokens is None
    assert "cannot be read" in why(huge, "settings")


def test_the_names_of_its_metrics_show_a_node_that_serves_another_list() -> None:
    snapshot = read(
        {"/metrics": "vllm:num_requests_running 1\n", "/v1/models": listing(owner="me")}
    )
    assert snapshot.facts.engine == "vllm"
    assert "version" in gaps_of(snapshot)


def test_adapters_beside_the_model_leave_its_context() -> None:
    models = listing("lamp", "adapter", owner="vllm")
    models["data"][1]["max_model_len"] = None
    facts = _read(**{"v1/models": models}).facts
    assert (facts.models, facts.advertised_tokens) == (("lamp", "adapter"), CONTEXT)
