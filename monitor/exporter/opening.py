"""From the section ``gpus`` to what reads GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from monitor.clock import Clock
from monitor.config import resolve_secret
from monitor.config.gpu import Gpus, KvPools
from monitor.errors import ConfigError
from monitor.gpu import (
    DcgmSource,
    GpuSource,
    GpuWatch,
    NodeTokens,
    NvmlSource,
    Parallelism,
    PoolModel,
    UnknownShapeError,
    installed,
    read_shape,
)


def gpu_watch(
    gpus: Gpus, folder: Path, clock: Clock, tokens: Callable[[], Sequence[NodeTokens]]
) -> GpuWatch | None:
    """Return what reads GPUs as the section says, not yet started; ``None`` if it is off.

    Files are relative to ``folder``; a model's file that is not understood is no error: its pools
    are unattributed, and that is a metric. Raises ``ConfigError`` for a missing extra or secret.
    """
    if gpus.source == "off":
        return None
    models = pool_models(gpus, folder)
    return GpuWatch(_source(gpus, clock), clock, gpus.interval_seconds, models, tokens)


def pool_models(gpus: Gpus, folder: Path) -> tuple[PoolModel, ...]:
    """Return what is known of the models of ``pools``, in their order."""
    return tuple(_model(each, folder) for each in gpus.pools)


def _source(gpus: Gpus, clock: Clock) -> GpuSource:
    if gpus.source == "dcgm" and gpus.dcgm_url is not None:
        token = resolve_secret(gpus.token) if gpus.token is not None else None
        return DcgmSource(gpus.dcgm_url, clock, token)
    if not installed():
        place = gpus.place_of("source")
        raise ConfigError(
            "needs davylamp[gpu], which is not installed",
            file=place.file,
            line=place.line,
            path=place.path,
            remedy="pip install 'davylamp[gpu]', or read a DCGM exporter",
        )
    # A KV pool lies on GPUs.
    return NvmlSource(clock, expected=bool(gpus.pools))


def _model(pools: KvPools, folder: Path) -> PoolModel:
    shape, unknown = None, ""
    if pools.model_config_file is not None:
        try:
            shape = read_shape(folder / pools.model_config_file)
        except UnknownShapeError as error:
            unknown = str(error)
    return PoolModel(
        target=pools.target or "",
        node=pools.node or "",
        shape=shape,
        unknown=unknown,
        bytes_per_token=pools.bytes_per_token,
        spread=Parallelism(
            tp=pools.tp_size,
            pp=pools.pp_size,
            dp=pools.dp_size,
            dp_attention=pools.dp_attention,
        ),
        kv_dtype=pools.kv_cache_dtype,
        gpus=tuple(str(each) for each in pools.gpus),
    )
