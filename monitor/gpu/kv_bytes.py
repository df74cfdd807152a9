"""Bytes that one token takes in a KV pool, on each GPU.

The formulas are those by which engines size their pools:

- SGLang: ``get_cell_size_per_token``, later ``_compute_cell_size``, in
  https://github.com/sgl-project/sglang/tree/main/python/sglang/srt/model_executor
  (``model_runner_kv_cache_mixin.py``, ``pool_configurator.py``)
- vLLM: ``get_num_kv_heads_per_tp`` and ``get_indexer_cache_head_size`` in
  https://github.com/vllm-project/vllm/tree/main/vllm/config

What does not grow with every token is not in it: layers with a window keep at most that window of
each sequence, and layers with a state of fixed size have pools of their own. A draft model has its
own KV, which is not counted either. So what is told is the least a pool takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from monitor.conventions.gpu import Unattributed
from monitor.gpu.model_shape import LayerKind, ModelShape

FP4_SCALE_BLOCK = 16
INDEX_SCALE_BLOCK = 128
_INDEX_SCALE_BYTES = 4
_MOST_GPUS = 4_096
_MX_BLOCK = 32

# Bytes a value takes. With scales: one more byte for 16 packed values of fp4 (SGLang), for 32 of a
# microscaling format (https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec).
_FP4 = "fp4_e2m1"
_DTYPES: dict[str, Fraction] = {
    **dict.fromkeys(("float32", "fp32", "float"), Fraction(4)),
    **dict.fromkeys(("bfloat16", "bf16", "float16", "fp16", "half"), Fraction(2)),
    **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2"), Fraction(1)),
    "mxfp8": 1 + Fraction(1, _MX_BLOCK),
}
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """How a node spreads a model: ``None`` was not told. All sizes are numbers of GPUs or groups.

    ``dp_attention`` says that data-parallel groups share the GPUs of ``tp`` for attention, each
    with its own pool; else each group has its own GPUs.
    """

    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    dp_attention: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KvBytes:
    """Bytes a token takes on each GPU.

    ``every_token`` is what each token takes however long the sequence, ``within_window`` what it
    takes besides while it is among the last ``window_tokens`` of its sequence.
    """

    every_token: float
    within_window: float = 0.0
    window_tokens: int | None = None


class CannotTellError(Exception):
    """No bytes can be told; ``reason`` is a label, ``why`` says it in our words."""

    def __init__(self, reason: Unattributed, why: str) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why


def kv_bytes(shape: ModelShape, spread: Parallelism, kv_dtype: str | None) -> KvBytes:
    """Return the bytes a token takes on each GPU.

    With heads: layers x heads on this GPU x (key + value) x bytes of a value; a GPU has one head at
    least. MLA: layers x (latent + rope) x bytes, on every GPU the same. DSA: MLA, and for each
    layer the index key in 8 bits with a scale of 4 bytes for 128 values.
    Raises ``CannotTellError``.
    """
    dtype = _dtype(shape, kv_dtype)
    heads = _heads_of_gpu(shape, spread)
    layer = _layer_bytes(shape, heads, dtype)
    full = _layers_of_stage(shape, spread, LayerKind.FULL)
    windowed = _layers_of_stage(shape, spread, LayerKind.WINDOW)
    return KvBytes(
        every_token=float(full * layer),
        within_window=float(windowed * layer),
        window_tokens=shape.window_tokens if windowed else None,
    )


def _layer_bytes(shape: ModelShape, heads: int, dtype: str) -> Fraction:
    if shape.latent is None:
        rows = (heads * shape.head, heads * shape.value_head)
        return _value_bytes(rows, dtype)
    main = _value_bytes((shape.latent,), dtype)
    if shape.index_head is None:
        return main
    if _DTYPES.get(dtype) != 2:  # noqa: PLR2004 - bytes of a value
        why = "with a narrow KV cache, kernels of sparse attention lay it out in several ways"
        raise CannotTellError(Unattributed.UNKNOWN_DTYPE, why)
    scales = shape.index_head // INDEX_SCALE_BLOCK * _INDEX_SCALE_BYTES
    return main + shape.index_head + scales


def _value_bytes(rows: tuple[int, ...], dtype: str) -> Fraction:
    """Return the bytes of a layer's values; those of fp4 are packed in pairs, scales apart."""
    if dtype == _FP4:
        packed = Fraction(sum(rows) // 2)
        return packed + sum(row // FP4_SCALE_BLOCK for row in rows)
    return sum(rows) * _DTYPES[dtype]


def _dtype(shape: ModelShape, told: str | None) -> str:
    """Return the type of the KV cache: as told, or for ``auto`` the model's own."""
    if told is None:
        raise CannotTellError(Unattributed.UNKNOWN_DTYPE, "the node does not say its KV dtype")
    name = told.removeprefix("torch.").lower()
    if name == AUTO:
        if shape.kv_dtype_given:
            why = "the checkpoint chooses the KV dtype itself"
            raise CannotTellError(Unattributed.UNKNOWN_DTYPE, why)
        name = shape.dtype.removeprefix("torch.").lower()
    if name != _FP4 and name not in _DTYPES:
        raise CannotTellError(Unattributed.UNKNOWN_DTYPE, "a KV dtype whose size is not known")
    return name


def _heads_of_gpu(shape: ModelShape, spread: Parallelism) -> int:
    group = attention_group(spread)
    if shape.latent is not None:
        return 0
    if group <= shape.kv_heads and shape.kv_heads % group:
        why = "the KV heads are no multiple of the GPUs they are spread over"
        raise CannotTellError(Unattributed.UNKNOWN_PARALLELISM, why)
    return max(1, shape.kv_heads // group)


def attention_group(spread: Parallelism) -> int:
    """Return over how many GPUs the heads of one pool are spread. Raises ``CannotTellError``."""
    tp = _told(spread.tp, "tensor parallel size")
    if not spread.dp_attention:
        return tp
    group, rest = divmod(tp, _told(spread.dp, "data parallel size"))
    if rest or not group:
        why = "with attention in data-parallel groups, they do not divide the GPUs"
        raise CannotTellError(Unattributed.UNKNOWN_PARALLELISM, why)
    return group


def _layers_of_stage(shape: ModelShape, spread: Parallelism, kind: LayerKind) -> int:
    """Return how many layers of a kind each stage of the pipeline has, if all have as many."""
    stages = _told(spread.pp, "pipeline parallel size")
    each, rest = divmod(len(shape.layers), stages)
    starts = range(0, len(shape.layers), max(each, 1))
    counts = {shape.layers[start : start + each].count(kind) for start in starts}
    if rest or len(counts) != 1:
        why = "the stages of the pipeline have different layers"
        raise CannotTellError(Unattributed.UNKNOWN_PARALLELISM, why)
    return counts.pop()


def _told(size: int | None, what: str) -> int:
    if size is None or not 0 < size <= _MOST_GPUS:
        raise CannotTellError(Unattributed.UNKNOWN_PARALLELISM, f"the {what} is not known")
    return size
