"""Golden prompts: questions whose right answer is known, judged by key facts to find.

Files become records (`load_suites`), and a pure matcher says which expectations of a
record an answer leaves unmet (`missing_facts`). An answer is never compared with a
whole string: two right answers of one model differ in wording even at temperature 0.
"""

from monitor.prompts.loading import load_suites, shipped_folder
from monitor.prompts.matching import missing_facts
from monitor.prompts.record import (
    AnyOf,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    NoneOf,
    NumberIs,
    PatternFits,
)
from monitor.prompts.text import stands_in

__all__ = [
    "AnyOf",
    "Expectation",
    "GoldenPrompt",
    "JsonHolds",
    "NoneOf",
    "NumberIs",
    "PatternFits",
    "load_suites",
    "missing_facts",
    "shipped_folder",
    "stands_in",
]
