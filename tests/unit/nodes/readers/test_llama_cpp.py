"""What a llama.cpp node says of itself: the context of one slot is the limit."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.nodes.record import NodeCounter, NodeSnapshot, Role
from tests.unit.nodes.readers.serving import gaps_of, read, why

METRICS = """
llamacpp:prompt_tokens_total 120
llamacpp:tokens_predicted_total 30
llamacpp:requests_processing 2
llamacpp:requests_deferred 1
"""


def _read(*, props: Any = None, metrics: Any = 501, **entry: Any) -> NodeSnapshot:
    said = {
        "default_generation_settings": {"n_ctx": 8_192, "prompt": "of nobody's business"},
        "total_slots": 4,
        "model_path": "/srv/secret-customer/lamp.gguf",
        "build_info": "b9801-1a2b3c4",
        "chat_template": "{{ messages }}",
    }
    model = {
        "id": "/srv/secret-customer/lamp.gguf",
        "owned_by": "llamacpp",
        "meta": {"n_ctx": 8_192, "n_ctx_train": 131_072},
        **entry,
    }
    pages = {
        "/props": said if props is None else props,
        "/v1/models": {"data": [model]},
        "/metrics": metrics,
    }
    return read(pages)


def test_a_node_states_its_build_its_slots_and_their_context() -> None:
    facts = _read().facts
    assert (facts.engine, facts.version) == ("llama.cpp", "b9801-1a2b3c4")
    assert facts.role is Role.UNIFIED
    assert (facts.enforced_tokens, facts.advertised_tokens, facts.slots) == (8_192, 8_192, 4)
    assert facts.settings == {"total_slots": 4, "n_ctx_train": 131_072}


def test_a_model_is_named_without_its_folder() -> None:
    snapshot = _read()
    assert snapshot.facts.models == ("lamp.gguf",)
    assert "customer" not in repr(snapshot)
    assert "nobody" not in repr(snapshot)


def test_metrics_are_read_where_they_are_on() -> None:
    live = _read(metrics=METRICS).live
    assert (live.kv.running, live.kv.queued) == (2, 1)
    assert live.counters == {NodeCounter.PROMPT_TOKENS: 120, NodeCounter.GENERATED_TOKENS: 30}
    assert "--metrics" in why(_read(), "metrics")


def test_what_is_drafted_is_counted_where_it_is_said() -> None:
    drafting = f"{METRICS}llamacpp:spec_decode_num_draft_tokens_total 9\n"
    drafting += "llamacpp:spec_decode_num_accepted_tokens_total 4\n"
    counters = _read(metrics=drafting).live.counters
    assert (counters[NodeCounter.DRAFTED], counters[NodeCounter.ACCEPTED]) == (9, 4)
    assert "drafted" not in gaps_of(_read(metrics=METRICS))


@pytest.mark.parametrize("context", [None, 0, -1, "8192", True, []])
def test_a_slot_without_a_context_is_a_gap(context: object) -> None:
    snapshot = _read(props={"default_generation_settings": {"n_ctx": context}})
    assert snapshot.facts.enforced_tokens is None
    assert {"enforced_tokens", "slots", "version"} <= gaps_of(snapshot)


def test_a_list_of_models_without_a_context_is_a_gap() -> None:
    snapshot = _read(meta=None)
    assert snapshot.facts.advertised_tokens is None
    assert "advertised_tokens" in gaps_of(snapshot)


@pytest.mark.parametrize("status", [400, 404, 503])
def test_a_router_of_several_models_has_no_page_of_its_own(status: int) -> None:
    snapshot = _read(props=status)
    assert snapshot.facts.engine == "llama.cpp"
    assert {"enforced_tokens", "version"} <= gaps_of(snapshot)
