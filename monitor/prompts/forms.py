"""Which forms that a golden prompt asks for its answer lacks: a pure function."""

from __future__ import annotations

from monitor.prompts.lists import list_lengths
from monitor.prompts.record import GoldenPrompt, ListHas
from monitor.prompts.snippets import is_parsed, parses, snippets


def broken_forms(prompt: GoldenPrompt, answer: str) -> dict[str, str]:
    """Return what is wrong with an answer's "code" and "list"; nothing if it is right.

    The words hold counts and positions, never the model's text. Code in a language that is not
    parsed here is not judged.
    """
    faults = {}
    if prompt.structure == "code" and is_parsed(prompt.code_language):
        faults["code"] = _code(answer, prompt.code_language)
    for expected in prompt.expectations:
        if isinstance(expected, ListHas):
            faults["list"] = _list(answer, expected.items)
    return {name: words for name, words in faults.items() if words}


def has_form(prompt: GoldenPrompt) -> bool:
    """Whether a golden prompt asks for a form that is judged here: a list, or code that parses."""
    lists = any(isinstance(expected, ListHas) for expected in prompt.expectations)
    return lists or (prompt.structure == "code" and is_parsed(prompt.code_language))


def _code(answer: str, language: str) -> str:
    found = snippets(answer, language)
    if not found:
        return f"no {language} code found"
    bad = sum(not parses(code, language) for code in found)
    # Unfenced answers have several readings: one that parses is enough.
    if not bad or (language != "python" and bad < len(found)):
        return ""
    sizes = max(map(len, found))
    return f"{bad} of {len(found)} pieces of code do not parse, the longest of {sizes} characters"


def _list(answer: str, items: int) -> str:
    lengths = list_lengths(answer)
    if items in lengths:
        return ""
    return f"a list of {items} items was asked for, the longest found has {max(lengths, default=0)}"
