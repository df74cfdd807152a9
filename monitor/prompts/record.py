"""The records: a golden prompt and its eight kinds of expectation."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Literal

VERSION_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """At least one of the strings occurs in the answer, as whole words where words have spaces."""

    strings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """Every one of the fragments occurs in the answer, in any order."""

    fragments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoneOf:
    """None of the strings occurs in the answer."""

    strings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberIs:
    """A number within the tolerance occurs, followed by one of the units if there are any."""

    value: Decimal
    tolerance: Decimal = Decimal(0)
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DateIs:
    """The day occurs, in a form that has one reading in the prompt's language."""

    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHas:
    """The answer is a list of this many items. This is its structure, not a fact."""

    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonHolds:
    """A JSON object in the answer holds these values; it may hold more keys.

    The values are kept as canonical JSON text, so that the record stays hashable.
    """

    values: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFits:
    """The whole answer, without the reference code it was asked to echo, fits the pattern."""

    regex: str


Expectation = AnyOf | AllOf | NoneOf | NumberIs | DateIs | ListHas | JsonHolds | PatternFits
Structure = Literal["text", "json", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenPrompt:
    """One question, and what its answer must show. All expectations must hold.

    `max_output_tokens` is room for the answer alone: whoever asks for a reference code
    too adds the room that its echo takes. `references` are right answers in other words; TOPIC
    needs at least three. `code_language` is the language of an answer that is code.
    """

    suite: str
    id: str
    language: str
    prompt: str
    expectations: tuple[Expectation, ...]
    max_output_tokens: int
    structure: Structure = "text"
    tags: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    code_language: str = ""

    @property
    def name(self) -> str:
        """The name used in configuration, verdicts and reports: `facts/capital-france`."""
        return f"{self.suite}/{self.id}"

    @property
    def version(self) -> str:
        """A digest of all that is asked, expected and compared with; tags do not count.

        Answers under different versions are answers to different questions: baselines
        and calibrations are kept by name *and* version.
        """
        return _version_of(self)


# Every plan asks every prompt for it. Of more prompts it would only be worked out again.
@lru_cache(maxsize=1_024)
def _version_of(prompt: GoldenPrompt) -> str:
    content: dict[str, object] = {
        "suite": prompt.suite,
        "id": prompt.id,
        "language": prompt.language,
        "prompt": prompt.prompt,
        "structure": prompt.structure,
        "max_output_tokens": prompt.max_output_tokens,
        "expect": [[type(one).__name__, asdict(one)] for one in prompt.expectations],
    }
    # Left out where empty, so that what was recorded before they existed stays comparable.
    if prompt.references:
        content["references"] = prompt.references
    if prompt.code_language:
        content["code_language"] = prompt.code_language
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=_plain)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:VERSION_DIGITS]


def _plain(value: object) -> str:
    """Write 42 and 42.0 alike: they expect the same answer."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    raise TypeError(type(value).__name__)
