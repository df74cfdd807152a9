"""Golden prompts: questions whose right answer is known, judged by key facts to find.

Files become records (`load_suites`), and pure functions say which facts of a record an answer
lacks (`missing_facts`), and which of the forms it was asked for (`broken_forms`). An answer is
never compared with a whole string: two right answers of one model differ in wording even at
temperature 0.
"""

from monitor.prompts.fences import Block, blocks
from monitor.prompts.forms import broken_forms, has_form
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
from monitor.prompts.strict_json import NOT_JSON, parse_json

__all__ = [
    "NOT_JSON",
    "AllOf",
    "AnyOf",
    "Block",
    "DateIs",
    "Expectation",
    "GoldenPrompt",
    "JsonHolds",
    "ListHas",
    "NoneOf",
    "NumberIs",
    "PatternFits",
    "blocks",
    "broken_forms",
    "has_form",
    "load_suites",
    "missing_facts",
    "parse_json",
    "shipped_folder",
]
