"""How full a node's KV pool is in bytes: what its engine counts, times what a token takes.

NVML alone cannot say it: the pool is allocated at start, so used memory does not move. What it says
stands beside as a check. A pool that does not fit into the memory its GPUs have allocated is not
attributed, and the reason is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from monitor.conventions.gpu import GpuState, Quantity, Unattributed
from monitor.gpu.kv_bytes import CannotTellError, Parallelism, kv_bytes
from monitor.gpu.model_shape import ModelShape
from monitor.gpu.record import GpuReading


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTokens:
    """What a node's engine says of its KV pool. ``None`` was not said.

    ``used_tokens`` are those of all data-parallel groups, ``capacity_tokens`` those of one pool.
    ``usage_ratio``, 0 to 1, is that of the fullest pool, and stands for tokens where the engine
    does not count them and there is one pool.
    """

    target: str
    node: str
    read_at: datetime
    used_tokens: int | None = None
    capacity_tokens: int | None = None
    usage_ratio: float | None = None
    page_tokens: int | None = None
    kv_dtype: str | None = None
    spread: Parallelism = field(default_factory=Parallelism)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolModel:
    """What is known of the model that a node serves; empty names stand for any.

    ``bytes_per_token`` is somebody's own figure for each GPU, and holds over ``shape``. ``gpus``
    are those the node uses; empty, any of the machine. What ``spread`` and ``kv_dtype`` say holds
    over what the node says.
    """

    target: str = ""
    node: str = ""
    shape: ModelShape | None = None
    unknown: str = ""
    bytes_per_token: float | None = None
    spread: Parallelism = field(default_factory=Parallelism)
    kv_dtype: str | None = None
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPool:
    """A node's KV pool in bytes on each of its GPUs; the mean of its data-parallel groups.

    With a ``reason`` figures are missing, or could not be held against what the GPUs say.
    """

    target: str
    node: str
    reserved: float | None = None
    used: float | None = None
    reason: Unattributed | None = None
    why: str = ""


def model_of(models: Iterable[PoolModel], tokens: NodeTokens) -> PoolModel | None:
    """Return what is known of a node's model: what names the node holds over what does not."""
    fitting = [
        each
        for each in models
        if each.target in ("", tokens.target) and each.node in ("", tokens.node)
    ]
    return max(fitting, key=lambda each: (bool(each.node), bool(each.target)), default=None)


def joined(tokens: NodeTokens, models: Sequence[PoolModel], gpus: Sequence[GpuReading]) -> KvPool:
    """Return a node's pool in bytes, or why it cannot be told."""
    try:
        pool, model, spread = _by_formula(tokens, models)
    except CannotTellError as error:
        return _pool(tokens, reason=error.reason, why=error.why)
    checked = _checked(pool.reserved, model, spread, gpus)
    if checked is not None and checked[0] is Unattributed.EXCEEDS_PROCESS_MEMORY:
        return _pool(tokens, None, None, *checked)
    if checked is None or pool.reason is not None:
        return pool
    return _pool(tokens, pool.reserved, pool.used, *checked)


def _by_formula(
    tokens: NodeTokens, models: Sequence[PoolModel]
) -> tuple[KvPool, PoolModel, Parallelism]:
    model = model_of(models, tokens)
    if model is None:
        raise CannotTellError(Unattributed.NO_MODEL_CONFIG, "no model is configured for this node")
    spread = _laid_over(model.spread, tokens.spread)
    if tokens.capacity_tokens is None and tokens.used_tokens is None:
        raise CannotTellError(Unattributed.NO_TOKENS, "the node says nothing of its KV pool")
    per_token = _per_token(tokens, model, spread)
    reserved = None
    if tokens.capacity_tokens is not None:
        # One page more holds what is written for padding.
        reserved = (tokens.capacity_tokens + (tokens.page_tokens or 0)) * per_token
    try:
        used = _used_tokens(tokens, spread) * per_token
    except CannotTellError as error:
        # What the pool takes is known all the same.
        return _pool(tokens, reserved, None, error.reason, error.why), model, spread
    return _pool(tokens, reserved, used), model, spread


def _used_tokens(tokens: NodeTokens, spread: Parallelism) -> float:
    """Return the tokens in use in one pool: the mean of those of all data-parallel groups.

    Raises ``CannotTellError``, also where only the fullest of several pools is known.
    """
    if spread.dp is None or spread.dp < 1:
        raise CannotTellError(
            Unattributed.UNKNOWN_PARALLELISM, "the data parallel size is not known"
        )
    if tokens.used_tokens is not None:
        return tokens.used_tokens / spread.dp
    if tokens.usage_ratio is None or tokens.capacity_tokens is None:
        why = "the node does not say how much of its KV pool is in use"
        raise CannotTellError(Unattributed.NO_TOKENS, why)
    if spread.dp > 1:
        why = "the node does not count tokens in use, only how full its fullest KV pool is"
        raise CannotTellError(Unattributed.NO_TOKENS, why)
    return tokens.usage_ratio * tokens.capacity_tokens


def _per_token(tokens: NodeTokens, model: PoolModel, spread: Parallelism) -> float:
    if model.bytes_per_token is not None:
        return model.bytes_per_token
    if model.shape is None:
        reason = Unattributed.UNKNOWN_MODEL if model.unknown else Unattributed.NO_MODEL_CONFIG
        raise CannotTellError(reason, model.unknown or "no config.json of the model is configured")
    return kv_bytes(model.shape, spread, model.kv_dtype or tokens.kv_dtype).every_token


def _laid_over(upper: Parallelism, lower: Parallelism) -> Parallelism:
    return Parallelism(
        tp=lower.tp if upper.tp is None else upper.tp,
        pp=lower.pp if upper.pp is None else upper.pp,
        dp=lower.dp if upper.dp is None else upper.dp,
        dp_attention=upper.dp_attention or lower.dp_attention,
    )


def _checked(
    reserved: float | None, model: PoolModel, spread: Parallelism, gpus: Sequence[GpuReading]
) -> tuple[Unattributed, str] | None:
    """Return why a pool cannot be attributed to GPUs, or ``None`` if it fits."""
    chosen = [
        each
        for each in gpus
        if each.state is GpuState.OK and (not model.gpus or each.gpu in model.gpus)
    ]
    if not chosen or (model.gpus and len(chosen) < len(model.gpus)):
        return Unattributed.NO_GPU, "a GPU of this node cannot be read"
    if reserved is None:
        return Unattributed.NO_TOKENS, "the node does not say how many tokens its KV pool holds"
    bounds = [allocated(each) for each in chosen]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return Unattributed.NO_PROCESS_MEMORY, "a GPU does not say how much memory is allocated"
    needed = len(known) if model.gpus else min(_world(spread), len(known))
    if sum(bound >= reserved for bound in known) < needed:
        why = "the pool would be larger than what is allocated on its GPUs"
        return Unattributed.EXCEEDS_PROCESS_MEMORY, why
    return None


def allocated(gpu: GpuReading) -> int | None:
    """Return what processes have allocated on a GPU; all that is used where none is listed."""
    if gpu.process_bytes and Quantity.PROCESSES not in gpu.unread:
        return sum(gpu.process_bytes.values())
    return gpu.memory.used


def _world(spread: Parallelism) -> int:
    """Return how many GPUs a node takes, as far as it is told."""
    groups = 1 if spread.dp_attention else spread.dp or 1
    return (spread.tp or 1) * (spread.pp or 1) * groups


def _pool(
    tokens: NodeTokens,
    reserved: float | None = None,
    used: float | None = None,
    reason: Unattributed | None = None,
    why: str = "",
) -> KvPool:
    return KvPool(
        target=tokens.target,
        node=tokens.node,
        reserved=reserved,
        used=used,
        reason=reason,
        why=why,
    )
