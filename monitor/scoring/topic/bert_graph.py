"""A BERT encoder as an ONNX graph, built from its safetensors weights without torch.

After the description of the model in Devlin et al. 2018 (arXiv 1810.04805): embeddings, then
layers of attention and a feed-forward part, each with a residual and a layer normalisation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.errors import InstrumentError
from monitor.scoring.topic.folder import read_json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

# Raised when the graph changes, so that an older file in the cache is not used.
GRAPH_VERSION = 1
OPSET = 20
OUTPUT = "last_hidden_state"
_WEIGHTS = "model.safetensors"
# Far below any attention score: what is only padding gets no attention.
_NEVER = -1e9


def weights_file(encoder: Path) -> Path:
    """Return where the weights of the encoder lie. Raises ``InstrumentError`` if nowhere."""
    file = encoder / _WEIGHTS
    if not file.is_file():
        raise InstrumentError(f"{file} is missing (the onnx backend reads safetensors only)")
    return file


def build_bert(encoder: Path) -> bytes:
    """Return the ONNX model of the BERT in this folder: tokens in, a vector for each out.

    Inputs are ``input_ids`` and ``attention_mask``, both of (texts, tokens). Raises
    ``InstrumentError`` for any other kind of model.
    """
    config = _supported(encoder / "config.json")
    graph = _Graph(_read_weights(weights_file(encoder)), config)
    return graph.model()


def _supported(file: Path) -> Mapping[str, Any]:
    config: Mapping[str, Any] = read_json(file)
    wanted = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
        "is_decoder": False,
    }
    for key, value in wanted.items():
        if (found := config.get(key, value)) != value:
            raise InstrumentError(
                f"{file} says {key}: {found}; the onnx backend builds BERT encoders with {value} "
                "only (export the model to onnx/model.onnx, or use backend: torch)"
            )
    return config


def _read_weights(file: Path) -> dict[str, Array]:
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(file)
    except (SafetensorError, KeyError, OSError, TypeError) as error:
        raise InstrumentError(f"{file} cannot be read ({type(error).__name__})") from error
    return {
        name.removeprefix("bert."): np.asarray(value, np.float32)
        for name, value in found.items()
        if value.dtype.kind == "f"
    }


class _Graph:
    """Collects nodes and weights; each method adds what it names and returns its output's name."""

    def __init__(self, weights: Mapping[str, Array], config: Mapping[str, Any]) -> None:
        from onnx import helper, numpy_helper

        self._helper = helper
        self._tensor = numpy_helper.from_array
        self._weights = weights
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._width = int(config["hidden_size"])
        self._epsilon = float(config["layer_norm_eps"])
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self) -> bytes:
        from onnx import TensorProto

        hidden = self._embeddings()
        mask = self._mask()
        for number in range(self._layers):
            hidden = self._layer(f"encoder.layer.{number}.", hidden, mask)
        self._add("Identity", hidden, output=OUTPUT)
        whole, shape = TensorProto.INT64, ["texts", "tokens"]
        value = self._helper.make_tensor_value_info
        graph = self._helper.make_graph(
            self._nodes,
            "bert",
            [value("input_ids", whole, shape), value("attention_mask", whole, shape)],
            [value(OUTPUT, TensorProto.FLOAT, [*shape, self._width])],
            list(self._constants.values()),
        )
        opset = self._helper.make_opsetid("", OPSET)
        # The oldest format that has this opset: what runs it may be older than what builds it.
        model = self._helper.make_model(graph, opset_imports=[opset], ir_version=9)
        serialised: bytes = model.SerializeToString()
        return serialised

    def _embeddings(self) -> str:
        import numpy as np

        # There is only one segment, so its vector can be added to every position at once.
        segment = self._weight("embeddings.token_type_embeddings.weight")[0]
        positions = self._weight("embeddings.position_embeddings.weight") + segment
        words = self._add(
            "Gather", self._known("embeddings.word_embeddings.weight"), "input_ids", axis=0
        )
        shape = self._add("Shape", "input_ids", start=1, end=2)
        start = self._constant("start", np.array([0], np.int64))
        here = self._add("Slice", self._constant("positions", positions), start, shape)
        return self._normalised("embeddings.LayerNorm", self._add("Add", words, here))

    def _mask(self) -> str:
        """Add 0 for what is read, and nearly minus infinity for padding, to every score."""
        import numpy as np
        from onnx import TensorProto

        read = self._add("Cast", "attention_mask", to=TensorProto.FLOAT)
        padding = self._add("Sub", self._constant("one", np.float32(1)), read)
        scores = self._add("Mul", padding, self._constant("never", np.float32(_NEVER)))
        axes = self._constant("mask_axes", np.array([1, 2], np.int64))
        return self._add("Unsqueeze", scores, axes)

    def _layer(self, name: str, hidden: str, mask: str) -> str:
        attended = self._linear(
            f"{name}attention.output.dense", self._attention(name, hidden, mask)
        )
        hidden = self._normalised(
            f"{name}attention.output.LayerNorm", self._add("Add", attended, hidden)
        )
        inner = self._add("Gelu", self._linear(f"{name}intermediate.dense", hidden))
        outer = self._linear(f"{name}output.dense", inner)
        return self._normalised(f"{name}output.LayerNorm", self._add("Add", outer, hidden))

    def _attention(self, name: str, hidden: str, mask: str) -> str:
        import numpy as np

        per_head = self._width // self._heads
        split = self._constant("split", np.array([0, 0, self._heads, per_head], np.int64))
        join = self._constant("join", np.array([0, 0, self._width], np.int64))
        scale = 1 / math.sqrt(per_head)
        one = f"{name}attention.self."
        query, key, value = (
            self._add("Reshape", self._linear(f"{one}{part}", hidden, scale=factor), split)
            for part, factor in (("query", scale), ("key", 1.0), ("value", 1.0))
        )
        query = self._add("Transpose", query, perm=[0, 2, 1, 3])
        key = self._add("Transpose", key, perm=[0, 2, 3, 1])
        value = self._add("Transpose", value, perm=[0, 2, 1, 3])
        scores = self._add("Add", self._add("MatMul", query, key), mask)
        mixed = self._add("MatMul", self._add("Softmax", scores, axis=-1), value)
        return self._add("Reshape", self._add("Transpose", mixed, perm=[0, 2, 1, 3]), join)

    def _linear(self, name: str, given: str, *, scale: float = 1.0) -> str:
        import numpy as np

        matrix = np.ascontiguousarray(self._weight(f"{name}.weight").T) * np.float32(scale)
        bias = self._weight(f"{name}.bias") * np.float32(scale)
        product = self._add("MatMul", given, self._constant(f"{name}.weight", matrix))
        return self._add("Add", product, self._constant(f"{name}.bias", bias))

    def _normalised(self, name: str, given: str) -> str:
        weight, bias = self._known(f"{name}.weight"), self._known(f"{name}.bias")
        return self._add("LayerNormalization", given, weight, bias, epsilon=self._epsilon)

    def _weight(self, name: str) -> Array:
        if name not in self._weights:
            raise InstrumentError(f"the weights have no {name}: this is no BERT encoder")
        return self._weights[name]

    def _known(self, name: str) -> str:
        return self._constant(name, self._weight(name))

    def _constant(self, name: str, value: Any) -> str:
        import numpy as np

        if name not in self._constants:
            self._constants[name] = self._tensor(np.asarray(value), name)
        return name

    def _add(self, kind: str, *given: str, output: str = "", **attributes: Any) -> str:
        output = output or f"n{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, list(given), [output], **attributes))
        return output
