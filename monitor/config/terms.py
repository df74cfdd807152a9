"""Sensitive terms as the configuration may hold them. No error quotes one: they are secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from monitor.config.problems import wrong
from monitor.writing.terms import LEAST_LETTERS, MOST_CHARACTERS, TermIndex, letters


def _term(value: object) -> str:
    if not isinstance(value, str):
        raise wrong("must be text", "put the word or phrase in quotes")
    if not value.strip():
        raise wrong("is blank", "write a word or phrase, or remove the entry")
    if not value.isprintable():
        raise wrong("holds a character that cannot be seen", "write one line of plain text")
    if len(value) > MOST_CHARACTERS:
        problem = f"has {len(value)} characters, more than {MOST_CHARACTERS}"
        raise wrong(problem, "a term is a word or a phrase: keep its rarest words")
    if letters(value) < LEAST_LETTERS:
        problem = f"has fewer than {LEAST_LETTERS} letters or digits"
        raise wrong(problem, "it would be found everywhere: write more of it, or remove it")
    return value


Term = Annotated[
    str,
    BeforeValidator(_term),
    WithJsonSchema({"type": "string", "title": "term", "minLength": 2, "maxLength": 200}),
]


def repeated_terms(terms: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each term that is found where an earlier one is, its number and the earlier's."""
    key = TermIndex(()).key
    first: dict[tuple[str, ...], int] = {}
    pairs = [(number, first.setdefault(key(term), number)) for number, term in enumerate(terms)]
    return [(number, earlier) for number, earlier in pairs if number != earlier]
