"""Readers of nodes: a new engine is one module, its test, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType

from monitor.nodes.readers.base import NodeReader
from monitor.nodes.readers.llama_cpp import LlamaCppReader
from monitor.nodes.readers.ollama import OllamaReader
from monitor.nodes.readers.sglang import SglangReader
from monitor.nodes.readers.vllm import VllmReader

NODE_ENGINES: Mapping[str, NodeReader] = MappingProxyType(
    {
        "sglang": SglangReader(),
        "vllm": VllmReader(),
        "llama.cpp": LlamaCppReader(),
        "ollama": OllamaReader(),
    }
)
"""The engines whose nodes can be read, in the order in which a node is tried for them."""
