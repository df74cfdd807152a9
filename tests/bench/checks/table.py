"""One row of the bench: how often a check is right on one labelled set, and the naive way too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Counts on one labelled set: ``positives`` are faulty inputs, ``negatives`` healthy ones.

    ``naive_name`` is empty where there is no popular default to compare with.
    """

    check: str
    input_set: str
    positives: int
    true_positives: int
    negatives: int
    false_positives: int
    naive_name: str = ""
    naive_true_positives: int = 0
    naive_false_positives: int = 0
