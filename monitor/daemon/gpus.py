"""GPUs of the daemon's machine, read beside everything else if the configuration says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from monitor.app import Installation
from monitor.exporter import gpu_watch, tokens_of
from monitor.gpu import GpuCollector, NodeTokens


@contextlib.asynccontextmanager
async def reading_gpus(installation: Installation) -> AsyncIterator[None]:
    """Read GPUs meanwhile, and show them on /metrics with the KV pools of nodes as bytes.

    Raises ``ConfigError`` for a missing extra or secret.
    """
    config = installation.config

    def tokens() -> tuple[NodeTokens, ...]:
        now = installation.nodes.now if installation.nodes is not None else None
        judged = now.survey.verdicts if now is not None else ()
        return tuple(tokens_of(each.snapshot) for each in judged)

    watch = gpu_watch(config.settings.gpus, config.file.parent, installation.clock, tokens)
    if watch is None:
        yield
        return
    installation.metrics.register(GpuCollector(env=config.environment, page=watch.page))
    watch.start()
    try:
        yield
    finally:
        await asyncio.to_thread(watch.stop)
