"""Every public sample is read as the facts that are in it."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.record import KvUse, NodeSnapshot, Role
from monitor.nodes.version import VersionKind, read_version
from tests.unit.nodes.readers.public import document, text
from tests.unit.nodes.readers.serving import gaps_of, read, why


def _names(snapshot: NodeSnapshot) -> dict[str, float]:
    return {str(kind): value for kind, value in snapshot.live.counters.items()}


def test_a_development_build_of_sglang() -> None:
    models = document("sglang_models_and_model_info_2026-07.json")
    pages = {
        "/get_server_info": document("sglang_server_info_dev_2026-07.json"),
        "/v1/models": models["v1_models"],
        "/get_model_info": models["get_model_info"],
    }
    snapshot = read(pages)
    facts = snapshot.facts
    assert facts.engine == "sglang"
    assert facts.version == "0.0.0.dev1+g70df09b83"
    assert read_version(facts.version).kind is VersionKind.DEVELOPMENT
    assert facts.models == ("qwen36-27b-fp8",)
    assert facts.advertised_tokens == 262_144
    assert facts.enforced_tokens == 262_138
    assert facts.pool_tokens == 1_206_208
    assert facts.pool_bound is False
    assert facts.role is None
    assert "role" in gaps_of(snapshot)
    assert facts.settings["speculative_algorithm"] == "EAGLE"
    assert facts.settings["speculative_num_draft_tokens"] == 4
    assert facts.settings["kv_cache_dtype"] == "fp8_e4m3"
    assert facts.settings["tp_size"] == 1
    assert "MODEL_DIR" not in repr(snapshot)
    assert snapshot.live.accept_length == 3.364100464100464


def _incident(sample: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Serve a sample's facts on the pages that hold them in a running server."""
    lens = {"/v1/models": {"data": [{"id": "glm", "max_model_len": sample["context_len"]}]}}
    keys = ("version", "disaggregation_mode", "disaggregation_transfer_backend", "dp_size")
    keys += ("tp_size", "page_size", "kv_cache_dtype", "enable_hierarchical_cache")
    keys += ("max_total_num_tokens",)
    return lens | {"/server_info": {key: sample[key] for key in keys} | options}


def test_the_prefill_node_of_the_public_report() -> None:
    snapshot = read(_incident(document("sglang_issue30233_pd_facts.json")))
    facts = snapshot.facts
    assert (facts.version, facts.role) == ("0.5.11", Role.PREFILL)
    assert (facts.advertised_tokens, facts.pool_tokens) == (1_048_576, 284_928)
    assert facts.pool_bound is True
    assert facts.enforced_tokens is None
    assert {"enforced_tokens", "pool_tokens"} <= gaps_of(snapshot)
    assert facts.settings["disaggregation_transfer_backend"] == "mooncake"
    assert facts.settings["enable_hierarchical_cache"] is True
    assert facts.settings["page_size"] == 64


def test_a_limit_of_the_public_report_agrees_with_its_gauges() -> None:
    sample = document("sglang_issue30233_pd_facts.json")
    limit = sample["max_total_num_tokens"] - 6
    told = read(_incident(sample, max_req_input_len=limit)).facts
    assert (told.enforced_tokens, told.pool_bound) == (284_922, True)
    assert sample["trigger_input_tokens"] > told.enforced_tokens


def test_a_single_node_whose_pool_is_below_its_context() -> None:
    sample = document("sglang_issue4048_pool_bound.json")
    pages = {
        "/get_server_info": {
            "version": "0.4.3.post2",
            "context_length": sample["context_length_flag"],
            "max_req_input_len": sample["scheduler_limit"],
            "tp_size": 8,
        }
    }
    facts = read(pages, engine="sglang").facts
    assert (facts.advertised_tokens, facts.enforced_tokens) == (163_840, 59_862)
    assert facts.pool_bound is True


def test_metrics_of_sglang_0_5_10() -> None:
    snapshot = read({"/metrics": text("sglang_metrics_0.5.10_fixture.prom")})
    assert snapshot.facts.engine == "sglang"
    assert snapshot.facts.pool_tokens == 430_839
    assert snapshot.facts.advertised_tokens is None
    assert snapshot.facts.pool_bound is None
    assert snapshot.live.kv == KvUse(
        capacity_tokens=430_839, used_tokens=37, usage_ratio=0.25, running=0, queued=0
    )
    assert _names(snapshot) == {"prompt_tokens": 5, "generated_tokens": 32, "requests": 1}
    assert snapshot.live.accept_length is None
    assert {"version", "role", "advertised_tokens", "enforced_tokens"} <= gaps_of(snapshot)


def test_metrics_of_sglang_in_early_2025() -> None:
    snapshot = read({"/metrics": text("sglang_metrics_docs_2025.prom")})
    assert snapshot.facts.engine == "sglang"
    assert snapshot.facts.pool_tokens is None
    assert snapshot.live.kv == KvUse(
        used_tokens=123_859, usage_ratio=0.28, running=162, queued=2_826
    )
    assert _names(snapshot) == {"prompt_tokens": 8_128_902, "generated_tokens": 7_557_572}
    assert {"pool_tokens", "pool_bound", "version"} <= gaps_of(snapshot)


def test_the_prefill_side_of_a_page_of_both() -> None:
    pair = {"/metrics": text("sglang_metrics_pd_pair_fixture_2026.prom")}
    snapshot = read(pair, role=Role.PREFILL)
    assert snapshot.live.kv == KvUse(usage_ratio=0.0, running=0, queued=1)
    assert snapshot.facts.pool_tokens is None
    assert _names(snapshot) == {"requests": 13, "aborted": 1}
    assert "used_tokens" in gaps_of(snapshot)


def test_the_decode_side_of_a_page_of_both() -> None:
    pair = {"/metrics": text("sglang_metrics_pd_pair_fixture_2026.prom")}
    snapshot = read(pair, role=Role.DECODE)
    assert snapshot.facts.pool_tokens == 441_792
    assert snapshot.live.kv == KvUse(
        capacity_tokens=441_792,
        used_tokens=145_856,
        usage_ratio=0.33,
        running=1,
        in_transfer=3,
    )
    assert _names(snapshot) == {"requests": 14, "aborted": 0}


def test_a_page_of_both_without_a_role_says_nothing_of_either() -> None:
    snapshot = read({"/metrics": text("sglang_metrics_pd_pair_fixture_2026.prom")})
    assert snapshot.facts.role is None
    assert snapshot.live.counters == {}
    assert "several engines" in why(snapshot, "running")


def test_a_release_candidate_of_vllm_0_20() -> None:
    sample = document("vllm_models_and_chat_0.20.2.json")
    snapshot = read({"/version": sample["version"], "/v1/models": sample["v1_models"]})
    facts = snapshot.facts
    assert (facts.engine, facts.version) == ("vllm", "0.20.2rc1.dev9+g01d4d1ad3")
    assert read_version("0.20.2rc1.dev9+g01d4d1ad3").number is None
    assert facts.models == ("qwen36-27b-fp8",)
    assert (facts.advertised_tokens, facts.enforced_tokens) == (262_144, 262_144)
    assert facts.pool_tokens is None
    assert {"pool_tokens", "metrics"} <= gaps_of(snapshot)


def test_the_pool_of_vllm_0_29() -> None:
    snapshot = read({"/metrics": text("vllm_metrics_0.29_cache_config.prom")})
    facts = snapshot.facts
    assert facts.engine == "vllm"
    assert facts.pool_tokens == 10_576
    assert facts.settings["num_gpu_blocks"] == 661
    assert facts.settings["gpu_memory_utilization"] == 0.7
    assert facts.settings["kv_cache_max_concurrency"] == 2.58203125
    assert snapshot.live.started_seconds == 1.78994622059e9
    assert snapshot.live.kv.capacity_tokens == 10_576


def test_metrics_of_vllm_0_10() -> None:
    snapshot = read({"/metrics": text("vllm_metrics_0.10.0_v1.prom")})
    assert snapshot.facts.engine == "vllm"
    assert snapshot.live.kv.usage_ratio == 9.75010481363281e-06
    assert snapshot.facts.pool_tokens is None
    assert "pool_tokens" in gaps_of(snapshot)


def test_an_engine_without_a_reader_is_told_as_one() -> None:
    stats = document("trtllm_iteration_stats_2025-04.json")
    snapshot = read({"/metrics": [stats], "/version": {"version": "1.0"}})
    assert snapshot.facts.engine is None
    assert gaps_of(snapshot) == {"engine"}


@pytest.mark.parametrize("engine", ["sglang", "vllm", "llama.cpp", "ollama"])
@pytest.mark.parametrize(
    "name", ["trtllm_iteration_stats_2025-04.json", "workers_ai_overlength_errors.json"]
)
def test_a_page_of_another_kind_gives_no_fact(engine: str, name: str) -> None:
    pages = dict.fromkeys(
        ("/server_info", "/v1/models", "/metrics", "/props", "/api/ps", "/version"), document(name)
    )
    facts = read(pages, engine=engine).facts
    assert (facts.advertised_tokens, facts.enforced_tokens, facts.pool_tokens) == (None,) * 3
    assert (facts.pool_bound, facts.version) == (None, None)
