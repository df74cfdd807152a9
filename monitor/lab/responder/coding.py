"""Answers that are code: short Python functions, made from what they are said to return."""

# ruff: noqa: E501 (a table reads best one row a line)
from __future__ import annotations

import re

from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Draft, known

_FUNCTION = re.compile(
    r"\bfunction\s+(?:called\s+|named\s+)?[`'\"]?(?P<name>[A-Za-z_]\w*)\((?P<given>[\w, ]{0,60})\)[`'\"]?"
    r"[^.\n]{0,20}?\breturns?\s+(?P<what>[^\n]{1,120}?)(?:[.;]?\s*$|[.;]\s)",
    re.MULTILINE,
)
_THING = r"(?:the )?(?:(?:string|text|list|number|argument)s? )?(\w+)"
# What is returned, and how it is written.
_EXPRESSIONS = (
    (rf"the (?:sum|total) of {_THING} and {_THING}", "{0} + {1}"),
    (rf"the product of {_THING} and {_THING}", "{0} * {1}"),
    (rf"the difference (?:of|between) {_THING} and {_THING}", "{0} - {1}"),
    (rf"the quotient of {_THING} and {_THING}", "{0} / {1}"),
    (rf"the remainder of {_THING} divided by {_THING}", "{0} % {1}"),
    (rf"{_THING} (?:plus|added to) {_THING}", "{0} + {1}"),
    (rf"{_THING} minus {_THING}", "{0} - {1}"),
    (rf"{_THING} (?:times|multiplied by) {_THING}", "{0} * {1}"),
    (rf"{_THING} divided by {_THING}", "{0} / {1}"),
    (rf"the (?:larger|greater|maximum) of {_THING} and {_THING}", "max({0}, {1})"),
    (rf"the (?:smaller|lesser|minimum) of {_THING} and {_THING}", "min({0}, {1})"),
    (rf"the square of {_THING}", "{0} * {0}"),
    (rf"the cube of {_THING}", "{0} ** 3"),
    (rf"(?:twice|double) {_THING}", "2 * {0}"),
    (rf"half (?:of )?{_THING}", "{0} / 2"),
    (rf"the (?:length of|number of (?:items|elements|characters) (?:of|in)) {_THING}", "len({0})"),
    (rf"the last (?:element|item|character|letter) of {_THING}", "{0}[-1]"),
    (rf"the first (?:element|item|character|letter) of {_THING}", "{0}[0]"),
    (rf"{_THING} (?:in reverse order|reversed|backwards)", "{0}[::-1]"),
    (rf"{_THING} in (?:upper case|uppercase|capital letters|capitals)", "{0}.upper()"),
    (rf"{_THING} in (?:lower case|lowercase|small letters)", "{0}.lower()"),
    (rf"(?:the )?(?:items of )?{_THING} in (?:ascending order|sorted order)", "sorted({0})"),
    (rf"True if {_THING} is even(?:,? (?:and|or|else|otherwise) False(?: otherwise)?)?", "{0} % 2 == 0"),
    (rf"True if {_THING} is odd(?:,? (?:and|or|else|otherwise) False(?: otherwise)?)?", "{0} % 2 == 1"),
    (rf"the (?:sum|total) of (?:all )?(?:the )?(?:numbers|items|elements) (?:of|in) {_THING}", "sum({0})"),
    (r"the (?:string|word|text) [\"'“]([\w ]+)[\"'”]", '"{0}"'),
    (r"the number (-?\d+)", "{0}"),
)  # fmt: skip


def fill(whole: Ask) -> Draft | None:
    """Return a fenced Python function if a turn asks for one whose result it knows to write."""
    found = _FUNCTION.search(whole.turn_text)
    if not found or not re.search(r"\bpython\b", whole.turn_text, re.IGNORECASE):
        return None
    expression = _expression(found["what"].strip())
    if expression is None:
        return None
    code = f"```python\ndef {found['name']}({found['given']}):\n    return {expression}\n```"
    return Draft(pieces=(known(code, whole.turn.start + found.start()),), plain=False)


def _expression(what: str) -> str | None:
    for pattern, form in _EXPRESSIONS:
        found = re.fullmatch(pattern, what, re.IGNORECASE)
        if found:
            return form.format(*found.groups())
    return None
