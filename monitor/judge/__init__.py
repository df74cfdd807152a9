"""A second opinion: another target judges golden answers against their references."""

from monitor.judge.asking import BUDGET, CODE, Judge, JudgeTarget
from monitor.judge.items import Item, labelled_items
from monitor.judge.record import FILE, Record, subject_of
from monitor.judge.trust import Agreement, Said, Share, Tally, agreement, kappa, tally

__all__ = [
    "BUDGET",
    "CODE",
    "FILE",
    "Agreement",
    "Item",
    "Judge",
    "JudgeTarget",
    "Record",
    "Said",
    "Share",
    "Tally",
    "agreement",
    "kappa",
    "labelled_items",
    "subject_of",
    "tally",
]
