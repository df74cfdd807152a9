"""Bytes a token takes, held against what engines wrote into their logs; and what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.gpu import Unattributed
from monitor.gpu import (
    CannotTellError,
    Parallelism,
    UnknownShapeError,
    kv_bytes,
    read_shape,
    shape_of,
)
from tests.unit.gpu.shapes import (
    DEEPSEEK_V3,
    HYBRID,
    KIMI_K2,
    KNOWN,
    LLAMA_MHA,
    QWEN2_32B,
    QWEN3_235B,
    SPARSE,
    WINDOWED,
)

GIB = 1024**3
ALONE = Parallelism(tp=1, pp=1, dp=1)


def every_token(told: dict[str, Any], spread: Parallelism = ALONE, dtype: str = "auto") -> float:
    return kv_bytes(shape_of(told), spread, dtype).every_token


# What an engine said at its start: tokens, and the pool in GiB to two places. Sources: the first
# https://github.com/vllm-project/vllm/issues/21348, the others logs that operators made public.
LOGGED = [
    (QWEN3_235B, 4, "auto", 367_404, 8.23 + 8.23),
    (KIMI_K2, 8, "auto", 2_454_421, 160.63),
    (DEEPSEEK_V3, 8, "fp8_e4m3", 524_288, 17.16),
    (HYBRID, 1, "fp8_e4m3", 1_206_208, 36.81),
    (QWEN2_32B, 4, "bfloat16", 46_611, 1.42 + 1.42),
]


@pytest.mark.parametrize(("told", "tp", "dtype", "tokens", "gib"), LOGGED)
def test_a_pool_is_as_large_as_its_engine_logged(
    told: dict[str, Any], tp: int, dtype: str, tokens: int, gib: float
) -> None:
    pool = tokens * every_token(told, Parallelism(tp=tp, pp=1, dp=1), dtype)
    # Each figure was rounded to two places, those of keys and values apart.
    assert abs(pool / GIB - gib) < 0.011


def test_a_pool_fits_into_what_another_engine_found_available() -> None:
    pool = 178_880 * every_token(QWEN3_235B, Parallelism(tp=4, pp=1))
    assert 0.98 * 8.11 < pool / GIB <= 8.11


def test_the_formulas_say_what_was_computed_by_hand() -> None:
    four, eight = Parallelism(tp=4, pp=1), Parallelism(tp=8, pp=1)
    assert every_token(QWEN3_235B, four) == 94 * 1 * 256 * 2 == 48_128
    assert every_token(KIMI_K2, eight) == 61 * 576 * 2 == 70_272
    assert every_token(DEEPSEEK_V3, eight, "fp8_e5m2") == 61 * 576 == 35_136
    assert every_token(HYBRID, dtype="fp8") == 16 * 4 * 512 == 32_768
    assert every_token(LLAMA_MHA) == 32 * 32 * 256 * 2
    assert every_token(SPARSE, eight) == 61 * (576 * 2 + 128 + 4)


def test_narrow_types_have_their_scales() -> None:
    assert every_token(LLAMA_MHA, dtype="mxfp8") == 32 * 32 * 256 * (1 + 1 / 32)
    assert every_token(LLAMA_MHA, dtype="fp4_e2m1") == 32 * (32 * 256 / 2 + 32 * 256 / 16)
    assert every_token(DEEPSEEK_V3, dtype="fp4_e2m1") == 61 * (576 / 2 + 576 // 16)


def test_a_gpu_has_one_head_at_least() -> None:
    assert every_token(QWEN3_235B, Parallelism(tp=16, pp=1)) == every_token(
        QWEN3_235B, Parallelism(tp=4, pp=1)
    )


def test_latents_are_not_divided() -> None:
    assert every_token(DEEPSEEK_V3, Parallelism(tp=8, pp=1)) == every_token(DEEPSEEK_V3)


def test_attention_in_data_parallel_groups_spreads_heads_over_a_group_only() -> None:
    grouped = Parallelism(tp=8, pp=1, dp=4, dp_attention=True)
    assert every_token(QWEN2_32B, grouped) == every_token(QWEN2_32B, Parallelism(tp=2, pp=1))


def test_a_stage_of_the_pipeline_has_its_own_layers_only() -> None:
    assert every_token(HYBRID, Parallelism(tp=1, pp=4)) == every_token(HYBRID) / 4


def test_values_may_be_shorter_than_keys() -> None:
    told = {**LLAMA_MHA, "head_dim": 192, "v_head_dim": 128}
    assert every_token(told) == 32 * 32 * (192 + 128) * 2


def test_a_rest_of_layers_leaves_the_stages_unknown_even_if_each_attends_as_often() -> None:
    kinds = ["full_attention", "linear_attention"] * 2 + ["full_attention"]
    inner = {**HYBRID["text_config"], "num_hidden_layers": 5, "layer_types": kinds}
    with pytest.raises(CannotTellError):
        every_token({**HYBRID, "text_config": inner}, Parallelism(tp=1, pp=2))


def test_layers_with_a_window_keep_no_more_than_it() -> None:
    told = kv_bytes(shape_of(WINDOWED), ALONE, "auto")
    layer = 8 * 128 * 2
    assert (told.every_token, told.within_window, told.window_tokens) == (
        18 * layer,
        18 * layer,
        128,
    )


@pytest.mark.parametrize(
    ("told", "spread", "dtype", "reason"),
    [
        (QWEN3_235B, Parallelism(), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (QWEN3_235B, Parallelism(tp=4), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (QWEN3_235B, Parallelism(tp=0, pp=1), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (QWEN3_235B, Parallelism(tp=3, pp=1), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (QWEN3_235B, Parallelism(tp=4, pp=4), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (HYBRID, Parallelism(tp=1, pp=32), "auto", Unattributed.UNKNOWN_PARALLELISM),
        (
            QWEN3_235B,
            Parallelism(tp=4, pp=1, dp=3, dp_attention=True),
            "auto",
            Unattributed.UNKNOWN_PARALLELISM,
        ),
        (
            QWEN3_235B,
            Parallelism(tp=4, pp=1, dp_attention=True),
            "auto",
            Unattributed.UNKNOWN_PARALLELISM,
        ),
        (QWEN3_235B, ALONE, "nvfp4", Unattributed.UNKNOWN_DTYPE),
        (QWEN3_235B, ALONE, None, Unattributed.UNKNOWN_DTYPE),
        (SPARSE, ALONE, "fp8_e4m3", Unattributed.UNKNOWN_DTYPE),
        ({**LLAMA_MHA, "torch_dtype": "unheard"}, ALONE, "auto", Unattributed.UNKNOWN_DTYPE),
        (
            {**LLAMA_MHA, "quantization_config": {"kv_cache_scheme": {"num_bits": 8}}},
            ALONE,
            "auto",
            Unattributed.UNKNOWN_DTYPE,
        ),
    ],
)
def test_what_is_not_known_is_not_guessed(
    told: dict[str, Any], spread: Parallelism, dtype: str | None, reason: Unattributed
) -> None:
    with pytest.raises(CannotTellError) as raised:
        kv_bytes(shape_of(told), spread, dtype)
    assert raised.value.reason is reason


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "unheard_of"},
        {"model_type": None},
        {"num_hidden_layers": 0},
        {"num_hidden_layers": True},
        {"num_hidden_layers": 1e3},
        {"num_hidden_layers": 10**9},
        {"num_key_value_heads": None},
        {"num_key_value_heads": 65},
        {"hidden_size": 4097},
        {"hidden_size": None},
        {"head_dim": "128"},
        {"num_kv_shared_layers": 4},
        {"compress_ratios": [4]},
        {"layer_types": ["full_attention"]},
        {"layer_types": ["full_attention"] * 31 + ["chunked_attention"]},
        {"layer_types": ["full_attention"] * 31 + [["a", "list"]]},
        {"layer_types": ["sliding_attention"] * 32},
        {"sliding_window": 4096},
        {"full_attention_interval": 0},
        # Its default is not what follows from the others.
        {"model_type": "qwen3"},
    ],
)
def test_a_configuration_that_is_not_understood_is_unknown(change: dict[str, Any]) -> None:
    with pytest.raises(UnknownShapeError):
        shape_of({**LLAMA_MHA, **change})


@pytest.mark.parametrize(
    "told", [{**DEEPSEEK_V3, "index_head_dim": 128}, {**SPARSE, "index_topk_freq": 4}]
)
def test_sparse_attention_of_another_kind_is_unknown(told: dict[str, Any]) -> None:
    with pytest.raises(UnknownShapeError):
        shape_of(told)


def test_a_hybrid_that_does_not_list_its_layers_is_unknown() -> None:
    inner = {k: v for k, v in HYBRID["text_config"].items() if k != "full_attention_interval"}
    with pytest.raises(UnknownShapeError):
        shape_of({**HYBRID, "text_config": inner})


def test_a_file_is_read_within_bounds(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA_MHA), "utf-8")
    assert read_shape(file) == shape_of(LLAMA_MHA)
    for text in ("", "[]", "{", "[" * 100_000, '"' + "x" * 2_000_000 + '"'):
        file.write_text(text, "utf-8")
        with pytest.raises(UnknownShapeError):
            read_shape(file)
    with pytest.raises(UnknownShapeError):
        read_shape(tmp_path / "missing.json")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(st.sampled_from(KNOWN), st.data())
def test_any_change_of_a_configuration_is_unknown_or_a_plain_figure(
    told: dict[str, Any], data: st.DataObject
) -> None:
    inner = told.get("text_config", told)
    key = data.draw(st.sampled_from(sorted(inner)))
    changed = {**inner, key: data.draw(_VALUES)}
    spread = Parallelism(tp=data.draw(st.integers(-1, 64)), pp=data.draw(st.integers(-1, 64)), dp=1)
    dtype = data.draw(st.sampled_from(["auto", "fp8", "fp4_e2m1", "mxfp8", "x"]))
    try:
        found = kv_bytes(shape_of({**told, "text_config": changed}), spread, dtype)
    except (UnknownShapeError, CannotTellError):
        return
    assert found.every_token >= 0
    assert found.within_window >= 0


@given(
    st.integers(1, 8),
    st.integers(0, 3),
    st.integers(1, 4),
    st.integers(16, 256),
    st.sampled_from(["bf16", "fp8", "mxfp8"]),
)
def test_heads_on_all_gpus_take_what_one_gpu_would(
    layers: int, power: int, heads: int, head: int, dtype: str
) -> None:
    tp = 2**power
    told = {
        "model_type": "llama",
        "num_hidden_layers": layers,
        "num_attention_heads": heads * tp,
        "num_key_value_heads": heads * tp,
        "head_dim": head,
    }
    spread = every_token(told, Parallelism(tp=tp, pp=1), dtype) * tp
    assert spread == pytest.approx(every_token(told, ALONE, dtype))
