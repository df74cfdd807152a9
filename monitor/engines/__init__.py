"""Engines: how to speak to a target. A new kind is one module, its test, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType

from monitor.engines.base import EngineKind
from monitor.engines.openai import OpenAIEngine, OpenAIOptions
from monitor.engines.workers_ai import WorkersAiEngine, WorkersAiOptions
from monitor.engines.zai import ZaiEngine, ZaiOptions

ENGINES: Mapping[str, EngineKind] = MappingProxyType(
    {
        "openai": EngineKind(options=OpenAIOptions, build=OpenAIEngine),
        "workers_ai": EngineKind(options=WorkersAiOptions, build=WorkersAiEngine),
        "zai": EngineKind(options=ZaiOptions, build=ZaiEngine, lacks=("json_schema",)),
    }
)
