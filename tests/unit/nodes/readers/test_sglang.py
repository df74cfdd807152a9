"""What an SGLang node says of itself, by version: facts where it says them, gaps where not."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.reading import NodeAddress
from monitor.nodes.record import Role
from tests.unit.nodes.readers.serving import URL, Node, gaps_of, read, read_with, why
from tests.unit.nodes.readers.shapes import CONTEXT, POOL, info, listing, sglang_metrics


def _node(*, metrics: Any = 404, models: Any = None, **options: Any) -> dict[str, Any]:
    return {
        "/server_info": info(**options),
        "/v1/models": listing() if models is None else models,
        "/metrics": metrics,
    }


def test_a_node_states_its_context_its_limit_and_its_pool() -> None:
    facts = read(_node()).facts
    assert (facts.engine, facts.version, facts.role) == ("sglang", "0.5.22", Role.UNIFIED)
    assert facts.models == ("lamp",)
    assert facts.advertised_tokens == CONTEXT
    assert facts.enforced_tokens == POOL - 6
    assert facts.pool_tokens == POOL
    assert facts.pool_bound is True
    assert facts.settings["page_size"] == 64


@pytest.mark.parametrize(
    ("pool", "bound"),
    [(CONTEXT - 1, True), (CONTEXT, False), (CONTEXT + 1, False), (10 * CONTEXT, False)],
)
def test_the_pool_binds_exactly_where_it_is_smaller_than_the_context(
    pool: int, bound: bool
) -> None:
    assert read(_node(pool=pool)).facts.pool_bound is bound


def test_the_schedulers_limit_tells_of_a_sharded_pool_too() -> None:
    """Each part of the pool is small, and a request may use all parts."""
    pages = _node(pool=CONTEXT // 2, dcp_size=4, max_req_input_len=CONTEXT - 6)
    assert read(pages).facts.pool_bound is False


def test_of_a_sharded_pool_without_the_schedulers_limit_nothing_is_concluded() -> None:
    pages = _node(pool=CONTEXT // 2, dcp_size=4, max_req_input_len=None)
    snapshot = read(pages)
    assert snapshot.facts.pool_bound is None
    assert "sharded" in why(snapshot, "pool_bound")


def test_the_older_name_is_asked_where_the_newer_is_not_served() -> None:
    pages = {"/get_server_info": info(version="0.5.3"), "/v1/models": listing()}
    facts = read(pages).facts
    assert (facts.version, facts.enforced_tokens) == ("0.5.3", POOL - 6)


@pytest.mark.parametrize(
    ("mode", "role"),
    [("null", Role.UNIFIED), ("prefill", Role.PREFILL), ("decode", Role.DECODE)],
)
def test_the_mode_is_the_role(mode: str, role: Role) -> None:
    snapshot = read(_node(disaggregation_mode=mode))
    assert (snapshot.facts.role, snapshot.role) == (role, role)
    assert "role" not in gaps_of(snapshot)


@pytest.mark.parametrize("mode", [None, "", "PREFILL", 1, True, ["prefill"], "dynamic"])
def test_a_mode_that_is_no_known_word_is_a_gap_and_not_unified(mode: object) -> None:
    snapshot = read(_node(disaggregation_mode=mode))
    assert snapshot.facts.role is None
    assert "role" in gaps_of(snapshot)


def test_a_server_that_states_two_roles_has_none() -> None:
    states = [{"disaggregation_mode": "decode", "memory_usage": {"token_capacity": POOL}}]
    snapshot = read(_node(disaggregation_mode="prefill", internal_states=states))
    assert snapshot.facts.role is None
    assert "two roles" in why(snapshot, "role")


@pytest.mark.parametrize(
    "page",
    [
        {"/model_info": {"disaggregation_mode": "decode"}},
        {"/get_model_info": {"disaggregation_mode": "decode"}},
        {"/v1/loads": {"loads": [{"dp_rank": 0, "disaggregation": {"mode": "decode"}}]}},
        {"/metrics": sglang_metrics(engine_type="decode")},
    ],
)
def test_another_page_may_tell_the_role(page: dict[str, Any]) -> None:
    pages = _node()
    del pages["/server_info"]["disaggregation_mode"]
    assert read(pages | page).facts.role is Role.DECODE


@pytest.mark.parametrize(
    ("version", "role"),
    [
        ("0.4.6.post5", None),
        ("0.5.3", None),
        ("0.5.3.post3", None),
        ("0.5.6.post2", None),
        ("0.5.8", None),
        ("0.5.9", Role.UNIFIED),
        ("0.5.22", Role.UNIFIED),
        ("0.0.0.dev1+g70df09b83", None),
        (None, None),
    ],
)
def test_old_nodes_say_unified_in_their_metrics_whatever_they_are(
    version: str | None, role: Role | None
) -> None:
    pages = _node(version=version, metrics=sglang_metrics())
    del pages["/server_info"]["disaggregation_mode"]
    snapshot = read(pages)
    assert snapshot.facts.role is role
    assert ("role" in gaps_of(snapshot)) is (role is None)


@pytest.mark.parametrize(
    "page",
    [
        {"/model_info": {"disaggregation_mode": "prefill"}},
        {"/get_model_info": {"disaggregation_mode": "prefill"}},
        {"/v1/loads": {"loads": [{"dp_rank": 0, "disaggregation": {"mode": "prefill"}}]}},
        {"/metrics": sglang_metrics(engine_type="prefill")},
        {"/metrics": sglang_metrics(engine_type="dynamic")},
        {"/model_info": {"disaggregation_mode": "PREFILL"}},
    ],
)
@pytest.mark.parametrize("mode", ["null", "decode"])
def test_every_page_that_tells_the_role_has_to_agree(page: dict[str, Any], mode: str) -> None:
    snapshot = read(_node(version="0.5.18", disaggregation_mode=mode) | page)
    assert snapshot.facts.role is None
    assert "role" in gaps_of(snapshot)


@pytest.mark.parametrize("state", ["PREFILL", "dynamic", 1])
def test_an_unknown_word_of_a_scheduler_leaves_no_role(state: object) -> None:
    snapshot = read(
        _node(
            internal_states=[
                {"disaggregation_mode": state, "memory_usage": {"token_capacity": POOL}}
            ]
        )
    )
    assert snapshot.facts.role is None
    assert "none of null, prefill and decode" in why(snapshot, "role")


def test_metrics_of_a_relay_are_no_word_of_the_node() -> None:
    node = Node(_node(metrics=sglang_metrics(engine_type="decode")))
    relay = NodeAddress(node="a", target="t", url=URL, metrics_url="http://relay.test/metrics")
    assert read_with(node, relay).facts.role is Role.UNIFIED


@pytest.mark.parametrize("role", list(Role))
def test_a_node_that_says_nothing_of_its_role_has_the_one_it_was_given(role: Role) -> None:
    pages = _node()
    del pages["/server_info"]["disaggregation_mode"]
    assert read(pages).facts.role is None
    snapshot = read(pages, role=role)
    assert (snapshot.facts.role, snapshot.role) == (role, role)
    assert "role" not in gaps_of(snapshot)


def test_a_node_that_contradicts_itself_has_not_the_role_it_was_given() -> None:
    pages = _node() | {"/model_info": {"disaggregation_mode": "decode"}}
    assert read(pages, role=Role.UNIFIED).facts.role is None


def test_a_role_that_the_configuration_contradicts_is_told() -> None:
    snapshot = read(_node(disaggregation_mode="decode"), role=Role.UNIFIED)
    assert (snapshot.role, snapshot.facts.role) == (Role.UNIFIED, Role.DECODE)
    assert why(snapshot, "role") == "the configuration says unified, the node says decode"


def test_the_smallest_pool_of_all_ranks_is_what_a_request_can_use() -> None:
    states = [{"memory_usage": {"token_capacity": size}} for size in (POOL, POOL - 64, POOL)]
    facts = read(_node(dp_size=3, internal_states=states)).facts
    assert facts.pool_tokens == POOL - 64


def test_a_rank_with_a_smaller_pool_binds_though_the_first_does_not() -> None:
    states = [{"memory_usage": {"token_capacity": size}} for size in (2 * CONTEXT, CONTEXT // 2)]
    facts = read(_node(pool=2 * CONTEXT, dp_size=2, internal_states=states)).facts
    assert facts.enforced_tokens == CONTEXT - 6
    assert facts.pool_bound is True


@pytest.mark.parametrize(("pool", "bound"), [(CONTEXT - 64, True), (2 * CONTEXT, False)])
def test_a_diffusion_model_is_held_to_its_pool(pool: int, bound: bool) -> None:
    """Its scheduler keeps a block of room more, which is no sign of a small pool."""
    limit = min(pool, CONTEXT) - 6 - 32
    pages = _node(pool=pool, max_req_input_len=limit, dllm_algorithm="LowConfidence")
    assert read(pages).facts.pool_bound is bound


def test_of_parts_that_differ_nothing_is_concluded_but_by_the_limit() -> None:
    """Each part is below the context, which says nothing of all of them together."""
    states = [{"memory_usage": {"token_capacity": size}} for size in (50_000, 49_920)]
    options = {"dp_size": 2, "dcp_size": 4, "internal_states": states}
    whole = read(_node(pool=50_000, max_req_input_len=CONTEXT - 6, **options))
    assert whole.facts.pool_bound is None
    assert read(_node(pool=50_000, max_req_input_len=9_994, **options)).facts.pool_bound is True


def test_pages_that_state_two_roles_leave_none() -> None:
    pages = _node(metrics=sglang_metrics(engine_type="decode"))
    del pages["/server_info"]["disaggregation_mode"]
    loads = {"loads": [{"dp_rank": 0, "disaggregation": {"mode": "null"}}]}
    pages |= {"/model_info": {"disaggregation_mode": "decode"}, "/v1/loads": loads}
    snapshot = read(pages)
    assert snapshot.facts.role is None
    assert "two roles" in why(snapshot, "role")


def test_a_rank_that_does_not_tell_its_pool_is_a_gap() -> None:
    snapshot = read(_node(dp_size=4))
    assert snapshot.facts.pool_tokens == POOL
    assert "one may be smaller" in why(snapshot, "pool_tokens")


def test_metrics_of_every_rank_close_that_gap() -> None:
    metrics = "".join(sglang_metrics(dp_rank=str(rank)) for rank in range(4))
    assert "pool_tokens" not in gaps_of(read(_node(dp_size=4, metrics=metrics)))


@pytest.mark.parametrize("value", [None, 0, -1, "40960", True, 40_960.5, 1e300, [], {}])
def test_a_pool_that_is_no_number_of_tokens_is_a_gap(value: object) -> None:
    states = [{"memory_usage": {"token_capacity": value}}]
    snapshot = read(_node(max_total_num_tokens=value, internal_states=states))
    assert snapshot.facts.pool_tokens is None
    assert "pool_tokens" in gaps_of(snapshot)


@pytest.mark.parametrize("value", [None, 0, -1, "98304", True, 1e300])
def test_a_limit_that_is_none_leaves_the_pool_to_tell(value: object) -> None:
    snapshot = read(_node(max_req_input_len=value))
    assert snapshot.facts.enforced_tokens is None
    assert "enforced_tokens" in gaps_of(snapshot)
    assert snapshot.facts.pool_bound is True


def test_without_limit_and_pool_nothing_is_said_of_what_binds() -> None:
    pages = _node(max_req_input_len=None, max_total_num_tokens=None, internal_states=[])
    snapshot = read(pages)
    assert snapshot.facts.pool_bound is None
    assert {"enforced_tokens", "pool_tokens", "pool_bound"} <= gaps_of(snapshot)


def test_the_gauge_tells_the_context_where_the_list_of_models_does_not() -> None:
    pages = _node(models=listing(context=None), metrics=sglang_metrics())
    assert read(pages).facts.advertised_tokens == CONTEXT


def test_a_context_that_was_not_asked_for_is_not_the_context() -> None:
    """``context_length`` is null where the model's own context is served."""
    snapshot = read(_node(models=listing(context=None), context_length=None))
    assert snapshot.facts.advertised_tokens is None
    assert {"advertised_tokens", "pool_bound"} <= gaps_of(snapshot)
    told = read(_node(models=listing(context=None), context_length=CONTEXT))
    assert told.facts.advertised_tokens == CONTEXT


def test_a_build_from_a_repository_keeps_its_version_as_it_is() -> None:
    assert read(_node(version="0.0.0.dev1+g70df09b83")).facts.version == "0.0.0.dev1+g70df09b83"


@pytest.mark.parametrize("version", [None, 5, "", "0.5.22 <b>", "x" * 65, "0.5.22\n"])
def test_a_version_that_is_no_word_is_a_gap(version: object) -> None:
    snapshot = read(_node(version=version))
    assert snapshot.facts.version is None
    assert "version" in gaps_of(snapshot)


@pytest.mark.parametrize(
    ("given", "scheduled", "kept"),
    [
        (False, [True], None),
        (True, [False], None),
        (False, [1], None),
        (None, [True], True),
        (False, [False, True], None),
        (False, [False, False], False),
    ],
)
def test_a_flag_that_options_and_schedulers_contradict_is_a_gap(
    given: object, scheduled: list[object], kept: bool | None
) -> None:
    states = [
        {"allow_auto_truncate": each, "memory_usage": {"token_capacity": POOL}}
        for each in scheduled
    ]
    options = {"dp_size": len(states), "internal_states": states}
    snapshot = read(_node(allow_auto_truncate=given, **options))
    assert snapshot.facts.settings.get("allow_auto_truncate") is kept
    assert ("allow_auto_truncate" in gaps_of(snapshot)) is (kept is None)


def test_what_is_left_to_the_schedulers_is_what_they_chose() -> None:
    state = {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e4m3", "page_size": 1}
    state |= {"memory_usage": {"token_capacity": POOL}}
    pages = _node(attention_backend=None, internal_states=[state])
    settings = read(pages).facts.settings
    assert (settings["attention_backend"], settings["kv_cache_dtype"]) == ("fa3", "fp8_e4m3")
    assert settings["page_size"] == 64


def test_settings_are_those_on_the_list_and_nothing_else() -> None:
    settings = read(_node(enable_hierarchical_cache=True, nccl_port=5)).facts.settings
    assert settings["enable_hierarchical_cache"] is True
    assert settings["speculative_algorithm"] is None
    assert not {"nccl_port", "model_path", "served_model_name", "status"} & settings.keys()


@pytest.mark.parametrize(
    "text", ["Zk3vQ9xLm2Rt7Wp5Yb8N", "a" * 17, "two words", "ü", "x;y", "", "EAGLE\n", "-v"]
)
def test_a_setting_that_is_no_plain_short_word_is_dropped(text: str) -> None:
    assert "kv_cache_dtype" not in read(_node(kv_cache_dtype=text)).facts.settings


def test_a_node_without_metrics_says_how_to_have_them() -> None:
    assert "--enable-metrics" in why(read(_node()), "metrics")
