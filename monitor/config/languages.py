"""Languages as the configuration names them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from monitor.config.problems import wrong
from monitor.config.secrets import quoted
from monitor.writing.languages import CODES


def _code(value: object) -> str:
    if isinstance(value, str) and value in CODES:
        return value
    problem = f"{quoted(value)} is no language that is known"
    raise wrong(problem, "write ISO 639-1 codes, such as en, de or zh")


LanguageCode = Annotated[
    str,
    BeforeValidator(_code),
    WithJsonSchema({"type": "string", "title": "language", "pattern": "^[a-z]{2}$"}),
]
