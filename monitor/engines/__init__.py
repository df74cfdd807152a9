"""Engines: how to speak to a target. A new kind is one module, its test, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from monitor.engines.base import EngineKind
from monitor.engines.openai import OpenAIEngine, OpenAIOptions
from monitor.engines.workers_ai import WorkersAiEngine, WorkersAiOptions
from monitor.engines.workers_ai_catalogue import catalogue_page
from monitor.engines.zai import ZaiEngine, ZaiOptions

ENGINES: Mapping[str, EngineKind] = MappingProxyType(
    {
        "openai": EngineKind(options=OpenAIOptions, build=OpenAIEngine),
        "workers_ai": EngineKind(
            options=WorkersAiOptions,
            build=WorkersAiEngine,
            lacks=("stop",),
            hosts=frozenset({"api.cloudflare.com", "gateway.ai.cloudflare.com"}),
            listing=catalogue_page,
        ),
        "zai": EngineKind(
            options=ZaiOptions,
            build=ZaiEngine,
            lacks=("json_schema",),
            hosts=frozenset({"api.z.ai", "open.bigmodel.cn"}),
        ),
    }
)


def engine_at(url: str) -> str:
    """Return the name of the engine to speak to ``url`` with: its service's, else ``openai``."""
    host = urlsplit(url).hostname or ""
    return next((name for name, kind in ENGINES.items() if host in kind.hosts), "openai")
