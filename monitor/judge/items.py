"""The judge's own items: answers whose label is known, by which the judge is watched.

A hundred questions in English and Chinese, each with one right and one wrong answer. Wrong ones
include near misses, refusals, texts about something else and instructions to the judge.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_COLUMNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One labelled answer. ``right`` is the label."""

    id: str
    language: str
    question: str
    reference: str
    answer: str
    right: bool


@cache
def labelled_items() -> tuple[Item, ...]:
    """Return the packaged items, each question's right answer before its wrong one."""
    text = files("monitor").joinpath("shipped/judge_items.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    items: list[Item] = []
    for row in rows:
        language, question, reference, *answers = row
        if len(row) != _COLUMNS:
            msg = f"an item has {_COLUMNS} columns: {row}"
            raise ValueError(msg)
        items += [
            Item(
                id=_digest(question, reference, answer),
                language=language,
                question=question,
                reference=reference,
                answer=answer,
                right=right,
            )
            for answer, right in zip(answers, (True, False), strict=True)
        ]
    return tuple(items)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\t".join(texts).encode()).hexdigest()[:16]
