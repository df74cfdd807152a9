"""TOPIC's instrument: the largest cosine between an answer and the references of its prompt."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from monitor.scoring.base import Asked, Reading, Skipped
from monitor.scoring.loading import LoadOnce
from monitor.scoring.topic.reading import answer_proper, why_not

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

# A vector of MiniLM takes 1.5 kB: all golden prompts' references, and the answers of some days.
KEPT_VECTORS = 4_096
# Vectors computed in other company (padding, threads, backend) differ from the seventh digit on.
SIMILARITY_DIGITS = 6


class Embedder(Protocol):
    """Makes vectors of texts: one row a text, each of length 1."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors, in order."""


class TopicInstrument:
    """Measures likeness to references. The model is loaded with the first answer that needs it.

    A text that was embedded before, a reference or an answer, is not embedded again: at
    temperature 0 a healthy model often gives the very same answer.
    """

    def __init__(self, load: Callable[[], Embedder], scripts: Collection[str]) -> None:
        self._embedder = LoadOnce(load)
        self._scripts = frozenset(scripts)
        self._kept = _Kept(KEPT_VECTORS)

    def measure(self, asked: Sequence[Asked]) -> list[Reading]:
        """Return the largest cosine of each answer to its references, or why there is none."""
        texts = [answer_proper(each.answer, each.nonce) for each in asked]
        readings: list[Reading | None] = [
            Skipped(why)
            if (why := why_not(text, each.references, self._scripts, given=each.request))
            else None
            for text, each in zip(texts, asked, strict=True)
        ]
        open_ = [number for number, reading in enumerate(readings) if reading is None]
        references = {
            number: [answer_proper(r) for r in asked[number].references] for number in open_
        }
        vectors = self._vectors(
            text for number in open_ for text in (texts[number], *references[number])
        )
        for number in open_:
            answer = vectors[texts[number]]
            likest = max(float(answer @ vectors[r]) for r in references[number])
            readings[number] = round(min(likest, 1.0), SIMILARITY_DIGITS)
        return [reading for reading in readings if reading is not None]

    def _vectors(self, texts: Iterable[str]) -> Mapping[str, Vectors]:
        wanted = list(dict.fromkeys(texts))
        found = {text: vector for text in wanted if (vector := self._kept.get(text)) is not None}
        new = [text for text in wanted if text not in found]
        if new:
            for text, vector in zip(new, self._embedder.get().embed(new), strict=True):
                self._kept.put(text, vector)
                found[text] = vector
        return found


class _Kept:
    """The vectors used last, by a digest of their text: the texts themselves are not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()

    def get(self, text: str) -> Vectors | None:
        key = _digest(text)
        if key in self._vectors:
            self._vectors.move_to_end(key)
        return self._vectors.get(key)

    def put(self, text: str, vector: Vectors) -> None:
        self._vectors[_digest(text)] = vector
        if len(self._vectors) > self._most:
            self._vectors.popitem(last=False)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
