"""Golden prompts: questions whose right answer is known, judged by key facts to find.

Files become records (`load_suites`), and pure functions say which facts of a record an answer
lacks (`missing_facts`), and which of the forms it was asked for (`broken_forms`). An answer is
never compared with a whole string: two right answers of one model differ in wording even at
temperature 0.
"""

from monitor.prompts.forms import broken_forms
from monitor.prompts.loading import load_suites, shipped_folder
from monitor.prompts.matching import missing_facts
from monitor.prompts.record import (
    AllOf,
    AnyOf,
    DateIs,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    ListHas,
    NoneOf,
    NumberIs,
    PatternFits,
)
from monitor.prompts.text import stands_in

__all__ = [
    "AllOf",
    "AnyOf",
    "DateIs",
    "Expectation",
    "GoldenPrompt",
    "JsonHolds",
    "ListHas",
    "NoneOf",
    "NumberIs",
    "PatternFits",
    "broken_forms",
    "load_suites",
    "missing_facts",
    "shipped_folder",
    "stands_in",
]
