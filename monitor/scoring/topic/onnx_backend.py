"""The same vectors by ONNX Runtime and tokenizers, without torch."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.errors import InstrumentError
from monitor.scoring.topic.bert_graph import GRAPH_VERSION, OUTPUT, build_bert, weights_file
from monitor.scoring.topic.folder import Recipe, read_recipe

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Tokens = npt.NDArray[np.int64]

BATCH = 8
# Names under which exporters write the vectors of tokens, ours first.
_OUTPUTS = (OUTPUT, "token_embeddings")
_HASHED_AT_ONCE = 1 << 20


class OnnxEmbedder:
    """A model of sentence-transformers on ONNX Runtime: 0.1 s to import, 300 MB.

    Uses ``onnx/model.onnx`` of the model's folder; where there is none, builds the graph from the
    weights once and keeps it in the user's cache.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        from tokenizers import Tokenizer

        self._recipe = read_recipe(folder)
        words = self._recipe.encoder / "tokenizer.json"
        if not words.is_file():
            raise InstrumentError(f"{words} is missing (save the model with a fast tokenizer)")
        self._tokenizer = Tokenizer.from_file(str(words))
        # What the file says of both is how it was trained, not how it is used.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=self._recipe.most_tokens)
        self._session = _session(folder, self._recipe, threads)
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._output = _output(self._session)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, each of length 1; texts of like length go together."""
        import numpy as np

        read = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(read)), key=lambda number: len(read[number].ids))
        vectors: list[Any] = [None] * len(read)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = self._rows([read[number].ids for number in batch])
            for number, row in zip(batch, rows, strict=True):
                vectors[number] = row
        return np.stack(vectors)

    def _rows(self, ids: Sequence[Sequence[int]]) -> Vectors:
        import numpy as np

        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, each in enumerate(ids):
            tokens[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        [hidden] = self._session.run(
            [self._output], {name: given[name] for name in self._inputs if name in given}
        )
        return _pooled(hidden, mask, self._recipe)


def _pooled(hidden: Vectors, mask: Tokens, recipe: Recipe) -> Vectors:
    """Make one vector of those of the tokens; always of length 1, as cosines are wanted."""
    import numpy as np

    if recipe.pooling == "cls":
        pooled = hidden[:, 0]
    else:
        weight = mask[:, :, None].astype(np.float32)
        pooled = (hidden * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
    lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
    normal: Vectors = pooled / np.maximum(lengths, 1e-12)
    return normal


def _output(session: Any) -> str:
    names = [each.name for each in session.get_outputs()]
    found = [name for name in _OUTPUTS if name in names]
    if not found:
        raise InstrumentError(
            f"the model's onnx/model.onnx returns {', '.join(names)}, but no {OUTPUT} (export it "
            "with the vectors of its tokens)"
        )
    return found[0]


def _session(folder: Path, recipe: Recipe, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep: the cores belong to probing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Errors are raised; warnings on stderr tell nobody.
    options.log_severity_level = 3
    shipped = folder / "onnx" / "model.onnx"
    model = str(shipped) if shipped.is_file() else _built(recipe.encoder)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _built(encoder: Path) -> str | bytes:
    """Return the file of the graph in the cache, built if it is not there yet.

    Where nothing can be written the graph itself is returned, to be built again next time.
    """
    file = cache_folder() / f"bert-{GRAPH_VERSION}-{_digest(weights_file(encoder))}.onnx"
    if file.is_file():
        return str(file)
    graph = build_bert(encoder)
    try:
        _write_whole(file, graph)
    except OSError:
        return graph
    return str(file)


def cache_folder() -> Path:
    """Return where what can be made again is kept: ``davylamp`` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "davylamp"


def _digest(weights: Path) -> str:
    """Return a digest of the weights and of the configuration beside them."""
    digest = hashlib.sha256((weights.parent / "config.json").read_bytes())
    with weights.open("rb") as stream:
        while piece := stream.read(_HASHED_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()[:32]


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file that is whole or not there, whoever writes it at the same time."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
