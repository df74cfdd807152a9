"""A BERT of two thin layers with random weights, saved as sentence-transformers saves a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WIDTH, INNER, HEADS, LAYERS, POSITIONS = 16, 32, 2, 2, 24
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "north", "south", "harbour", "road", "the", "by")
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": POSITIONS,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
}


def save_tiny_bert(
    folder: Path, *, pooling: str = "mean", seed: int = 1, config: dict[str, Any] | None = None
) -> Path:
    """Write the model into ``folder`` and return it."""
    (folder / "1_Pooling").mkdir(parents=True)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(kinds)
    ]
    _write(folder / "modules.json", modules)
    _write(folder / "config.json", CONFIG | (config or {}))
    _write(folder / "sentence_bert_config.json", {"max_seq_length": POSITIONS})
    _write(folder / "1_Pooling" / "config.json", {"pooling_mode": pooling})
    save_file(_weights(np.random.default_rng(seed)), folder / "model.safetensors")
    _tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")


def _weights(rng: np.random.Generator) -> dict[str, Any]:
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            shapes |= _linear(f"{layer}.attention.self.{part}", WIDTH, WIDTH)
        shapes |= _linear(f"{layer}.attention.output.dense", WIDTH, WIDTH)
        shapes |= _linear(f"{layer}.intermediate.dense", INNER, WIDTH)
        shapes |= _linear(f"{layer}.output.dense", WIDTH, INNER)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    drawn = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for norm in norms:
        drawn[f"{norm}.weight"] = rng.normal(1, 0.1, WIDTH).astype(np.float32)
        drawn[f"{norm}.bias"] = rng.normal(0, 0.1, WIDTH).astype(np.float32)
    return drawn


def _linear(name: str, out: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, inputs), f"{name}.bias": (out,)}


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordPiece({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106 - a word
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As shipped files do: how it was trained, which must not be how it is used.
    tokenizer.enable_truncation(max_length=4)
    tokenizer.enable_padding(length=12)
    return tokenizer
