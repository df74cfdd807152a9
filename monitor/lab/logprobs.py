"""How sure the model says it was of each token: made from the words before it, the same always."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from typing import Any

# What a model weighs beside any word. Fixed, so that no other request's words can show.
_OTHERS = (
    " the", " a", " and", " of", " to", " is", ",", ".", " in", "The", "I", " it", "\n", " that",
    "It", " for", " was", "Yes", "No", " with", " on", ":", "-", " as",
)  # fmt: skip
_WIDEST_DOUBT = 0.4


def token_logprobs(spoken: Sequence[str], alternatives: int) -> list[dict[str, Any]]:
    """Return OpenAI's ``logprobs.content`` of some tokens in order, after the first of them.

    A token's own probability and the alternatives' never add up to more than 1.
    """
    return [_entry(before, piece, alternatives) for before, piece in itertools.pairwise(spoken)]


def _entry(before: str, piece: str, alternatives: int) -> dict[str, Any]:
    digest = hashlib.sha256(f"{before}\x00{piece}".encode("utf-8", "replace")).digest()
    # Cubed, so that most tokens are nearly certain, as in greedy answers to plain questions.
    doubt = _WIDEST_DOUBT * (int.from_bytes(digest[:4], "big") / 2**32) ** 3 + 1e-6
    others = [other for other in _OTHERS if other != piece]
    turn = digest[4] % len(others)
    ranked = [*others[turn:], *others[:turn]][: max(0, alternatives - 1)]
    shown = [(piece, math.log1p(-doubt))] if alternatives else []
    shown += [(other, math.log(doubt) - math.log(2) * r) for r, other in enumerate(ranked, 1)]
    return {
        **_one(piece, math.log1p(-doubt)),
        "top_logprobs": [_one(text, logprob) for text, logprob in shown],
    }


def _one(text: str, logprob: float) -> dict[str, Any]:
    spelled = list(text.encode("utf-8", "replace"))
    return {"token": text, "logprob": round(logprob, 6), "bytes": spelled}
