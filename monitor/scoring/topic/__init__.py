"""TOPIC's instrument: likeness of an answer to right ones, by a model of sentence-transformers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.scoring.topic.folder import find_model
from monitor.scoring.topic.instrument import Embedder, TopicInstrument
from monitor.scoring.topic.onnx_backend import OnnxEmbedder
from monitor.scoring.topic.torch_backend import TorchEmbedder

__all__ = ["Embedder", "TopicInstrument", "build", "find_model"]


def build(settings: Mapping[str, Any]) -> TopicInstrument:
    """Return the instrument of the section ``checks.topic``; its model is loaded when needed.

    Raises ``InstrumentError`` if there is no such model.
    """
    folder = find_model(settings["model"])
    threads = int(settings.get("threads", 1))

    def load() -> Embedder:
        backend = OnnxEmbedder if settings["backend"] == "onnx" else TorchEmbedder
        return backend(folder, threads)

    return TopicInstrument(load, settings["scripts"])
