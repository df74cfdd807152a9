"""Vectors by sentence-transformers on torch, from a folder, offline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Texts at once: enough for the processor, and little memory (256 tokens each take 4 MB a layer).
BATCH = 16


class TorchEmbedder:
    """A model of sentence-transformers on the processor; loading takes seconds and 500 MB."""

    def __init__(self, folder: Path, threads: int) -> None:
        # Read once, when the libraries are imported: nothing may look for a newer model.
        os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self._model = SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row a text, each of length 1; texts of like length go together."""
        vectors: npt.NDArray[np.float32] = self._model.encode(
            list(texts),
            batch_size=BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return vectors
