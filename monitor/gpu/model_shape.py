"""What a model's ``config.json`` says of its KV cache: layer by layer, or that we do not know.

Only kinds of model are known whose formula was read in an engine's source (``_KINDS``). Keys that
change what a layer keeps, and of which we know no formula, make any model unknown: nothing is
guessed. Whoever knows better gives the bytes per token in the configuration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

MOST_BYTES = 1_048_576
MOST_LAYERS = 1_024
MOST_SIZE = 1_000_000


class LayerKind(StrEnum):
    """What a layer keeps: every token, those within a window, or a state of fixed size."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """What counts for the KV cache. ``latent`` is set for MLA, ``index_head`` for DSA besides.

    Sizes are numbers of values, not bytes. ``dtype`` is what the weights are computed in, and
    ``kv_dtype_given`` says that the checkpoint chooses the type of its KV cache itself.
    """

    layers: tuple[LayerKind, ...]
    kv_heads: int = 0
    head: int = 0
    value_head: int = 0
    latent: int | None = None
    index_head: int | None = None
    window_tokens: int | None = None
    dtype: str = ""
    kv_dtype_given: bool = False


class UnknownShapeError(Exception):
    """A configuration that is not understood; the words are ours, none is the file's."""


class UnreadableShapeError(UnknownShapeError):
    """There is no file to be understood: it cannot be read, or is nothing of the kind."""


class _Kind(StrEnum):
    HEADS = "heads"
    MLA = "mla"
    DSA = "dsa"


# By `model_type`. MHA is the case of as many key as query heads.
_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(
        (
            *("llama", "mistral", "mixtral", "ministral3"),
            *("qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next"),
            *("qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"),
            *("glm", "glm4", "glm4_moe", "gpt_oss", "phi3", "olmo2", "seed_oss"),
            *("gemma2", "gemma3_text", "cohere2"),
        ),
        _Kind.HEADS,
    ),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "kimi_k2"), _Kind.MLA),
    **dict.fromkeys(("deepseek_v32", "glm_moe_dsa"), _Kind.DSA),
}
# Others have a default of their own where head_dim is left out. Source: `configuration_*.py` in
# https://github.com/huggingface/transformers/tree/main/src/transformers/models
_HEAD_FROM_HIDDEN = frozenset(
    {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "phi3", "olmo2", "cohere2"}
)
_HYBRID = frozenset({"qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"})
# Keys that change what a layer keeps in ways no formula of ours covers, unless null, 0 or false.
_STRANGE = (
    *("num_kv_shared_layers", "global_head_dim", "num_global_key_value_heads"),
    *("swa_head_dim", "swa_num_key_value_heads", "attention_chunk_size", "block_configs"),
    *("compress_ratios", "sparse_attention_config", "cross_attention_layers", "attn_type_list"),
    *("layers_block_type", "hybrid_override_pattern", "attn_layer_period", "is_encoder_decoder"),
    *("index_topk_freq", "index_topk_pattern", "indexer_types", "index_kpool"),
)
_LAYER_TYPES = {
    "full_attention": LayerKind.FULL,
    "attention": LayerKind.FULL,
    "sliding_attention": LayerKind.WINDOW,
    "linear_attention": LayerKind.STATE,
}


def read_shape(file: Path) -> ModelShape:
    """Return what a file says. Raises ``UnknownShapeError``.

    It is ``UnreadableShapeError`` where there is no file, or none of sections of JSON.
    """
    try:
        with file.open("rb") as handle:
            raw = handle.read(MOST_BYTES + 1)
    except OSError:
        raise UnreadableShapeError("the model's config.json cannot be read") from None
    if len(raw) > MOST_BYTES:
        raise UnreadableShapeError("the file is too large to be a model's config.json")
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableShapeError("the file is no JSON") from None
    if not isinstance(told, dict):
        raise UnreadableShapeError("the file holds no section of keys")
    return shape_of(told)


def shape_of(told: Mapping[str, Any]) -> ModelShape:
    """Return what a configuration says. Raises ``UnknownShapeError`` if we do not know it."""
    inner = told.get("text_config")
    text = {**told, **inner} if isinstance(inner, dict) else told
    kind = _KINDS.get(str(text.get("model_type")))
    if kind is None:
        raise UnknownShapeError("no formula is known for this model_type")
    for key in _STRANGE:
        if text.get(key) not in (None, False, 0):
            raise UnknownShapeError(f"no formula is known for {key}")
    layers, window = _layers(text)
    sizes = _sizes_of_heads(text) if kind is _Kind.HEADS else _sizes_of_latent(text, kind)
    return ModelShape(
        layers=layers,
        window_tokens=window,
        dtype=_dtype(text),
        kv_dtype_given=_chooses_kv_dtype(text),
        **sizes,
    )


def _sizes_of_heads(text: Mapping[str, Any]) -> dict[str, int]:
    heads = _size(text, "num_attention_heads")
    if text.get("head_dim") is not None or text.get("model_type") not in _HEAD_FROM_HIDDEN:
        head = _size(text, "head_dim")
    else:
        head, rest = divmod(_size(text, "hidden_size"), heads)
        if rest:
            raise UnknownShapeError("hidden_size is no multiple of num_attention_heads")
    value = _size(text, "v_head_dim") if text.get("v_head_dim") is not None else head
    kv_heads = _size(text, "num_key_value_heads")
    if kv_heads > heads:
        raise UnknownShapeError("num_key_value_heads is above num_attention_heads")
    return {"kv_heads": kv_heads, "head": head, "value_head": value}


def _sizes_of_latent(text: Mapping[str, Any], kind: _Kind) -> dict[str, int]:
    latent = _size(text, "kv_lora_rank") + _size(text, "qk_rope_head_dim")
    if kind is _Kind.DSA:
        return {"latent": latent, "index_head": _size(text, "index_head_dim")}
    if text.get("index_head_dim") is not None:
        raise UnknownShapeError("no formula is known for index_head_dim of this model_type")
    return {"latent": latent}


def _layers(text: Mapping[str, Any]) -> tuple[tuple[LayerKind, ...], int | None]:
    """Return what each layer keeps, and the window of those that have one."""
    count = _size(text, "num_hidden_layers", MOST_LAYERS)
    listed, interval = text.get("layer_types"), text.get("full_attention_interval")
    window = _window(text)
    if listed is not None:
        layers = _listed(listed, count)
    elif interval is not None:
        every = _size(text, "full_attention_interval", MOST_LAYERS)
        layers = tuple(
            LayerKind.STATE if (number + 1) % every else LayerKind.FULL for number in range(count)
        )
    elif text.get("model_type") in _HYBRID:
        raise UnknownShapeError("which layers attend to everything is not listed")
    else:
        if window is not None:
            raise UnknownShapeError("a window, and which layers have it is not listed")
        layers = (LayerKind.FULL,) * count
    if LayerKind.WINDOW in layers and window is None:
        raise UnknownShapeError("layers with a window, and its size is not told")
    return layers, window


def _listed(listed: object, count: int) -> tuple[LayerKind, ...]:
    if not isinstance(listed, list) or len(listed) != count:
        raise UnknownShapeError("layer_types does not list every layer")
    kinds = [_LAYER_TYPES.get(each) if isinstance(each, str) else None for each in listed]
    known = tuple(each for each in kinds if each is not None)
    if len(known) != count:
        raise UnknownShapeError("layer_types lists a kind of layer that is not known")
    return known


def _window(text: Mapping[str, Any]) -> int | None:
    if text.get("sliding_window") is None or text.get("use_sliding_window") is False:
        return None
    return _size(text, "sliding_window", MOST_SIZE * 100)


def _dtype(text: Mapping[str, Any]) -> str:
    told = text.get("torch_dtype") or text.get("dtype")
    return told if isinstance(told, str) else ""


def _chooses_kv_dtype(text: Mapping[str, Any]) -> bool:
    given = text.get("quantization_config")
    if not isinstance(given, dict):
        return False
    return any(
        given.get(key) is not None
        for key in ("kv_cache_scheme", "kv_cache_quant_algo", "kv_cache_dtype")
    )


def _size(text: Mapping[str, Any], key: str, most: int = MOST_SIZE) -> int:
    value = text.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise UnknownShapeError(f"{key} is missing or no usable number")
    return value
