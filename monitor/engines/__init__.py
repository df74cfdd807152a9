"""Engines: how to speak to a target. A new kind is one module, its test, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType

from monitor.engines.base import EngineKind
from monitor.engines.openai import OpenAIEngine, OpenAIOptions

ENGINES: Mapping[str, EngineKind] = MappingProxyType(
    {
        "openai": EngineKind(options=OpenAIOptions, build=OpenAIEngine),
    }
)
