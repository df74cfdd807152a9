"""Which languages personal data is known in, and which values can be allowed."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from monitor.config.problems import near_miss, wrong
from monitor.config.secrets import quoted
from monitor.config.values import Text

# What `monitor/scoring/pii/languages.py` knows formats, numbering plans and words of.
PII_LANGUAGES = (
    *("en", "zh", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "fi", "da", "nb", "cs", "ro"),
    *("tr", "ko", "ja", "th", "ru"),
)
# Names and places are known in this language only.
NAMES_LANGUAGE = "en"
_LEAST_ALLOWED = 5


def _language(name: str) -> str:
    if name not in PII_LANGUAGES:
        raise wrong(f"nothing recognises {quoted(name)}", near_miss(name, PII_LANGUAGES))
    return name


def _allowed(value: str) -> str:
    """Refuse what would allow nothing, since values are compared whole."""
    shown = quoted(value)
    if "*" in value:
        raise wrong(f"{shown} is no value", "write each value out; there are no wildcards")
    if sum(map(str.isalnum, value)) < _LEAST_ALLOWED:
        remedy = f"write a whole address or number, {_LEAST_ALLOWED} letters and digits or more"
        raise wrong(f"{shown} is too short for a value", remedy)
    return value


PiiLanguage = Annotated[Text, AfterValidator(_language)]
AllowedValue = Annotated[Text, AfterValidator(_allowed)]
